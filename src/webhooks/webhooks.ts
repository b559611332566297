import { randomUUIDv7 } from 'node:crypto'
import { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { type Clock, toTimestamp } from '../lib/time.ts'
import { uuidAfter } from '../lib/uuid.ts'
import type { Database, Queries } from '../storage/database.ts'
import { type Attempt, type DeliveryOutcome, findAttempts, findLatestAttempts } from './attempt-store.ts'
import { type Delivery, deliver } from './delivery.ts'
import { createDispatcher } from './dispatcher.ts'
import type { EventType } from './event-types.ts'
import {
  deleteClosedEvents,
  findEvent,
  findLastOpenId,
  findLatestEvents,
  findOutboxLoad,
  insertEvent,
  type OutboxEvent,
  type OutboxLoad,
} from './outbox-store.ts'
import { reopen, reopenFailed } from './redelivery.ts'
import type { WebhookSettings } from './webhook-settings.ts'

export { type Attempt, DELIVERY_OUTCOMES, type DeliveryOutcome } from './attempt-store.ts'
export type { OutboxEvent, OutboxLoad } from './outbox-store.ts'
export type { WebhookSettings } from './webhook-settings.ts'

interface WebhooksDeps {
  db: Database
  clock: Clock
  log: Log
  /** Undefined: webhooks are off, and nothing is written down for later. */
  settings: WebhookSettings | undefined
  /** How long a delivered or given-up event can still be listed and sent again. */
  retentionMs: number
  /** Hears of every attempt that was made here. */
  onOutcome?: ((outcome: DeliveryOutcome) => void) | undefined
}

const CLEANUP_BATCH = 500

/** Tells the application what happened to users, through an outbox in the database. */
export const createWebhooks = ({ db, clock, log, settings, retentionMs, onOutcome }: WebhooksDeps) => {
  const dispatcher = settings && createDispatcher({ db, clock, log, settings, onOutcome })

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
    /** Writes an event down in the transaction of the action that it tells of. */
    async announce(
      transaction: Queries & Partial<{ afterCommit(action: () => void): void }>,
      type: EventType,
      userId: string,
    ) {
      if (!settings?.enabledEvents.includes(type)) return
      // Ids say in which order a user's events are sent, and neither clocks nor random bits are to mix that up.
      const id = uuidAfter(await findLastOpenId(transaction, userId))
      const createdAtMs = clock.now()
      const body = bodyOf({ id, type, createdAtMs, userId })
      await insertEvent(transaction, { id, type, userId, createdAtMs, body })
      transaction.afterCommit?.(() => dispatcher?.wake())
    },

    /** Begins to deliver in the background. */
    start: (): void => dispatcher?.start(),

    /** Begins no more deliveries and resolves when those under way have ended, or were cut off after so long. */
    stop: async (patienceMs: number): Promise<void> => dispatcher?.stop(patienceMs),

    /** Delivers everything that is due now, and resolves when that is done. */
    deliverDue: async (): Promise<void> => dispatcher?.deliverDue(),

    /** What waits to be delivered; undefined while webhooks are off. */
    load: async (): Promise<OutboxLoad | undefined> => settings && findOutboxLoad(db, clock.now()),

    list: (limit: number): Promise<OutboxEvent[]> => findLatestEvents(db, limit),

    /** Lets an event be sent once more under its old id. */
    async redeliver(id: string): Promise<OutboxEvent> {
      requireSettings()
      const event = await requireEvent(id)
      await db.inTransaction((transaction) => reopen(transaction, event, clock.now()))
      dispatcher?.wake()
      return event
    },

    /** Lets all events be sent once more that were given up since a time; resolves to their ids, the oldest first. */
    async redeliverFailed(sinceMs: number): Promise<string[]> {
      requireSettings()
      const ids: string[] = []
      for await (const batch of reopenFailed({ db, clock }, sinceMs)) {
        ids.push(...batch)
        dispatcher?.wake()
      }
      return ids
    },

    /** How the attempts of an event ended, the first one first. */
    attemptsOf: (id: string): Promise<Attempt[]> => findAttempts(db, id),

    /** Those of so many latest events, in order for each. */
    listAttempts: (events: number): Promise<Attempt[]> => findLatestAttempts(db, events),

    find: requireEvent,

    /** Sends an event of type `webhook.test`, about no user, past the outbox. */
    test(): Promise<Delivery> {
      const { url, secret, timeoutMs } = requireSettings()
      const id = randomUUIDv7()
      const type = 'webhook.test'
      const body = bodyOf({ id, type, createdAtMs: clock.now(), userId: '00000000-0000-0000-0000-000000000000' })
      return deliver({ url, secret, timeoutMs }, { id, type, body })
    },

    /** Deletes events that are past their time, in batches; resolves to how many. */
    async deleteOld(): Promise<number> {
      const beforeMs = clock.now() - retentionMs
      let deleted = 0
      for (;;) {
        const batch = await deleteClosedEvents(db, beforeMs, CLEANUP_BATCH)
        deleted += batch
        if (batch < CLEANUP_BATCH) return deleted
      }
    },
  }
}

export type Webhooks = ReturnType<typeof createWebhooks>

interface Content {
  id: string
  type: string
  createdAtMs: number
  userId: string
}

/** Specification section 6.3. */
const bodyOf = ({ id, type, createdAtMs, userId }: Content): string =>
  JSON.stringify({ id, type, created_at: toTimestamp(createdAtMs), data: { user_id: userId } })
