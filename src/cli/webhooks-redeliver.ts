import { type Command, InvalidArgumentError } from 'commander'
import { AppError } from '../lib/errors.ts'
import { parseDuration } from '../lib/time.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { eventToJson, outcomeOf, stateOf } from './event-output.ts'
import { print, printJson } from './terminal/output.ts'
import { notDelivered, requireWebhooks } from './webhook-delivery.ts'
import { type Core, withCore } from './with-core.ts'

interface RedeliverOptions extends JsonOption {
  failed?: boolean
  /** Milliseconds. */
  since?: number
  deliver?: boolean
}

/** `svc webhooks redeliver` */
export const addWebhooksRedeliver = (webhooks: Command, { loadConfig }: CommandContext): void => {
  const redeliver = addCommand(webhooks, 'redeliver [id]', 'send one event or all failed events again', [
    'svc webhooks redeliver 019e6f3c-7f0a-7c11-a1b2-3c4d5e6f7a8b',
    'svc webhooks redeliver 019e6f3c-7f0a-7c11-a1b2-3c4d5e6f7a8b --deliver',
    'svc webhooks redeliver --failed --since 24h',
  ])
    .option('--failed', 'send every event that was given up, the oldest first')
    .option(
      '--since <duration>',
      'with --failed: only events that were given up within this time, such as 24h',
      parseSince,
    )
    .option('--deliver', 'deliver from this command, not from the running service')
    .addHelpText('after', '\nEvents keep their ids, and the history of their attempts: svc webhooks show ID.')
  withJson(redeliver).action(async (id: string | undefined, options: RedeliverOptions) => {
    const usageError = findUsageError(id, options)
    if (usageError) redeliver.error(`error: ${usageError}`)
    const config = loadConfig()
    requireWebhooks(config)
    await withCore(config, (core) =>
      id === undefined ? redeliverFailed(core, options) : redeliverOne(core, id, options),
    )
  })
}

const parseSince = (text: string): number => {
  const ms = parseDuration(text)
  if (ms !== undefined && ms >= 1 && ms <= Number.MAX_SAFE_INTEGER) return Math.round(ms)
  throw new InvalidArgumentError('It must be a duration such as 30m, 24h or 1h30m.')
}

const findUsageError = (id: string | undefined, { failed, since }: RedeliverOptions): string | undefined => {
  if (id !== undefined && failed) return 'give the id of an event or --failed, not both'
  if (id === undefined && !failed) return 'give the id of an event, or --failed'
  return since !== undefined && !failed ? '--since needs --failed' : undefined
}

const redeliverOne = async ({ webhooks }: Core, id: string, { deliver, json }: RedeliverOptions): Promise<void> => {
  await webhooks.redeliver(id)
  if (deliver) await webhooks.deliverDue()
  const event = await webhooks.requireEvent(id)
  if (stateOf(event) === 'failed') throw notDelivered(`${event.type} ${id}`, event.problem)
  await (json
    ? printJson(eventToJson(event))
    : print(`${event.type} ${id}: ${deliver ? outcomeOf(event) : LEFT_TO_SERVICE}.\n`))
}

const LEFT_TO_SERVICE = 'waiting for the running service to send it'

const redeliverFailed = async (core: Core, { since, deliver, json }: RedeliverOptions): Promise<void> => {
  const { webhooks, clock } = core
  const ids = await webhooks.redeliverFailed(since === undefined ? 0 : Math.max(0, clock.now() - since))
  if (!deliver) {
    await (json
      ? printJson({ redelivered: ids.length })
      : print(`${countText(ids.length)} ${leftToServiceText(ids.length)}.\n`))
    return
  }
  await webhooks.deliverDue()
  const states = await countStates(core, ids)
  const { delivered, waiting, failed } = states
  if (json) await printJson({ redelivered: ids.length, ...states })
  else
    await print(`${countText(ids.length)} sent again: ${delivered} delivered, ${waiting} waiting, ${failed} failed.\n`)
  if (failed === 0) return
  const events = failed === 1 ? 'event' : 'events'
  throw new AppError('unavailable', `${failed} ${events} failed again: svc webhooks list shows which`)
}

const countText = (count: number): string => `${count} failed ${count === 1 ? 'event' : 'events'}`

const leftToServiceText = (count: number): string =>
  count === 0 ? 'to send again' : `${count === 1 ? 'is' : 'are'} sent again by the running service`

const countStates = async ({ webhooks }: Core, ids: string[]) => {
  const counts = { delivered: 0, waiting: 0, failed: 0 }
  for (const id of ids) counts[stateOf(await webhooks.requireEvent(id))] += 1
  return counts
}
