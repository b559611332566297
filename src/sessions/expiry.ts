import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../lib/time.ts'
import { leastUuidAt } from '../lib/uuid.ts'
import type { Database } from '../storage/database.ts'
import { deleteSessionsEndedBy, findSessionEnds } from './all-sessions-store.ts'
import { currentTimeMs } from './lifetime.ts'

const BATCH = 500

interface ExpiryDeps {
  db: Database
  clock: Clock
  /** No session expires sooner than this after its start. */
  shortestLifetimeMs: number
}

/**
 * Deletes expired sessions, in small batches and in order of id. That is the order of their start, so that it can stop
 * at the first session that is too young to have expired. Resolves to how many were deleted.
 */
export const deleteExpiredSessions = async ({ db, clock, shortestLifetimeMs }: ExpiryDeps): Promise<number> => {
  const before = leastUuidAt(clock.now() - shortestLifetimeMs)
  let after = ''
  let deleted = 0
  for (;;) {
    const batch = await findSessionEnds(db, { after, before, limit: BATCH })
    const last = batch.at(-1)
    // By the clock that requests are judged by: the clock of this machine may be ahead.
    const nowMs = currentTimeMs({ readAtMs: last?.read_at ?? undefined }, clock)
    const expired = batch.filter((session) => session.expires_at <= nowMs)
    if (last && expired.length > 0) deleted += await deleteSessionsEndedBy(db, { after, upTo: last.id, nowMs })
    if (!last || batch.length < BATCH) return deleted
    after = last.id
    await setImmediate()
  }
}
