import type { RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import type { Log } from '../lib/log.ts'
import type { Transaction } from '../storage/database.ts'
import type { CachedSessions } from './cached-sessions.ts'
import { deleteSessionsAboveLimit } from './user-sessions-store.ts'

/** More than anyone has devices. A program that logs in before each of its requests gets no further. */
const MAX_SESSIONS_OF_USER = 100

interface SessionLimitDeps {
  log: Log
  cachedSessions: CachedSessions
  recordEvent: RecordEvent
}

interface StartedSession {
  id: string
  userId: string
  nowMs: number
  caller: Caller
}

/**
 * In the transaction that has inserted a session and locked its user: where the user has more than 100 live sessions,
 * ends those that were not seen for longest.
 */
export const createSessionLimit =
  ({ log, cachedSessions, recordEvent }: SessionLimitDeps) =>
  async (transaction: Transaction, { id, userId, nowMs, caller }: StartedSession): Promise<void> => {
    const ended = await deleteSessionsAboveLimit(transaction, { userId, newId: id, nowMs, limit: MAX_SESSIONS_OF_USER })
    if (ended.length === 0) return
    const details = { count: ended.length, reason: 'session_limit' }
    await recordEvent(transaction, { type: 'session.ended', userId, sessionId: id, details }, caller)
    transaction.afterCommit(() => {
      for (const endedId of ended) cachedSessions.forget(endedId)
      log.info(
        { user_id: userId, session_ids: ended.slice(0, MAX_SESSIONS_OF_USER), sessions: ended.length },
        'session limit reached: longest unseen sessions ended',
      )
    })
  }
