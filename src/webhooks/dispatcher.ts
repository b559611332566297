import type { RecordEvent } from '../audit/audit-event.ts'
import type { Log } from '../lib/log.ts'
import type { Clock } from '../lib/time.ts'
import type { Database } from '../storage/database.ts'
import { recordAttempt, recordInterruptedAttempt } from './attempt-store.ts'
import { type DeliveryResult, deliver } from './delivery.ts'
import type { DeliveryOutcome } from './delivery-outcome.ts'
import { givenUp, type OutboxEvent } from './outbox-event.ts'
import { claimEvent, closeEvent, findDueEvents, postponeEvent } from './outbox-store.ts'
import { backoffMs, isTemporary } from './retry-policy.ts'
import type { WebhookSettings } from './webhook-settings.ts'

interface DispatcherDeps {
  db: Database
  clock: Clock
  log: Log
  settings: WebhookSettings
  recordEvent: RecordEvent
  onOutcome?: ((outcome: DeliveryOutcome) => void) | undefined
}

/** Number of simultaneous deliveries, each for a different user. */
const AT_ONCE = 8
/** Interval for finding events of other processes, and retries that are due. */
const POLL_MS = 1000
/** Time after the timeout of an attempt by which its process has stored the result, or is dead. */
const CLAIM_MARGIN_MS = 5000

/** Delivers events: one after the other for each user, and of several users in parallel. */
export interface Dispatcher {
  start(): void
  /** Looks for due events now, once it has been started. */
  wake(): void
  /** Starts no more deliveries; resolves when the running ones have ended, or were aborted after `patienceMs`. */
  stop(patienceMs: number): Promise<void>
  /** Makes due attempts until there are none left, or a result cannot be stored. */
  deliverDue(): Promise<void>
}

export const createDispatcher = ({ db, clock, log, settings, recordEvent, onOutcome }: DispatcherDeps): Dispatcher => {
  const underWay = new Set<Promise<boolean>>()
  const abort = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let polling: Promise<void> | undefined
  /** Whether events have come since the running poll last looked. */
  let pollAgain = false

  const attempt = async (event: OutboxEvent): Promise<void> => {
    const claimed = await claimEvent(db, event, clock.now() + settings.timeoutMs + CLAIM_MARGIN_MS)
    if (claimed === 0) return
    if (event.attempts > 0) await recordInterruptedAttempt(db, event)
    const begunMs = performance.now()
    const delivery = await deliver({ ...settings, signal: abort.signal }, { ...event, sentAtMs: clock.now() })
    await recordOutcome({ ...event, attempts: event.attempts + 1 }, delivery, Math.round(performance.now() - begunMs))
  }

  const recordOutcome = async (event: OutboxEvent, delivery: DeliveryResult, durationMs: number): Promise<void> => {
    const { status, problem } = delivery
    const retried = problem !== null && event.attempts < settings.maxAttempts && isTemporary(status)
    const facts = { event_id: event.id, type: event.type, user_id: event.userId, attempt: event.attempts, status }
    if (problem === null) log.info(facts, 'webhook delivered')
    else log.warn({ ...facts, problem, retried }, 'webhook failed')
    const outcome = problem === null ? 'delivered' : retried ? 'retried' : 'failed'
    onOutcome?.(outcome)
    const nowMs = clock.now()
    const untilMs = nowMs + backoffMs(event.attempts)
    await db.inTransaction(async (transaction) => {
      if (retried) await postponeEvent(transaction, event, { status, problem, untilMs })
      else await closeEvent(transaction, event, { status, problem, nowMs })
      if (outcome === 'failed') await recordEvent(transaction, givenUp(event, problem))
      await recordAttempt(transaction, event, { status, problem, outcome, durationMs, endedAtMs: nowMs })
    })
  }

  /** The process of the last allowed attempt died before its end. The event may have arrived: it is not sent again. */
  const closeInterrupted = async (event: OutboxEvent): Promise<void> => {
    log.warn({ event_id: event.id, type: event.type, user_id: event.userId }, 'webhook attempt was interrupted')
    onOutcome?.('interrupted')
    await db.inTransaction(async (transaction) => {
      await closeEvent(transaction, event, { status: null, problem: 'interrupted', nowMs: clock.now() })
      await recordInterruptedAttempt(transaction, event)
      await recordEvent(transaction, givenUp(event, 'interrupted'))
    })
  }

  /** Resolves to whether the state of the event could be stored. */
  const handle = async (event: OutboxEvent): Promise<boolean> => {
    try {
      await (event.attempts < settings.maxAttempts ? attempt(event) : closeInterrupted(event))
      return true
    } catch (error) {
      log.error({ err: error, event_id: event.id }, 'webhook bookkeeping failed')
      return false
    }
  }

  /** Starts due deliveries, up to the limit. */
  const startDue = async (): Promise<void> => {
    const places = AT_ONCE - underWay.size
    if (places <= 0) return
    for (const event of await findDueEvents(db, clock.now(), places)) {
      const handling = handle(event).then((isStored) => {
        underWay.delete(handling)
        // What could not be stored (the disk is full) is due again at once: it is left to the next poll.
        if (timer && isStored) wake()
        return isStored
      })
      underWay.add(handling)
    }
  }

  const poll = async (): Promise<void> => {
    do {
      pollAgain = false
      await startDue().catch((error: unknown) => log.error({ err: error }, 'webhook outbox cannot be read'))
    } while (pollAgain)
  }

  function wake(): void {
    pollAgain = true
    polling ??= poll().finally(() => {
      polling = undefined
    })
  }

  return {
    wake() {
      if (timer) wake()
    },
    start() {
      timer = setInterval(wake, POLL_MS).unref()
      wake()
    },
    async stop(patienceMs) {
      clearInterval(timer)
      timer = undefined
      await polling
      const aborting = setTimeout(() => abort.abort(), patienceMs)
      await Promise.all(underWay)
      clearTimeout(aborting)
    },
    async deliverDue() {
      for (;;) {
        await startDue()
        const stored = await Promise.all(underWay)
        if (stored.length === 0 || stored.includes(false)) return
      }
    },
  }
}
