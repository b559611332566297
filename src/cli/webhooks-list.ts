import type { Command } from 'commander'
import type { OutboxEvent } from '../webhooks/webhooks.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { EVENT_COLUMNS, eventToJson } from './event-output.ts'
import { parseLimit } from './parse-limit.ts'
import { printList } from './terminal/output.ts'
import { withCore } from './with-core.ts'

const DEFAULT_LIMIT = 50

interface ListOptions extends JsonOption {
  limit: number
  failed?: boolean
}

/** `svc webhooks list` */
export const addWebhooksList = (webhooks: Command, { loadConfig }: CommandContext): void => {
  const list = addCommand(webhooks, 'list', 'list events and their state, the newest first', [
    'svc webhooks list',
    'svc webhooks list --failed --limit 500 --json | jq -r ".[].id"',
  ])
    .option('--limit <count>', 'maximum number of events', parseLimit, DEFAULT_LIMIT)
    .option('--failed', 'only events that were given up')
  withJson(list).action(({ limit, failed, json }: ListOptions) =>
    withCore(loadConfig(), async ({ webhooks: events }) => {
      const latest = await events.list(limit, failed)
      const attempts = Map.groupBy(json ? await events.listAttempts(limit, failed) : [], ({ eventId }) => eventId)
      const toJson = (event: OutboxEvent) => eventToJson(event, attempts.get(event.id) ?? [])
      const empty = `there are no ${failed ? 'failed ' : ''}webhook events`
      await printList([latest], { columns: EVENT_COLUMNS, toJson, empty }, json)
    }),
  )
}
