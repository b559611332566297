import type { Transaction } from '../storage/database.ts'
import type { CachedSession } from './session.ts'
import { currentTimeMs, isUsable } from './lifetime.ts'
import type { SessionDeps } from './session-deps.ts'
import { deleteReplacedSessions, findReplacedSession, replaceSession } from './replaced-store.ts'
import type { UnverifiedRefreshToken } from './tokens/refresh-token.ts'

type ReplacementDeps = Pick<SessionDeps, 'cachedSessions' | 'clock' | 'db' | 'lifetimes' | 'refreshTokens'>

export interface Replacement {
  /**
   * Ends a session that `successorId` replaces, if it is still there, in the transaction that has inserted
   * `successorId`.
   */
  replaceSession(transaction: Transaction, id: string, successorId: string, nowMs: number): Promise<boolean>
  /** Finds the live session that has replaced, within the grace, the one that a genuine refresh token belonged to. */
  findSuccessor(token: UnverifiedRefreshToken): Promise<CachedSession | undefined>
  deleteReplaced(nowMs: number): Promise<number>
}

/**
 * Remembers for the grace which session replaced another in the same browser: a request that was under way with the old
 * cookies must not take the new ones away (docs/decisions/021-replaced-sessions.md).
 */
export const createReplacement = (deps: ReplacementDeps): Replacement => {
  const { db, clock, lifetimes, refreshTokens, cachedSessions } = deps
  return {
    replaceSession(transaction, id, successorId, nowMs) {
      transaction.afterCommit(() => cachedSessions.forget(id))
      return replaceSession(transaction, { id, successorId, nowMs })
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
