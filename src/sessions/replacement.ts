import type { Transaction } from '../storage/database.ts'
import type { CachedSession } from './session.ts'
import { currentTimeMs, isUsable } from './lifetime.ts'
import type { SessionDeps } from './session-deps.ts'
import { deleteReplacedSessions, findReplacedSession, replaceSession } from './replaced-store.ts'
import type { UnverifiedRefreshToken } from './tokens/refresh-token.ts'

type ReplacementDeps = Pick<
  SessionDeps,
  'cachedSessions' | 'clientGrants' | 'clock' | 'db' | 'lifetimes' | 'refreshTokens'
>

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
}

/**
 * Remembers for the grace which session replaced another in the same browser: a request that was under way with the old
 * cookies must not take the new ones away (docs/decisions/021-replaced-sessions.md).
 */
export const createReplacement = (deps: ReplacementDeps): Replacement => {
  const { db, clock, lifetimes, refreshTokens, cachedSessions, clientGrants } = deps
  return {
    async replaceSession(transaction, id, { id: successorId, isOfSameUser }, nowMs) {
      transaction.afterCommit(() => cachedSessions.forget(id))
      if (isOfSameUser) await clientGrants.moveGrants(transaction, id, successorId)
      else await clientGrants.endGrants(transaction, { sessionId: id }, 'session_replaced')
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
