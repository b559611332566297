import type { SessionRules } from '../sessions/sign-in-grant.ts'
import type { Database, Queries } from '../storage/database.ts'
import { findUserById, lockUserToChange } from '../users/user-store.ts'
import { deleteIdentitiesOfUser, deleteIdentity, findIdentitiesOfUser, type Identity } from './identity-store.ts'

interface DisconnectionDeps extends Pick<SessionRules, 'endSessions'> {
  db: Database
  /** Names of the providers that can be used now. */
  providerNames: readonly string[]
}

/** What the operator has disconnected from an account. */
export interface Disconnection {
  disconnected: Identity[]
  endedSessions: number
  /** Whether a password or a configured provider is left by which the user can sign in. */
  canSignIn: boolean
}

/** Disconnects every provider of a user who is held by the transaction; resolves to the names of the providers. */
export const disconnectAllIn = async (transaction: Queries, userId: string): Promise<string[]> => {
  const linked = await findIdentitiesOfUser(transaction, userId)
  await deleteIdentitiesOfUser(transaction, userId)
  return linked.map(({ provider }) => provider)
}

/** Disconnects providers for the operator, who may take away the last way to sign in, too. */
export const createDisconnection = ({ db, providerNames, endSessions }: DisconnectionDeps) => ({
  /**
   * Disconnects one provider of a user, or all of them when none is named. Every session ends, unless nothing was
   * connected: then nothing changes.
   */
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
