import type { Command } from 'commander'
import { toTimestamp } from '../lib/time.ts'
import type { CommandContext } from './command-context.ts'
import { type OutboxEvent, outcomeOf } from './delivery.ts'
import { addCommand, type JsonOption, withJson } from './help.ts'
import { print, printJson, printList, printRecord, toMinute } from './terminal/output.ts'
import type { Column } from './terminal/table.ts'
import { type Core, withCore } from './with-core.ts'

type Attempt = Awaited<ReturnType<Core['webhooks']['attemptsOf']>>[number]

type State = 'waiting' | 'delivered' | 'failed'

export const stateOf = ({ closedAtMs, deliveredAtMs }: OutboxEvent): State => {
  if (deliveredAtMs !== null) return 'delivered'
  return closedAtMs === null ? 'waiting' : 'failed'
}

const TONES = { waiting: 'yellow', retried: 'yellow', delivered: 'green', failed: 'red', interrupted: 'red' } as const

export const EVENT_COLUMNS: Column<OutboxEvent>[] = [
  // Never cut: it is what `redeliver` takes.
  { title: 'id', value: ({ id }) => id },
  { title: 'type', value: ({ type }) => type },
  { title: 'outcome', value: outcomeOf, least: 10, tone: (event) => TONES[stateOf(event)] },
  { title: 'created (UTC)', value: ({ createdAtMs }) => toMinute(createdAtMs) },
  { title: 'attempts', value: ({ attempts }) => String(attempts), optional: true },
  { title: 'user', value: ({ userId }) => userId, optional: true, least: 9, keeps: 'end' },
]

const toTime = (epochMs: number | null): string | null => (epochMs === null ? null : toTimestamp(epochMs))

/** With `history` where it was asked for: how each attempt ended, those before a redelivery too. */
export const eventToJson = (event: OutboxEvent, history?: Attempt[]) => ({
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

const attemptToJson = ({ number, endedAtMs, durationMs, status, problem, outcome }: Attempt) => ({
  number,
  ended_at: toTime(endedAtMs),
  duration_ms: durationMs,
  status,
  problem,
  outcome,
})

const ATTEMPT_COLUMNS: Column<Attempt>[] = [
  { title: 'attempt', value: ({ number }) => String(number) },
  { title: 'outcome', value: ({ outcome }) => outcome, tone: ({ outcome }) => TONES[outcome] },
  { title: 'ended (UTC)', value: ({ endedAtMs }) => (endedAtMs === null ? '?' : toTimestamp(endedAtMs)) },
  { title: 'took', value: ({ durationMs }) => (durationMs === null ? '' : `${durationMs} ms`) },
  { title: 'answer', value: ({ status, problem }) => problem ?? String(status), least: 12 },
]

/** `svc webhooks show`: one event with the history of its attempts. */
export const addShow = (webhooks: Command, { loadConfig }: CommandContext): void => {
  const show = addCommand(webhooks, 'show <id>', 'show an event and how each attempt to deliver it ended', [
    'svc webhooks show 019e6f3c-7f0a-7c11-a1b2-3c4d5e6f7a8b',
  ])
  withJson(show).action((id: string, { json }: JsonOption) =>
    withCore(loadConfig(), async ({ webhooks: events }) => {
      const event = await events.find(id)
      const attempts = await events.attemptsOf(id)
      await (json ? printJson(eventToJson(event, attempts)) : printEvent(event, attempts))
    }),
  )
}

const printEvent = async (event: OutboxEvent, attempts: Attempt[]): Promise<void> => {
  await printRecord([
    ['id', event.id],
    ['type', event.type],
    ['user', event.userId],
    ['created', toTimestamp(event.createdAtMs)],
    ['outcome', outcomeOf(event)],
    ...(event.closedAtMs === null ? [['next try', `not before ${toTimestamp(event.nextAttemptAtMs)}`] as const] : []),
  ])
  if (attempts.length > 0) await print('\n')
  const listing = { columns: ATTEMPT_COLUMNS, toJson: attemptToJson, empty: 'there was no attempt to deliver it yet' }
  await printList([attempts], listing, false)
}
