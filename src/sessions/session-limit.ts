import type { Log } from '../lib/log.ts'
import type { Transaction } from '../storage/database.ts'
import type { CachedSessions } from './cached-sessions.ts'
import { deleteSessionsAboveLimit } from './user-sessions-store.ts'

/** More than anyone has devices. A program that logs in before each of its requests gets no further. */
const MAX_SESSIONS_OF_USER = 100

interface SessionLimitDeps {
  log: Log
  cachedSessions: CachedSessions
}

interface StartedSession {
  id: string
  userId: string
  nowMs: number
}

/**
 * In the transaction that has inserted a session and locked its user: where the user has more than 100 live sessions,
 * ends those that were not seen for longest.
 */
export const createSessionLimit =
  ({ log, cachedSessions }: SessionLimitDeps) =>
  async (transaction: Transaction, { id, userId, nowMs }: StartedSession): Promise<void> => {
    const ended = await deleteSessionsAboveLimit(transaction, { userId, newId: id, nowMs, limit: MAX_SESSIONS_OF_USER })
    if (ended.length === 0) return
    transaction.afterCommit(() => {
      for (const endedId of ended) cachedSessions.forget(endedId)
      log.info(
        { user_id: userId, session_ids: ended.slice(0, MAX_SESSIONS_OF_USER), sessions: ended.length },
        'session limit reached: longest unseen sessions ended',
      )
    })
  }
