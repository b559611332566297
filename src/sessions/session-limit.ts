import type { Log } from '../lib/log.ts'
import type { Transaction } from '../storage/database.ts'
import type { CachedSessions } from './cached-session.ts'
import { deleteLongestUnseen } from './session-store.ts'

/** More than any person has devices; a program that logs in for each of its requests gets no further. */
const MAX_SESSIONS_OF_USER = 100

interface SessionLimitDeps {
  log: Log
  known: CachedSessions
}

interface BegunSession {
  id: string
  userId: string
  nowMs: number
}

/**
 * Within the transaction that has begun a session, and holds its user: ends those of the user's sessions that were longest
 * unseen, where there are more than 100 that have not run out.
 */
export const createSessionLimit =
  ({ log, known }: SessionLimitDeps) =>
  async (transaction: Transaction, { id, userId, nowMs }: BegunSession): Promise<void> => {
    const ended = await deleteLongestUnseen(transaction, { userId, newId: id, nowMs, most: MAX_SESSIONS_OF_USER })
    if (ended.length === 0) return
    transaction.afterCommit(() => {
      for (const endedId of ended) known.forget(endedId)
      log.info(
        { user_id: userId, session_ids: ended.slice(0, MAX_SESSIONS_OF_USER), sessions: ended.length },
        'session limit reached: longest unseen sessions ended',
      )
    })
  }
