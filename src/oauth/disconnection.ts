import type { SessionRules } from '../sessions/sign-in-grant.ts'
import type { Database, Queries } from '../storage/database.ts'
import { findUserById, lockUserToChange } from '../users/user-store.ts'
import { deleteIdentitiesOfUser, deleteIdentity, findIdentitiesOfUser, type Identity } from './identity-store.ts'

interface DisconnectionDeps extends Pick<SessionRules, 'endSessions'> {
  db: Database
  /** Names of the providers that are configured now. */
  providerNames: readonly string[]
}

/** What an operator has disconnected from an account. */
export interface Disconnection {
  disconnected: Identity[]
  endedSessions: number
  /** Whether the user can still sign in, with a password or a configured provider. */
  canSignIn: boolean
}

/**
 * Disconnects every provider of a user whose row the transaction has locked; resolves to the names of the providers.
 */
export const disconnectAll = async (transaction: Queries, userId: string): Promise<string[]> => {
  const linked = await findIdentitiesOfUser(transaction, userId)
  await deleteIdentitiesOfUser(transaction, userId)
  return linked.map(({ provider }) => provider)
}

/** Disconnects providers for an operator, who may also remove the last way to sign in. */
export const createDisconnection = ({ db, providerNames, endSessions }: DisconnectionDeps) => ({
  disconnect: (userId: string, provider?: string): Promise<Disconnection> =>
    db.inTransaction(async (transaction) => {
      await lockUserToChange(transaction, userId)
      const linked = await findIdentitiesOfUser(transaction, userId)
      const disconnected = linked.filter((identity) => provider === undefined || identity.provider === provider)
      for (const { id } of disconnected) await deleteIdentity(transaction, id, userId)
      const hasPassword = (await findUserById(transaction, userId))?.passwordHash != null
      const left = linked.filter((identity) => !disconnected.includes(identity))
      return {
        disconnected,
        endedSessions: disconnected.length > 0 ? await endSessions(transaction, userId) : 0,
        canSignIn: hasPassword || left.some((identity) => providerNames.includes(identity.provider)),
      }
    }),
})
