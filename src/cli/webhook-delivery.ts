import type { Config } from '../config/config.ts'
import { AppError } from '../lib/errors.ts'
import type { OutboxEvent } from '../webhooks/webhooks.ts'
import { outcomeOf } from './event-output.ts'
import { printNotice } from './terminal/output.ts'
import type { Core } from './with-core.ts'

/** An event that was just written is among this many latest events. */
const LATEST = 500

/** Throws `invalid_request` when webhooks are off, before a command changes anything. */
export const requireWebhooks = ({ webhookUrl }: Config): void => {
  if (webhookUrl) return
  throw new AppError('invalid_request', 'webhooks are off: set SVC_WEBHOOK_URL and SVC_WEBHOOK_SECRET')
}

export const notDelivered = (what: string, problem: string | null): AppError =>
  new AppError('unavailable', `${what} was not delivered: ${problem}`)

/** Delivers all events that are due, and prints the outcome of this one to stderr. */
export const deliverNow = async ({ webhooks }: Core, { type, userId }: Pick<OutboxEvent, 'type' | 'userId'>) => {
  const latest = await webhooks.list(LATEST)
  const event = latest.find((each) => each.userId === userId && each.type === type)
  if (!event) {
    printNotice(`${type} is not among SVC_WEBHOOK_ENABLED_EVENTS, so nothing was sent`)
    return
  }
  await webhooks.deliverDue()
  printNotice(`webhook ${event.id} (${type}): ${outcomeOf(await webhooks.requireEvent(event.id))}`)
}
