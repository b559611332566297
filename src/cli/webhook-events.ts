import type { Config } from '../config/config.ts'
import { AppError } from '../lib/errors.ts'
import { toTimestamp } from '../lib/time.ts'
import type { DeliveryAttempt, OutboxEvent } from '../webhooks/webhooks.ts'
import type { Core } from './command/with-core.ts'
import { printNotice } from './terminal/output.ts'
import type { Column } from './terminal/table.ts'
import { timestampOrNull, toMinute } from './terminal/text.ts'

export const stateOf = ({ closedAtMs, deliveredAtMs }: OutboxEvent): 'waiting' | 'delivered' | 'failed' => {
  if (deliveredAtMs !== null) return 'delivered'
  return closedAtMs === null ? 'waiting' : 'failed'
}

export const outcomeOf = ({ attempts, closedAtMs, deliveredAtMs, status, problem }: OutboxEvent): string => {
  if (deliveredAtMs !== null) return `delivered (${status})`
  if (closedAtMs !== null) return `failed (${problem})`
  if (attempts === 0) return 'waiting'
  return problem === null ? 'under way' : `waiting for another try (${problem})`
}

const TONES = { waiting: 'yellow', retried: 'yellow', delivered: 'green', failed: 'red', interrupted: 'red' } as const

export const EVENT_COLUMNS: Column<OutboxEvent>[] = [
  // This column is never cut, because `redeliver` takes the whole id.
  { title: 'id', value: ({ id }) => id },
  { title: 'type', value: ({ type }) => type },
  { title: 'outcome', value: outcomeOf, minWidth: 10, tone: (event) => TONES[stateOf(event)] },
  { title: 'created (UTC)', value: ({ createdAtMs }) => toMinute(createdAtMs) },
  { title: 'attempts', value: ({ attempts }) => String(attempts), optional: true },
  { title: 'user', value: ({ userId }) => userId, optional: true, minWidth: 9, keeps: 'end' },
]

/** `history` has all attempts, those before a redelivery too. */
export const eventToJson = (event: OutboxEvent, history?: DeliveryAttempt[]) => ({
  id: event.id,
  type: event.type,
  user_id: event.userId,
  created_at: toTimestamp(event.createdAtMs),
  state: stateOf(event),
  attempts: event.attempts,
  status: event.status,
  problem: event.problem,
  delivered_at: timestampOrNull(event.deliveredAtMs),
  next_attempt_at: event.closedAtMs === null ? toTimestamp(event.nextAttemptAtMs) : null,
  ...(history && { history: history.map(attemptToJson) }),
})

export const attemptToJson = ({ number, endedAtMs, durationMs, status, problem, outcome }: DeliveryAttempt) => ({
  number,
  ended_at: timestampOrNull(endedAtMs),
  duration_ms: durationMs,
  status,
  problem,
  outcome,
})

export const ATTEMPT_COLUMNS: Column<DeliveryAttempt>[] = [
  { title: 'attempt', value: ({ number }) => String(number) },
  { title: 'outcome', value: ({ outcome }) => outcome, tone: ({ outcome }) => TONES[outcome] },
  { title: 'ended (UTC)', value: ({ endedAtMs }) => (endedAtMs === null ? '?' : toTimestamp(endedAtMs)) },
  { title: 'took', value: ({ durationMs }) => (durationMs === null ? '' : `${durationMs} ms`) },
  { title: 'answer', value: ({ status, problem }) => problem ?? String(status), minWidth: 12 },
]

/** Throws `invalid_request` when webhooks are off, before a command changes anything. */
export const requireWebhooks = ({ webhookUrl }: Config): void => {
  if (webhookUrl) return
  throw new AppError('invalid_request', 'webhooks are off: set SVC_WEBHOOK_URL and SVC_WEBHOOK_SECRET')
}

export const notDelivered = (what: string, problem: string | null): AppError =>
  new AppError('unavailable', `${what} was not delivered: ${problem}`)

/** An event that was just written is among this many latest events. */
const LATEST = 500

/** Delivers all events that are due, and prints the outcome of this one to stderr. */
export const deliverNow = async ({ webhooks }: Core, { type, userId }: Pick<OutboxEvent, 'type' | 'userId'>) => {
  const latest = await webhooks.list(LATEST)
  const event = latest.find((each) => each.userId === userId && each.type === type)
  if (!event) return printNotice(`${type} is not among SVC_WEBHOOK_ENABLED_EVENTS, so nothing was sent`)
  await webhooks.deliverDue()
  printNotice(`webhook ${event.id} (${type}): ${outcomeOf(await webhooks.requireEvent(event.id))}`)
}
