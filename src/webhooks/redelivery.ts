import type { Clock } from '../lib/time.ts'
import type { Database, Transaction } from '../storage/database.ts'
import { forgetEarlyAttempts } from './attempt-store.ts'
import { findFailedEvents, reopenEvent } from './event-history-store.ts'
import type { OutboxEvent } from './outbox-event.ts'

/** Events per transaction, so that other users of the database do not wait for all of them. */
const BATCH = 100

/** Marks one event for redelivery with the same id. The history of its attempts is kept. */
export const reopen = async (transaction: Transaction, event: OutboxEvent, nowMs: number): Promise<void> => {
  await forgetEarlyAttempts(transaction, event)
  await reopenEvent(transaction, event.id, nowMs)
}

interface RedeliveryDeps {
  db: Database
  clock: Clock
}

/**
 * Marks all events for redelivery that were given up since a time, the oldest first. Yields the ids of each batch once
 * it is on disk. An event that fails again in the meantime is not marked twice.
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
