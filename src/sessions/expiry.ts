import { setImmediate } from 'node:timers/promises'
import { leastUuidAt } from '../lib/uuid.ts'
import type { Database } from '../storage/database.ts'
import { deleteSessionsEndedBy, findSessionEnds } from './all-sessions-store.ts'

const BATCH = 500

interface ExpiryDeps {
  db: Database
  nowMs: number
  /** No session expires sooner than this after its start. */
  shortestLifetimeMs: number
}

/**
 * Deletes expired sessions, in small batches and in order of id. That is the order of their start, so that it can stop
 * at the first session that is too young to have expired. It resolves to how many were deleted.
 */
export const deleteExpiredSessions = async ({ db, nowMs, shortestLifetimeMs }: ExpiryDeps): Promise<number> => {
  const before = leastUuidAt(nowMs - shortestLifetimeMs)
  let after = ''
  let deleted = 0
  for (;;) {
    const batch = await findSessionEnds(db, { after, before, limit: BATCH })
    const last = batch.at(-1)
    const expired = batch.filter((session) => session.expires_at <= nowMs)
    if (last && expired.length > 0) deleted += await deleteSessionsEndedBy(db, { after, upTo: last.id, nowMs })
    if (!last || batch.length < BATCH) return deleted
    after = last.id
    await setImmediate()
  }
}
