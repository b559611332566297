import type { RecordEvent } from '../audit/audit-event.ts'
import type { Log } from '../lib/log.ts'
import type { Clock } from '../lib/time.ts'
import type { Database, Transaction } from '../storage/database.ts'
import { createDispatcher, type Dispatcher } from '../storage/outbox/dispatcher.ts'
import { type DeliveryOutcome, recordAttempt, recordInterruptedAttempt } from './attempt-store.ts'
import { type DeliveryResult, deliver } from './signed-request.ts'
import { eventOutbox, type OutboxEvent } from './outbox-store.ts'
import type { WebhookSettings } from './event-types.ts'

/** Number of simultaneous deliveries, each for a different user. */
const AT_ONCE = 8
/** Time after the timeout of an attempt by which its process has stored the result, or is dead. */
const CLAIM_MARGIN_MS = 5000

const FIRST_RETRY_MS = 1000
const LONGEST_RETRY_MS = 3_600_000

/** Whether the receiver may accept the event later: after a network error (no status), 408, 429 or 5xx. */
const isTemporary = (status: number | null): boolean =>
  status === null || status === 408 || status === 429 || status >= 500

/** The delay doubles with each attempt. Its random part prevents that many events return at the same time. */
const retryDelayMs = (attempts: number): number =>
  Math.round(Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (attempts - 1)) * (0.75 + Math.random() / 2))

interface WebhookSenderDeps {
  db: Database
  clock: Clock
  log: Log
  settings: WebhookSettings
  recordEvent: RecordEvent
  onOutcome?: ((outcome: DeliveryOutcome) => void) | undefined
}

/** Delivers events: one after the other for each user, and those of several users in parallel. */
export const createWebhookSender = (deps: WebhookSenderDeps): Dispatcher => {
  const { db, clock, log, settings, recordEvent, onOutcome } = deps

  const attempt = async (event: OutboxEvent, signal: AbortSignal): Promise<void> => {
    const claimed = await eventOutbox.claim(db, event, clock.now() + settings.timeoutMs + CLAIM_MARGIN_MS)
    if (claimed === 0) return
    if (event.attempts > 0) await recordInterruptedAttempt(db, event)
    const begunMs = performance.now()
    const delivery = await deliver({ ...settings, signal }, { ...event, sentAtMs: clock.now() })
    await recordOutcome({ ...event, attempts: event.attempts + 1 }, delivery, Math.round(performance.now() - begunMs))
  }

  const recordGivenUp = (transaction: Transaction, { id, userId }: OutboxEvent, problem: string | null) =>
    recordEvent(transaction, {
      type: 'webhook.given_up',
      userId,
      details: { webhookId: id, reason: problem ?? undefined },
    })

  const recordOutcome = async (event: OutboxEvent, delivery: DeliveryResult, durationMs: number): Promise<void> => {
    const { status, problem } = delivery
    const retried = problem !== null && event.attempts < settings.maxAttempts && isTemporary(status)
    const facts = { event_id: event.id, type: event.type, user_id: event.userId, attempt: event.attempts, status }
    if (problem === null) log.info(facts, 'webhook delivered')
    else log.warn({ ...facts, problem, retried }, 'webhook failed')
    const outcome = problem === null ? 'delivered' : retried ? 'retried' : 'failed'
    onOutcome?.(outcome)
    const nowMs = clock.now()
    const untilMs = nowMs + retryDelayMs(event.attempts)
    const deliveredAtMs = problem === null ? nowMs : null
    await db.inTransaction(async (transaction) => {
      if (retried) await eventOutbox.postpone(transaction, event, { status, problem }, untilMs)
      else await eventOutbox.settle(transaction, event, { status, problem, deliveredAtMs, closedAtMs: nowMs })
      if (outcome === 'failed') await recordGivenUp(transaction, event, problem)
      await recordAttempt(transaction, event, { status, problem, outcome, durationMs, endedAtMs: nowMs })
    })
  }

  /** The process of the last allowed attempt died before its end. The event may have arrived: it is not sent again. */
  const closeInterrupted = async (event: OutboxEvent): Promise<void> => {
    log.warn({ event_id: event.id, type: event.type, user_id: event.userId }, 'webhook attempt was interrupted')
    onOutcome?.('interrupted')
    const problem = 'interrupted'
    await db.inTransaction(async (transaction) => {
      await eventOutbox.settle(transaction, event, { status: null, problem, closedAtMs: clock.now() })
      await recordInterruptedAttempt(transaction, event)
      await recordGivenUp(transaction, event, problem)
    })
  }

  const handle = async (event: OutboxEvent, signal: AbortSignal): Promise<boolean> => {
    try {
      await (event.attempts < settings.maxAttempts ? attempt(event, signal) : closeInterrupted(event))
      return true
    } catch (error) {
      log.error({ err: error, event_id: event.id }, 'webhook bookkeeping failed')
      return false
    }
  }

  return createDispatcher({
    name: 'webhook',
    log,
    atOnce: AT_ONCE,
    findDue: (limit) => eventOutbox.findDue(db, clock.now(), limit),
    beginTurn: async (signal) => ({ handle: (event) => handle(event, signal) }),
  })
}
