import { randomUUIDv7 } from 'node:crypto'
import type { RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { Database, Transaction } from '../storage/database.ts'
import type { OutboxPageRequest } from '../storage/outbox/outbox.ts'
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
  { db, clock, recordEvent }: Pick<HistoryDeps, 'db' | 'clock' | 'recordEvent'>,
  sinceMs: number,
  caller?: Caller,
): AsyncGenerator<string[]> {
  const untilMs = clock.now()
  let afterId = ''
  for (;;) {
    const ids = await db.inTransaction(async (transaction) => {
      const events = await findFailedEvents(transaction, { sinceMs, untilMs, afterId, limit: BATCH })
      for (const event of events) await reopen(transaction, event, clock.now())
      const record = { type: 'webhook.redelivered', details: { count: events.length } } as const
      if (events.length > 0) await recordEvent(transaction, record, caller)
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
  recordEvent: RecordEvent
}

/** Gives operators past events and their attempts, redelivery, and a test. */
export const createHistory = ({ db, clock, settings, wake, recordEvent }: HistoryDeps) => {
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
    listPage: (request: OutboxPageRequest): Promise<OutboxEvent[]> => eventOutbox.findPage(db, request),
    attemptsOf: (id: string): Promise<DeliveryAttempt[]> => findAttempts(db, id),
    listAttempts: (events: number, isFailed = false): Promise<DeliveryAttempt[]> =>
      findLatestAttempts(db, events, isFailed),

    async redeliver(id: string, caller?: Caller): Promise<OutboxEvent> {
      requireSettings()
      const event = await requireEvent(id)
      const { userId } = event
      await db.inTransaction(async (transaction) => {
        await reopen(transaction, event, clock.now())
        await recordEvent(transaction, { type: 'webhook.redelivered', userId, details: { webhookId: id } }, caller)
      })
      wake()
      return event
    },

    async redeliverFailed(sinceMs: number, caller?: Caller): Promise<string[]> {
      requireSettings()
      const ids: string[] = []
      for await (const batch of reopenFailed({ db, clock, recordEvent }, sinceMs, caller)) {
        ids.push(...batch)
        wake()
      }
      return ids
    },
  }
}
