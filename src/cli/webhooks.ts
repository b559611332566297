import type { Command } from 'commander'
import { addCommand } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { addWebhooksList } from './webhooks-list.ts'
import { addWebhooksRedeliver } from './webhooks-redeliver.ts'
import { addWebhooksShow } from './webhooks-show.ts'
import { addWebhooksTest } from './webhooks-test.ts'

/** `svc webhooks`: the commands about webhook events. */
export const addWebhooks = (program: Command, context: CommandContext): void => {
  const webhooks = addCommand(program, 'webhooks', 'list events, send them again, test the endpoint', [
    'svc webhooks list',
    'svc webhooks redeliver --failed --since 24h',
    'svc webhooks test',
  ])
  addWebhooksList(webhooks, context)
  addWebhooksShow(webhooks, context)
  addWebhooksRedeliver(webhooks, context)
  addWebhooksTest(webhooks, context)
}
