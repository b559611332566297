import type { Transaction } from '../storage/database.ts'
import type { GrantsEnd } from './client-grants.ts'
import type { SessionDeps } from './session-deps.ts'
import { type DeletedSession, deleteSessions, type WhichSessions } from './session-store.ts'

interface Why extends GrantsEnd {
  /** What hangs on the only session goes over to this one. */
  successorId?: string | undefined
  /** All sessions end, these among them. */
  isOfAll?: boolean
}

/**
 * Ends sessions in a transaction: THE one place where their rows are deleted. What hangs on them ends too, the verifiers
 * of tokens are told, and the cache forgets them at the instant of the commit. It resolves to those that were there.
 */
export type RemoveSessions = (transaction: Transaction, which: WhichSessions, why: Why) => Promise<DeletedSession[]>

type RemovalDeps = Pick<SessionDeps, 'cachedSessions' | 'clientGrants' | 'revocations'>

export const createRemoveSessions =
  ({ cachedSessions, clientGrants, revocations }: RemovalDeps): RemoveSessions =>
  async (transaction, which, { reason, caller, successorId, isOfAll }) => {
    // The grants come after: what makes one holds its session, and may have kept the deletion waiting.
    const ended = await deleteSessions(transaction, which)
    const [first] = ended
    if (!first) return ended
    const ids = ended.map(({ id }) => id)
    if (first.grants === null) {
      // No client has any. If one has got its first at this moment, the database refuses the commit, and it is repeated.
    } else if (successorId === undefined) await clientGrants.endHanging(transaction, ids, { reason, caller })
    else for (const id of ids) await clientGrants.moveGrants(transaction, id, successorId)
    // Each part of all has an entry of its own: who has looked at a token after the one before looks at it again.
    if (isOfAll) await revocations.allSessionsEnded(transaction)
    else await revocations.sessionsEnded(transaction, ended, reason, reason === REPLACED ? successorId : undefined)
    transaction.afterCommit(() => {
      for (const id of ids) cachedSessions.forget(id)
    })
    return ended
  }

/** A later session of the same user and browser goes on in place of this one. */
export const REPLACED = 'replaced'
