import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../lib/time.ts'
import { leastUuidAt } from '../lib/uuid.ts'
import type { Database } from '../storage/database.ts'
import { currentTimeMs } from './lifetime.ts'
import { deleteSessionsEndedBy, findSessionEnds } from './session-store.ts'

const WINDOW = 500

interface ExpiryDeps {
  db: Database
  clock: Clock
  /** No session runs out sooner than this after its start. */
  shortestMs: number
}

/**
 * Deletes sessions that have run out, which are refused long before: in order of id, which is the order of their start,
 * and only up to those that are old enough, a small window at a time. Resolves to how many were deleted.
 */
export const deleteExpiredSessions = async ({ db, clock, shortestMs }: ExpiryDeps): Promise<number> => {
  const before = leastUuidAt(clock.now() - shortestMs)
  let after = ''
  let deleted = 0
  for (;;) {
    const window = await findSessionEnds(db, { after, before, limit: WINDOW })
    const last = window.at(-1)
    // By the clock that they are refused by: that of this machine may be ahead.
    const nowMs = currentTimeMs({ readAtMs: last?.read_at ?? undefined }, clock)
    const expired = window.filter((session) => session.expires_at <= nowMs)
    if (last && expired.length > 0) deleted += await deleteSessionsEndedBy(db, { after, upTo: last.id, nowMs })
    if (!last || window.length < WINDOW) return deleted
    after = last.id
    await setImmediate()
  }
}
