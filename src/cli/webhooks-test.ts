import type { Command } from 'commander'
import { redactUrl } from '../lib/url.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { print, printJson } from './terminal/output.ts'
import { notDelivered, requireWebhooks } from './webhook-delivery.ts'
import { withCore } from './with-core.ts'

/** `svc webhooks test` */
export const addWebhooksTest = (webhooks: Command, { loadConfig }: CommandContext): void => {
  const test = addCommand(webhooks, 'test', 'send an event of type webhook.test, about no user', ['svc webhooks test'])
  withJson(test).action(async ({ json }: JsonOption) => {
    const config = loadConfig()
    requireWebhooks(config)
    const url = redactUrl(config.webhookUrl ?? '')
    await withCore(config, async (core) => {
      const { status, problem } = await core.webhooks.sendTest()
      if (json) await printJson({ url, delivered: problem === null, status, problem })
      if (problem !== null) throw notDelivered(`webhook.test to ${url}`, problem)
      if (!json) await print(`webhook.test to ${url}: delivered (${status}).\n`)
    })
  })
}
