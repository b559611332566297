import type { Transaction } from '../storage/database.ts'
import type { CachedSession } from './session.ts'
import { currentTimeMs, isUsable } from './lifetime.ts'
import type { SessionDeps } from './session-deps.ts'
import { type RemoveSessions, REPLACED } from './removal.ts'
import { deleteReplacedSessions, findReplacedSession, insertReplaced, updateSuccessor } from './replaced-store.ts'
import type { UnverifiedRefreshToken } from './tokens/refresh-token.ts'

interface ReplacementDeps extends Pick<SessionDeps, 'cachedSessions' | 'clock' | 'db' | 'lifetimes' | 'refreshTokens'> {
  removeSessions: RemoveSessions
}

export interface Replacement {
  /**
   * Ends a session that another one replaces, if it is still there, in the transaction that has inserted the other one.
   * What hangs on it goes over to a session of the same user, and ends with it otherwise.
   */
  replaceSession(transaction: Transaction, id: string, by: Successor, nowMs: number): Promise<boolean>
  /** Finds the live session that has replaced, within the grace, the one that a genuine refresh token belonged to. */
  findSuccessor(token: UnverifiedRefreshToken): Promise<CachedSession | undefined>
  deleteReplaced(nowMs: number): Promise<number>
}

interface Successor {
  id: string
  isOfSameUser: boolean
  /** The browser has come with a refresh token that a thief may have used. */
  isReused: boolean
}

/**
 * Remembers for the grace which session replaced another in the same browser: a request that was under way with the old
 * cookies must not take the new ones away (docs/decisions/021-replaced-sessions.md).
 */
export const createReplacement = (deps: ReplacementDeps): Replacement => {
  const { db, clock, lifetimes, refreshTokens, cachedSessions, removeSessions } = deps
  return {
    async replaceSession(transaction, id, { id: successorId, isOfSameUser, isReused }, nowMs) {
      await updateSuccessor(transaction, id, successorId)
      const reason = isOfSameUser ? REPLACED : 'session_replaced'
      const [ended] = await removeSessions(
        transaction,
        { ids: [id] },
        // A connection of the thief must not go on with the new session.
        { reason: isReused ? 'session.refreshed_reuse' : reason, successorId: isOfSameUser ? successorId : undefined },
      )
      if (ended) await insertReplaced(transaction, { id, salt: ended.salt, successorId, nowMs })
      return ended !== undefined
    },

    async findSuccessor(token) {
      const replaced = await findReplacedSession(db, token.sessionId)
      if (!replaced || !refreshTokens.isGenuine(replaced, token)) return undefined
      if (currentTimeMs(replaced, clock) >= replaced.replacedAtMs + lifetimes.graceMs) return undefined
      const successor = await cachedSessions.get(replaced.successorId)
      return successor && isUsable(successor.session, clock) ? successor : undefined
    },

    deleteReplaced: (nowMs) => deleteReplacedSessions(db, { graceMs: lifetimes.graceMs, nowMs }),
  }
}
