import { type Command, InvalidArgumentError } from 'commander'
import { AppError } from '../lib/errors.ts'
import { shownUrl } from '../lib/shown-url.ts'
import { toTimestamp } from '../lib/time.ts'
import { type OutboxEvent, outcomeOf, requireWebhooks } from './delivery.ts'
import { withDomain } from './domain.ts'
import { addCommand, type JsonOption, withJson } from './help.ts'
import { print, printJson, printList, toMinute } from './output.ts'
import type { Surroundings } from './surroundings.ts'
import type { Column } from './table.ts'

const LISTED = 50
const MOST_LISTED = 10_000

interface ListOptions extends JsonOption {
  limit: number
}

interface RedeliverOptions extends JsonOption {
  deliver?: boolean
}

/** `svc webhooks`: what the application was told. */
export const addWebhooks = (program: Command, surroundings: Surroundings): void => {
  const webhooks = addCommand(program, 'webhooks', 'list events, send one again, test the endpoint', [
    'svc webhooks list',
    'svc webhooks test',
  ])
  addList(webhooks, surroundings)
  addRedeliver(webhooks, surroundings)
  addTest(webhooks, surroundings)
}

const addList = (webhooks: Command, { loadConfig }: Surroundings): void => {
  const list = addCommand(webhooks, 'list', 'list events and what became of them, the newest first', [
    'svc webhooks list',
    'svc webhooks list --limit 500 --json | jq ".[] | select(.state == \\"failed\\") | .id"',
  ]).option('--limit <count>', 'how many at most', readLimit, LISTED)
  withJson(list).action(({ limit, json }: ListOptions) =>
    withDomain(loadConfig(), async (domain) => {
      const listing = { columns: COLUMNS, toJson: eventToJson, empty: 'there are no webhook events' }
      await printList([await domain.webhooks.list(limit)], listing, json)
    }),
  )
}

const readLimit = (text: string): number => {
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= MOST_LISTED) return limit
  throw new InvalidArgumentError(`It is a whole number from 1 to ${MOST_LISTED}.`)
}

const addRedeliver = (webhooks: Command, { loadConfig }: Surroundings): void => {
  const redeliver = addCommand(webhooks, 'redeliver <id>', 'send an event once more, under the same id', [
    'svc webhooks redeliver 019e6f3c-7f0a-7c11-a1b2-3c4d5e6f7a8b',
    'svc webhooks redeliver 019e6f3c-7f0a-7c11-a1b2-3c4d5e6f7a8b --deliver',
  ]).option('--deliver', 'send it from here instead of leaving it to the service')
  withJson(redeliver).action(async (id: string, { deliver, json }: RedeliverOptions) => {
    const config = loadConfig()
    requireWebhooks(config)
    await withDomain(config, async (domain) => {
      await domain.webhooks.redeliver(id)
      if (deliver) await domain.webhooks.deliverDue()
      const event = await domain.webhooks.find(id)
      if (stateOf(event) === 'failed') throw failure(`${event.type} ${id}`, event.problem)
      await (json
        ? printJson(eventToJson(event))
        : print(`${event.type} ${id}: ${deliver ? outcomeOf(event) : 'waiting for the running service to send it'}.\n`))
    })
  })
}

const addTest = (webhooks: Command, { loadConfig }: Surroundings): void => {
  const test = addCommand(webhooks, 'test', 'send an event of type webhook.test, about no user', ['svc webhooks test'])
  withJson(test).action(async ({ json }: JsonOption) => {
    const config = loadConfig()
    requireWebhooks(config)
    const url = shownUrl(config.webhookUrl ?? '')
    await withDomain(config, async (domain) => {
      const { status, problem } = await domain.webhooks.test()
      if (json) await printJson({ url, delivered: problem === null, status, problem })
      if (problem !== null) throw failure(`webhook.test to ${url}`, problem)
      if (!json) await print(`webhook.test to ${url}: delivered (${status}).\n`)
    })
  })
}

const failure = (what: string, problem: string | null): AppError =>
  new AppError('unavailable', `${what} was not delivered: ${problem}`)

type State = 'waiting' | 'delivered' | 'failed'

const stateOf = ({ closedAtMs, deliveredAtMs }: OutboxEvent): State => {
  if (deliveredAtMs !== null) return 'delivered'
  return closedAtMs === null ? 'waiting' : 'failed'
}

const TONES = { waiting: 'yellow', delivered: 'green', failed: 'red' } as const

const COLUMNS: Column<OutboxEvent>[] = [
  // Never cut: it is what `redeliver` takes.
  { title: 'id', value: ({ id }) => id },
  { title: 'type', value: ({ type }) => type },
  { title: 'outcome', value: outcomeOf, least: 10, tone: (event) => TONES[stateOf(event)] },
  { title: 'created (UTC)', value: ({ createdAtMs }) => toMinute(createdAtMs) },
  { title: 'attempts', value: ({ attempts }) => String(attempts), optional: true },
  { title: 'user', value: ({ userId }) => userId, optional: true, least: 9, keeps: 'end' },
]

const eventToJson = (event: OutboxEvent) => ({
  id: event.id,
  type: event.type,
  user_id: event.userId,
  created_at: toTimestamp(event.createdAtMs),
  state: stateOf(event),
  attempts: event.attempts,
  status: event.status,
  problem: event.problem,
  delivered_at: event.deliveredAtMs === null ? null : toTimestamp(event.deliveredAtMs),
  next_attempt_at: event.closedAtMs === null ? toTimestamp(event.nextAttemptAtMs) : null,
})
