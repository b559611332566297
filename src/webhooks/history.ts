import { randomUUIDv7 } from 'node:crypto'
import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { Database, Transaction } from '../storage/database.ts'
import { createBody } from './announcements.ts'
import { type DeliveryAttempt, findAttempts, findLatestAttempts, forgetEarlyAttempts } from './attempt-store.ts'
import { type DeliveryResult, deliver } from './signed-request.ts'
import { eventOutbox, findFailedEvents, type OutboxEvent, reopenEvent } from './outbox-store.ts'
import type { WebhookSettings } from './event-types.ts'

/** Events per transaction, so that other users of the database do not wait for all of them. */
const BATCH = 100

/** Makes one event due again, with the same id. The history of its attempts is kept. */
const reopen = async (transaction: Transaction, event: OutboxEvent, nowMs: number): Promise<void> => {
  await forgetEarlyAttempts(transaction, event)
  await reopenEvent(transaction, event.id, nowMs)
}

/**
 * Makes all events due again that were given up since a time, the oldest first. Yields the ids of each batch once it is
 * on disk. An event that fails again in the meantime is not taken twice.
 */
export async function* reopenFailed(
  { db, clock }: { db: Database; clock: Clock },
  sinceMs: number,
): AsyncGenerator<string[]> {
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

interface HistoryDeps {
  db: Database
  clock: Clock
  settings: WebhookSettings | undefined
  /** Called after the commit of an event that is sent again. */
  wake: () => void
}

/** Gives operators past events and their attempts, redelivery, and a test. */
export const createHistory = ({ db, clock, settings, wake }: HistoryDeps) => {
  const requireSettings = (): WebhookSettings => {
    if (settings) return settings
    throw new AppError('invalid_request', 'Webhooks are off: set SVC_WEBHOOK_URL and SVC_WEBHOOK_SECRET.')
  }

  const requireEvent = async (id: string): Promise<OutboxEvent> => {
    const event = await eventOutbox.find(db, id)
    if (!event) throw new AppError('not_found', `There is no webhook event ${id}.`)
    return event
  }

  return {
    async sendTest(): Promise<DeliveryResult> {
      const endpoint = requireSettings()
      const id = randomUUIDv7()
      const type = 'webhook.test'
      const sentAtMs = clock.now()
      const body = createBody({ id, type, createdAtMs: sentAtMs, userId: '00000000-0000-0000-0000-000000000000' })
      return deliver(endpoint, { id, type, body, sentAtMs })
    },

    requireEvent,
    list: (limit: number, isFailed = false): Promise<OutboxEvent[]> => eventOutbox.findLatest(db, limit, isFailed),
    attemptsOf: (id: string): Promise<DeliveryAttempt[]> => findAttempts(db, id),
    listAttempts: (events: number, isFailed = false): Promise<DeliveryAttempt[]> =>
      findLatestAttempts(db, events, isFailed),

    async redeliver(id: string): Promise<OutboxEvent> {
      requireSettings()
      const event = await requireEvent(id)
      await db.inTransaction((transaction) => reopen(transaction, event, clock.now()))
      wake()
      return event
    },

    async redeliverFailed(sinceMs: number): Promise<string[]> {
      requireSettings()
      const ids: string[] = []
      for await (const batch of reopenFailed({ db, clock }, sinceMs)) {
        ids.push(...batch)
        wake()
      }
      return ids
    },
  }
}
