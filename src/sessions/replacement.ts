import type { Clock } from '../lib/time.ts'
import type { Database, Transaction } from '../storage/database.ts'
import type { CachedSession, CachedSessions } from './cached-session.ts'
import { currentTimeMs, isUsable, type Lifetimes } from './lifetime.ts'
import type { RefreshClaim, RefreshTokens } from './refresh-token.ts'
import { deleteReplacedSessions, findReplacedSession, replaceSession } from './replaced-store.ts'

interface ReplacementDeps {
  db: Database
  clock: Clock
  lifetimes: Lifetimes
  refreshTokens: RefreshTokens
  known: CachedSessions
}

/**
 * Remembers for the grace which session took the place of another in the same browser: a request that was under way with
 * the old cookies must not take the new ones away (docs/decisions/021-replaced-sessions.md).
 */
export const createReplacement = ({ db, clock, lifetimes, refreshTokens, known }: ReplacementDeps) => ({
  /** Within the transaction that has begun `successorId`: ends the sessions that it takes the place of. */
  async replaceIn(transaction: Transaction, ids: string[], successorId: string, nowMs: number): Promise<void> {
    for (const id of ids) {
      await replaceSession(transaction, { id, successorId, nowMs })
      transaction.afterCommit(() => known.forget(id))
    }
  },

  /** The live session that took the place, within the grace, of the one that a genuine refresh token belonged to. */
  async findSuccessor(claim: RefreshClaim): Promise<CachedSession | undefined> {
    const replaced = await findReplacedSession(db, claim.sessionId)
    if (!replaced || !refreshTokens.isGenuine(replaced, claim)) return undefined
    if (currentTimeMs(replaced, clock) >= replaced.replacedAtMs + lifetimes.graceMs) return undefined
    const successor = await known.get(replaced.successorId)
    return successor && isUsable(successor.session, clock) ? successor : undefined
  },

  /** Forgets replacements that are past the grace. Resolves to how many. */
  deleteReplaced: (): Promise<number> => deleteReplacedSessions(db, { graceMs: lifetimes.graceMs, nowMs: clock.now() }),
})

export type Replacement = ReturnType<typeof createReplacement>
