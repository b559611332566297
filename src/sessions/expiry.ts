import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../lib/time.ts'
import { leastUuidAt } from '../lib/uuid.ts'
import type { Database } from '../storage/database.ts'
import { deleteSessionsEndedBy, findSessionEnds } from './session-store.ts'

const WINDOW = 500

interface Parts {
  db: Database
  clock: Clock
  /** No session runs out sooner than this after its start. */
  shortestMs: number
}

/**
 * Deletes sessions that have run out, which are refused long before: in order of id, which is the order of their start,
 * and only up to those that are old enough, a small window at a time. Resolves to how many were deleted.
 */
export const deleteExpiredSessions = async ({ db, clock, shortestMs }: Parts): Promise<number> => {
  const before = leastUuidAt(clock.now() - shortestMs)
  let after = ''
  let deleted = 0
  for (;;) {
    const nowMs = clock.now()
    const window = await findSessionEnds(db, { after, before, limit: WINDOW })
    const expired = window.filter((session) => session.expires_at <= nowMs)
    const last = window.at(-1)
    if (last && expired.length > 0) deleted += await deleteSessionsEndedBy(db, { after, upTo: last.id, nowMs })
    if (!last || window.length < WINDOW) return deleted
    after = last.id
    await setImmediate()
  }
}
