import type { Config } from '../config/config.ts'
import { AppError } from '../lib/errors.ts'
import { note } from './terminal/output.ts'
import type { Core } from './with-core.ts'

export type OutboxEvent = Awaited<ReturnType<Core['webhooks']['list']>>[number]

/** Among so many latest events, one that was just written is found. */
const LATEST = 500

/** `invalid_request` before anything is done that was to be told of. */
export const requireWebhooks = ({ webhookUrl }: Config): void => {
  if (webhookUrl) return
  throw new AppError('invalid_request', 'webhooks are off: set SVC_WEBHOOK_URL and SVC_WEBHOOK_SECRET')
}

/** What was to arrive and did not. */
export const notDelivered = (what: string, problem: string | null): AppError =>
  new AppError('unavailable', `${what} was not delivered: ${problem}`)

/** What became of an event, in a few words. */
export const outcomeOf = ({ attempts, closedAtMs, deliveredAtMs, status, problem }: OutboxEvent): string => {
  if (deliveredAtMs !== null) return `delivered (${status})`
  if (closedAtMs !== null) return `failed (${problem})`
  if (attempts === 0) return 'waiting'
  return problem === null ? 'under way' : `waiting for another try (${problem})`
}

/** Makes the attempts that are due, this event's among them, and says on stderr what became of it. */
export const deliverNow = async ({ webhooks }: Core, { type, userId }: Pick<OutboxEvent, 'type' | 'userId'>) => {
  const latest = await webhooks.list(LATEST)
  const event = latest.find((each) => each.userId === userId && each.type === type)
  if (!event) {
    note(`${type} is not among SVC_WEBHOOK_ENABLED_EVENTS, so nothing was sent`)
    return
  }
  await webhooks.deliverDue()
  note(`webhook ${event.id} (${type}): ${outcomeOf(await webhooks.find(event.id))}`)
}
