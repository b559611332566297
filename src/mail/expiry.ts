import type { Database } from '../storage/database.ts'
import { deleteMessagesClosedBefore, dropExpiredMessages, forgetMessagesClosedBefore } from './outbox-history-store.ts'

const DAY_MS = 24 * 3_600_000
/** For how long it is known to whom a message was sent, and what it said. */
const FORGET_AFTER_MS = 7 * DAY_MS
/** For how long it is known that there was a message. */
const DELETE_AFTER_MS = 30 * DAY_MS

const BATCH = 500

const inBatches = async (run: (limit: number) => Promise<number>): Promise<number> => {
  let rows = 0
  for (;;) {
    const batch = await run(BATCH)
    rows += batch
    if (batch < BATCH) return rows
  }
}

/** Drops what nobody has sent in time, forgets recipients and contents, deletes old rows; resolves to how many. */
export const deleteExpired = async (db: Database, nowMs: number): Promise<number> => {
  await inBatches((limit) => dropExpiredMessages(db, nowMs, limit))
  await inBatches((limit) => forgetMessagesClosedBefore(db, nowMs - FORGET_AFTER_MS, limit))
  return inBatches((limit) => deleteMessagesClosedBefore(db, nowMs - DELETE_AFTER_MS, limit))
}
