import type { Command } from 'commander'
import { toTimestamp } from '../lib/time.ts'
import type { DeliveryAttempt, OutboxEvent } from '../webhooks/webhooks.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { ATTEMPT_COLUMNS, attemptToJson, eventToJson, outcomeOf } from './event-output.ts'
import { print, printJson, printList, printRecord } from './terminal/output.ts'
import { withCore } from './with-core.ts'

/** `svc webhooks show` */
export const addWebhooksShow = (webhooks: Command, { loadConfig }: CommandContext): void => {
  const show = addCommand(webhooks, 'show <id>', 'show an event with the result of each delivery attempt', [
    'svc webhooks show 019e6f3c-7f0a-7c11-a1b2-3c4d5e6f7a8b',
  ])
  withJson(show).action((id: string, { json }: JsonOption) =>
    withCore(loadConfig(), async ({ webhooks: events }) => {
      const event = await events.requireEvent(id)
      const attempts = await events.attemptsOf(id)
      await (json ? printJson(eventToJson(event, attempts)) : printEvent(event, attempts))
    }),
  )
}

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
