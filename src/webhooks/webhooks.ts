import type { RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import type { Log } from '../lib/log.ts'
import { once, onDemand } from '../lib/on-demand.ts'
import type { Clock } from '../lib/time.ts'
import type { UserChange } from '../lib/user-change.ts'
import { inBatches, type Database, type Transaction } from '../storage/database.ts'
import type { Dispatcher } from '../storage/outbox/dispatcher.ts'
import type { OutboxLoad, OutboxPageRequest } from '../storage/outbox/outbox.ts'
import { createAnnouncements } from './announcements.ts'
import type { DeliveryAttempt, DeliveryOutcome } from './attempt-store.ts'
import type { DeliveryResult } from './signed-request.ts'
import { eventOutbox, type OutboxEvent } from './outbox-store.ts'
import type { EventType, WebhookSettings } from './event-types.ts'

export type { DeliveryAttempt, DeliveryOutcome } from './attempt-store.ts'
export type { OutboxEvent } from './outbox-store.ts'

/** Tells the application what happened to users, through an outbox in the database (CONTRACT.md 6). */
export interface Webhooks {
  /** Writes an event in the transaction of the change that it tells of; nothing while webhooks are off. */
  announce(transaction: Transaction, type: Exclude<EventType, 'user.updated'>, userId: string): Promise<void>
  /** Writes such an event for each of these users, who are different ones. */
  announceAll(
    transaction: Transaction,
    type: Exclude<EventType, 'user.updated'>,
    userIds: readonly string[],
  ): Promise<void>
  /** Writes `user.updated` in the transaction of the change; nothing when nothing has changed. */
  announceUpdate(transaction: Transaction, userId: string, changed: readonly UserChange[]): Promise<void>

  // Delivery.
  start(): Promise<void>
  /** Begins no more deliveries; resolves when those under way have ended, or were aborted after `patienceMs`. */
  stop(patienceMs: number): Promise<void>
  /** Delivers all that is due now. */
  deliverDue(): Promise<void>
  /** Sends an event of type `webhook.test`, about no user, without the outbox. */
  sendTest(): Promise<DeliveryResult>
  /** The backlog; undefined while webhooks are off. */
  load(): Promise<OutboxLoad | undefined>

  // History.
  /** `not_found` when there is no such event. */
  requireEvent(id: string): Promise<OutboxEvent>
  /** The latest events, or the latest that were given up, the newest first. */
  list(limit: number, isFailed?: boolean): Promise<OutboxEvent[]>
  /** A page of events, the newest first. */
  listPage(request: OutboxPageRequest): Promise<OutboxEvent[]>
  /** The attempts to deliver one event, in order. */
  attemptsOf(id: string): Promise<DeliveryAttempt[]>
  /** The attempts of the events that `list` gives, in order for each. */
  listAttempts(events: number, isFailed?: boolean): Promise<DeliveryAttempt[]>
  /** Sends an event again, with the same id. */
  redeliver(id: string, caller?: Caller): Promise<OutboxEvent>
  /** Sends again all events that were given up since a time; resolves to their ids, the oldest first. */
  redeliverFailed(sinceMs: number, caller?: Caller): Promise<string[]>

  /** Cleanup: deletes events whose retention is over; resolves to how many. */
  deleteExpired(nowMs: number): Promise<number>
}

interface WebhooksDeps {
  db: Database
  clock: Clock
  log: Log
  /** Undefined: webhooks are off, and no event is written. */
  settings: WebhookSettings | undefined
  /** The time for which a delivered or given-up event is kept. */
  retentionMs: number
  /** Called after every attempt that this process has made. */
  onOutcome?: ((outcome: DeliveryOutcome) => void) | undefined
  recordEvent: RecordEvent
}

export const createWebhooks = (deps: WebhooksDeps): Webhooks => {
  const { db, clock, settings, retentionMs } = deps
  let dispatcher: Dispatcher | undefined
  const wake = (): void => dispatcher?.wake()
  /** Undefined while webhooks are off. */
  const loadDispatcher = once(async () => {
    if (settings) dispatcher = (await import('./sender.ts')).createWebhookSender({ ...deps, settings })
    return dispatcher
  })

  return {
    ...createAnnouncements({ clock, enabledEvents: settings?.enabledEvents ?? [], wake }),

    async start() {
      ;(await loadDispatcher())?.start()
      wake()
    },
    stop: async (patienceMs) => dispatcher?.stop(patienceMs),
    deliverDue: async () => (await loadDispatcher())?.runDue(),

    load: async () => settings && eventOutbox.findLoad(db, clock.now()),

    ...onDemand(
      async () => (await import('./history.ts')).createHistory({ ...deps, wake }),
      'sendTest',
      'requireEvent',
      'list',
      'listPage',
      'attemptsOf',
      'listAttempts',
      'redeliver',
      'redeliverFailed',
    ),

    deleteExpired: (nowMs) => inBatches((limit) => eventOutbox.deleteClosedBefore(db, nowMs - retentionMs, limit)),
  }
}
