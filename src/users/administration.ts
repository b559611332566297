import type { SessionRules } from '../sessions/sign-in-grant.ts'
import type { Database, Transaction } from '../storage/database.ts'
import type { RequireGoodPassword } from './password-rules.ts'
import type { Passwords } from './passwords.ts'
import { requireRoles } from './roles.ts'
import { requireUserById, updateDisabled, updatePasswordHash, updateRoles } from './user-store.ts'

interface AdministrationDeps extends Pick<SessionRules, 'endSessions' | 'userChanged'> {
  db: Database
  passwords: Passwords
  requireGoodPassword: RequireGoodPassword
  /** In the transaction of the change: disconnects all providers of a user; resolves to their names. */
  disconnectProviders: (transaction: Transaction, userId: string) => Promise<string[]>
}

/** What an operator changes of an account. */
export const createAdministration = (deps: AdministrationDeps) => {
  const { db, passwords, endSessions, userChanged, disconnectProviders, requireGoodPassword } = deps
  return {
    async setPassword(
      id: string,
      entered: string,
      { keepProviders = false }: { keepProviders?: boolean | undefined } = {},
    ): Promise<string[]> {
      const user = await requireUserById(db, id)
      const hash = await passwords.hash(requireGoodPassword(entered, [user.email, user.username]))
      return db.inTransaction(async (transaction) => {
        // First: it locks the user, so that no provider is connected at the same moment.
        await updatePasswordHash(transaction, id, hash)
        // An attacker who has connected a provider could sign in again by it.
        const disconnected = keepProviders ? [] : await disconnectProviders(transaction, id)
        await endSessions(transaction, id)
        return disconnected
      })
    },

    async setRoles(id: string, roles: string[]): Promise<void> {
      const checked = requireRoles(roles)
      await db.inTransaction(async (transaction) => {
        await updateRoles(transaction, id, checked)
        await userChanged(transaction, id)
      })
    },

    async setDisabled(id: string, disabled: boolean): Promise<void> {
      await db.inTransaction(async (transaction) => {
        await updateDisabled(transaction, id, disabled)
        if (disabled) await endSessions(transaction, id)
        await userChanged(transaction, id)
      })
    },
  }
}
