import type { Log } from '../lib/log.ts'
import { monotonicClock } from '../lib/time.ts'
import type { Queries } from '../storage/database.ts'
import { countOpenMessages } from './outbox-history-store.ts'

/** Requests that are refused while so many messages wait. Messages about what has happened are always written. */
const MAX_OPEN = 10_000
const COUNT_EVERY_MS = 1000

/**
 * Whether too many messages wait for another request, counted once a second at most. The limits for one network know
 * nothing of other networks: an attacker with many of them could fill the disk with requests.
 */
export const createRequestBound = (log: Log): ((db: Queries) => Promise<boolean>) => {
  let countedAtMs = Number.NEGATIVE_INFINITY
  let isFull = false
  return async (db) => {
    const nowMs = monotonicClock.elapsedMs()
    if (nowMs - countedAtMs < COUNT_EVERY_MS) return isFull
    countedAtMs = nowMs
    isFull = (await countOpenMessages(db, MAX_OPEN)) >= MAX_OPEN
    if (isFull) log.warn({ open: MAX_OPEN }, 'mail outbox is full: requests for messages are dropped')
    return isFull
  }
}
