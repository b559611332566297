import { setImmediate } from 'node:timers/promises'
import { MAX_CLOCK_SKEW_MS } from '../lib/time.ts'
import { leastUuidAt } from '../lib/uuid.ts'
import type { Database } from '../storage/database.ts'
import {
  type DeletedUser,
  deleteOldEvents,
  endErasure,
  eraseEvents,
  findDeletedUsers,
  findNextToErase,
} from './deletion-store.ts'

/** Small enough that other requests do not wait long for the database. */
const BATCH = 200

/**
 * The last erasure comes this long after a deletion: by then, all records that were under way have been written, by
 * whatever clock. A user who is imported with the same id later keeps their records.
 */
const LATEST_WRITE_MS = 2 * MAX_CLOCK_SKEW_MS

interface AuditCleanupDeps {
  db: Database
  retentionMs: number
}

export const createAuditCleanup = ({ db, retentionMs }: AuditCleanupDeps) => {
  const eraseUser = async ({ userId, deletedAtMs }: DeletedUser): Promise<number> => {
    let before: string | undefined = leastUuidAt(deletedAtMs + LATEST_WRITE_MS)
    let erased = 0
    while (before !== undefined) {
      const batch = { userId, before, limit: BATCH }
      erased += await eraseEvents(db, batch)
      before = await findNextToErase(db, batch)
      await setImmediate()
    }
    return erased
  }

  return {
    async deleteOld(nowMs: number): Promise<number> {
      const before = leastUuidAt(nowMs - retentionMs)
      let deleted = 0
      for (;;) {
        const batch = await deleteOldEvents(db, before, BATCH)
        deleted += batch
        if (batch < BATCH) return deleted
        await setImmediate()
      }
    },

    async eraseDeleted(nowMs: number): Promise<number> {
      let erased = 0
      for (;;) {
        const users = await findDeletedUsers(db, nowMs - LATEST_WRITE_MS, BATCH)
        for (const user of users) {
          erased += await eraseUser(user)
          await endErasure(db, user.id)
        }
        if (users.length < BATCH) return erased
      }
    },
  }
}
