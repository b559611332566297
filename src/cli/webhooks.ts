import { type Command, InvalidArgumentError } from 'commander'
import { shownUrl } from '../lib/shown-url.ts'
import type { CommandContext } from './command-context.ts'
import { notDelivered, type OutboxEvent, requireWebhooks } from './delivery.ts'
import { addCommand, type JsonOption, withJson } from './help.ts'
import { print, printJson, printList } from './terminal/output.ts'
import { addRedeliver } from './webhooks-redeliver.ts'
import { addShow, EVENT_COLUMNS, eventToJson } from './webhooks-show.ts'
import { withCore } from './with-core.ts'

const LISTED = 50
const MOST_LISTED = 10_000

interface ListOptions extends JsonOption {
  limit: number
}

/** `svc webhooks`: what the application was told. */
export const addWebhooks = (program: Command, context: CommandContext): void => {
  const webhooks = addCommand(program, 'webhooks', 'list events, send them again, test the endpoint', [
    'svc webhooks list',
    'svc webhooks redeliver --failed --since 24h',
    'svc webhooks test',
  ])
  addList(webhooks, context)
  addShow(webhooks, context)
  addRedeliver(webhooks, context)
  addTest(webhooks, context)
}

const addList = (webhooks: Command, { loadConfig }: CommandContext): void => {
  const list = addCommand(webhooks, 'list', 'list events and what became of them, the newest first', [
    'svc webhooks list',
    'svc webhooks list --limit 500 --json | jq ".[] | select(.state == \\"failed\\") | .id"',
  ]).option('--limit <count>', 'how many at most', readLimit, LISTED)
  withJson(list).action(({ limit, json }: ListOptions) =>
    withCore(loadConfig(), async ({ webhooks: events }) => {
      const latest = await events.list(limit)
      const attempts = Map.groupBy(json ? await events.listAttempts(limit) : [], ({ eventId }) => eventId)
      const toJson = (event: OutboxEvent) => eventToJson(event, attempts.get(event.id) ?? [])
      await printList([latest], { columns: EVENT_COLUMNS, toJson, empty: 'there are no webhook events' }, json)
    }),
  )
}

const readLimit = (text: string): number => {
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= MOST_LISTED) return limit
  throw new InvalidArgumentError(`It is a whole number from 1 to ${MOST_LISTED}.`)
}

const addTest = (webhooks: Command, { loadConfig }: CommandContext): void => {
  const test = addCommand(webhooks, 'test', 'send an event of type webhook.test, about no user', ['svc webhooks test'])
  withJson(test).action(async ({ json }: JsonOption) => {
    const config = loadConfig()
    requireWebhooks(config)
    const url = shownUrl(config.webhookUrl ?? '')
    await withCore(config, async (core) => {
      const { status, problem } = await core.webhooks.test()
      if (json) await printJson({ url, delivered: problem === null, status, problem })
      if (problem !== null) throw notDelivered(`webhook.test to ${url}`, problem)
      if (!json) await print(`webhook.test to ${url}: delivered (${status}).\n`)
    })
  })
}
