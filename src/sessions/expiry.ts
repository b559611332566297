import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../lib/time.ts'
import type { Database } from '../storage/database.ts'
import { deleteSessionsEndedBy, findSessionEnds } from './session-store.ts'

const WINDOW = 500

interface Parts {
  db: Database
  clock: Clock
  /** No session runs out sooner than this after its start. */
  shortestMs: number
}

/** The least UUID of version 7 that could have been made at this time (RFC 9562 section 5.7). */
const leastIdAt = (timeMs: number): string => {
  const hex = Math.max(0, timeMs).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

/**
 * Deletes sessions that have run out, which are refused long before: in order of id, which is the order of their start,
 * and only up to those that are old enough, a small window at a time. Resolves to how many were deleted.
 */
export const deleteExpiredSessions = async ({ db, clock, shortestMs }: Parts): Promise<number> => {
  const before = leastIdAt(clock.now() - shortestMs)
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
