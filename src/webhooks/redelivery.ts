import type { Clock } from '../lib/time.ts'
import type { Database, Transaction } from '../storage/database.ts'
import { forgetEarlyAttempts } from './attempt-store.ts'
import { findFailedEvents, type OutboxEvent, reopenEvent } from './outbox-store.ts'

/** So many at once: who shares the database must not wait for all of them. */
const BATCH = 100

/** Lets one event be sent once more under its old id. What its attempts came to is kept. */
export const reopen = async (transaction: Transaction, event: OutboxEvent, nowMs: number): Promise<void> => {
  await forgetEarlyAttempts(transaction, event)
  await reopenEvent(transaction, event.id, nowMs)
}

interface RedeliveryDeps {
  db: Database
  clock: Clock
}

/**
 * Lets every event be sent once more that was given up since a time, the oldest first. Yields the ids, batch by batch,
 * each when its batch is on disk. An event that fails again meanwhile is not taken twice.
 */
export async function* reopenFailed({ db, clock }: RedeliveryDeps, sinceMs: number): AsyncGenerator<string[]> {
  const untilMs = clock.now()
  let afterId = ''
  for (;;) {
    const ids = await db.inTransaction(async (transaction) => {
      const events = await findFailedEvents(transaction, { sinceMs, untilMs, afterId, limit: BATCH })
      for (const event of events) await reopen(transaction, event, clock.now())
      return events.map(({ id }) => id)
    })
    if (ids.length > 0) yield ids
    if (ids.length < BATCH) return
    afterId = ids.at(-1) ?? afterId
  }
}
