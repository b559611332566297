import { duration, parser } from '../config/parsers.ts'
import { AppError } from '../lib/errors.ts'
import { redactUrl } from '../lib/url.ts'
import { toTimestamp } from '../lib/time.ts'
import type { DeliveryAttempt, OutboxEvent } from '../webhooks/webhooks.ts'
import { type Call, command, group, LIST_LIMIT, option, type ValuesOf } from './command/command.ts'
import type { Core } from './command/with-core.ts'
import { print, printJson, printList, printRecord } from './terminal/output.ts'
import { countText } from './terminal/text.ts'
import {
  ATTEMPT_COLUMNS,
  attemptToJson,
  EVENT_COLUMNS,
  eventToJson,
  notDelivered,
  outcomeOf,
  requireWebhooks,
  stateOf,
} from './webhook-events.ts'

const list = command({
  text: 'list events and their state, the newest first',
  examples: ['svc webhooks list', 'svc webhooks list --failed --limit 500 --json | jq -r ".[].id"'],
  options: {
    limit: option.parsed('--limit <count>', 'maximum number of events', LIST_LIMIT, 50),
    failed: option.flag('--failed', 'only events that were given up'),
  },
  run: (call) =>
    call.withCore(async ({ core }) => {
      const { limit: max, failed } = call.options
      const latest = await core.webhooks.list(max, failed)
      const attempts = call.json ? await core.webhooks.listAttempts(max, failed) : []
      const byEvent = Map.groupBy(attempts, ({ eventId }) => eventId)
      await call.list([latest], {
        columns: EVENT_COLUMNS,
        toJson: (event) => eventToJson(event, byEvent.get(event.id) ?? []),
        empty: `there are no ${failed ? 'failed ' : ''}webhook events`,
      })
    }),
})

const show = command({
  args: '<id>',
  text: 'show an event with the result of each delivery attempt',
  examples: ['svc webhooks show 019e6f3c-7f0a-7c11-a1b2-3c4d5e6f7a8b'],
  run: ({ json, withCore }, id: string) =>
    withCore(async ({ core }) => {
      const event = await core.webhooks.requireEvent(id)
      const attempts = await core.webhooks.attemptsOf(id)
      await (json ? printJson(eventToJson(event, attempts)) : printEvent(event, attempts))
    }),
})

const printEvent = async (event: OutboxEvent, attempts: DeliveryAttempt[]): Promise<void> => {
  await printRecord([
    ['id', event.id],
    ['type', event.type],
    ['user', event.userId],
    ['created', toTimestamp(event.createdAtMs)],
    ['outcome', outcomeOf(event)],
    ...(event.closedAtMs === null ? [['next try', `not before ${toTimestamp(event.nextAttemptAtMs)}`] as const] : []),
  ])
  if (attempts.length > 0) await print('\n')
  const listing = { columns: ATTEMPT_COLUMNS, toJson: attemptToJson, empty: 'there was no delivery attempt yet' }
  await printList([attempts], listing, false)
}

const REDELIVERY = {
  failed: option.flag('--failed', 'send every event that was given up, the oldest first'),
  since: option.parsed(
    '--since <duration>',
    'with --failed: only events that were given up within this time, such as 24h',
    parser('a duration such as 30m, 24h or 1h30m', duration().parse),
  ),
  deliver: option.flag('--deliver', 'deliver from this command, not from the running service'),
}

type RedeliverCall = Call<ValuesOf<typeof REDELIVERY>>

const redeliver = command({
  args: '[id]',
  text: 'send one event or all failed events again',
  examples: [
    'svc webhooks redeliver 019e6f3c-7f0a-7c11-a1b2-3c4d5e6f7a8b',
    'svc webhooks redeliver 019e6f3c-7f0a-7c11-a1b2-3c4d5e6f7a8b --deliver',
    'svc webhooks redeliver --failed --since 24h',
  ],
  notes: 'Events keep their ids, and the history of their attempts: svc webhooks show ID.',
  options: REDELIVERY,
  async run(call, id: string | undefined) {
    const { failed, since } = call.options
    if (id !== undefined && failed) call.usageError('give the id of an event or --failed, not both')
    if (id === undefined && !failed) call.usageError('give the id of an event, or --failed')
    if (since !== undefined && !failed) call.usageError('--since needs --failed')
    const config = call.loadConfig()
    requireWebhooks(config)
    await call.withCore(
      ({ core }) => (id === undefined ? redeliverFailed(core, call) : redeliverOne(core, id, call)),
      config,
    )
  },
})

const redeliverOne = async ({ webhooks: events }: Core, id: string, call: RedeliverCall): Promise<void> => {
  const { deliver } = call.options
  await events.redeliver(id)
  if (deliver) await events.deliverDue()
  const event = await events.requireEvent(id)
  if (stateOf(event) === 'failed') throw notDelivered(`${event.type} ${id}`, event.problem)
  const outcome = deliver ? outcomeOf(event) : 'waiting for the running service to send it'
  await call.result(eventToJson(event), `${event.type} ${id}: ${outcome}.`)
}

const redeliverFailed = async ({ webhooks: events, clock }: Core, call: RedeliverCall): Promise<void> => {
  const { since, deliver } = call.options
  const ids = await events.redeliverFailed(since === undefined ? 0 : Math.max(0, clock.now() - since))
  const count = countText(ids.length, 'failed event')
  if (!deliver) return call.result({ redelivered: ids.length }, `${count} ${leftToServiceText(ids.length)}.`)
  await events.deliverDue()
  const states = { delivered: 0, waiting: 0, failed: 0 }
  for (const id of ids) states[stateOf(await events.requireEvent(id))] += 1
  const { delivered, waiting, failed } = states
  await call.result(
    { redelivered: ids.length, ...states },
    `${count} sent again: ${delivered} delivered, ${waiting} waiting, ${failed} failed.`,
  )
  if (failed > 0)
    throw new AppError('unavailable', `${countText(failed, 'event')} failed again: svc webhooks list shows which`)
}

const leftToServiceText = (count: number): string =>
  count === 0 ? 'to send again' : `${count === 1 ? 'is' : 'are'} sent again by the running service`

const test = command({
  text: 'send an event of type webhook.test, about no user',
  examples: ['svc webhooks test'],
  async run({ json, loadConfig, withCore }) {
    const config = loadConfig()
    requireWebhooks(config)
    const url = redactUrl(config.webhookUrl ?? '')
    await withCore(async ({ core }) => {
      const { status, problem } = await core.webhooks.sendTest()
      if (json) await printJson({ url, delivered: problem === null, status, problem })
      if (problem !== null) throw notDelivered(`webhook.test to ${url}`, problem)
      if (!json) await print(`webhook.test to ${url}: delivered (${status}).\n`)
    }, config)
  },
})

export const webhooks = group({
  text: 'list events, send them again, test the endpoint',
  examples: ['svc webhooks list', 'svc webhooks redeliver --failed --since 24h', 'svc webhooks test'],
  commands: { list, show, redeliver, test },
})
