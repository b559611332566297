import { toTimestamp } from '../lib/time.ts'
import type { DeliveryAttempt, OutboxEvent } from '../webhooks/webhooks.ts'
import { toMinute } from './terminal/output.ts'
import type { Column } from './terminal/table.ts'

type EventState = 'waiting' | 'delivered' | 'failed'

export const stateOf = ({ closedAtMs, deliveredAtMs }: OutboxEvent): EventState => {
  if (deliveredAtMs !== null) return 'delivered'
  return closedAtMs === null ? 'waiting' : 'failed'
}

/** The state with the status or the problem of the last attempt. */
export const outcomeOf = ({ attempts, closedAtMs, deliveredAtMs, status, problem }: OutboxEvent): string => {
  if (deliveredAtMs !== null) return `delivered (${status})`
  if (closedAtMs !== null) return `failed (${problem})`
  if (attempts === 0) return 'waiting'
  return problem === null ? 'under way' : `waiting for another try (${problem})`
}

const TONES = { waiting: 'yellow', retried: 'yellow', delivered: 'green', failed: 'red', interrupted: 'red' } as const

export const EVENT_COLUMNS: Column<OutboxEvent>[] = [
  // Never cut, because `redeliver` takes the whole id.
  { title: 'id', value: ({ id }) => id },
  { title: 'type', value: ({ type }) => type },
  { title: 'outcome', value: outcomeOf, minWidth: 10, tone: (event) => TONES[stateOf(event)] },
  { title: 'created (UTC)', value: ({ createdAtMs }) => toMinute(createdAtMs) },
  { title: 'attempts', value: ({ attempts }) => String(attempts), optional: true },
  { title: 'user', value: ({ userId }) => userId, optional: true, minWidth: 9, keeps: 'end' },
]

const toTime = (epochMs: number | null): string | null => (epochMs === null ? null : toTimestamp(epochMs))

/** An event, with `history` if its attempts are given: all of them, those before a redelivery too. */
export const eventToJson = (event: OutboxEvent, history?: DeliveryAttempt[]) => ({
  id: event.id,
  type: event.type,
  user_id: event.userId,
  created_at: toTimestamp(event.createdAtMs),
  state: stateOf(event),
  attempts: event.attempts,
  status: event.status,
  problem: event.problem,
  delivered_at: toTime(event.deliveredAtMs),
  next_attempt_at: event.closedAtMs === null ? toTimestamp(event.nextAttemptAtMs) : null,
  ...(history && { history: history.map(attemptToJson) }),
})

export const attemptToJson = ({ number, endedAtMs, durationMs, status, problem, outcome }: DeliveryAttempt) => ({
  number,
  ended_at: toTime(endedAtMs),
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
