import { randomUUIDv7 } from 'node:crypto'
import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { Database } from '../storage/database.ts'
import { type DeliveryAttempt, findAttempts, findLatestAttempts } from './attempt-store.ts'
import { type DeliveryResult, deliver } from './delivery.ts'
import { createBody } from './event-body.ts'
import { findEvent, findLatestEvents } from './event-history-store.ts'
import type { OutboxEvent } from './outbox-event.ts'
import { reopen, reopenFailed } from './redelivery.ts'
import type { WebhookSettings } from './webhook-settings.ts'

interface HistoryDeps {
  db: Database
  clock: Clock
  settings: WebhookSettings | undefined
  /** Called after the commit of an event that is sent again. */
  wake: () => void
}

/** What operators see and do: past events, their attempts, redelivery, and a test. */
export const createHistory = ({ db, clock, settings, wake }: HistoryDeps) => {
  const requireSettings = (): WebhookSettings => {
    if (settings) return settings
    throw new AppError('invalid_request', 'Webhooks are off: set SVC_WEBHOOK_URL and SVC_WEBHOOK_SECRET.')
  }

  const requireEvent = async (id: string): Promise<OutboxEvent> => {
    const event = await findEvent(db, id)
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
    list: (limit: number, isFailed = false): Promise<OutboxEvent[]> => findLatestEvents(db, limit, isFailed),
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
