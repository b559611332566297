import { html } from '../../lib/html.ts'
import type { OutboxMessage } from '../../mail/mail.ts'
import type { OutboxEvent } from '../../webhooks/webhooks.ts'
import type { AdminContext } from '../http/context.ts'
import { ago, mark } from '../site/parts.ts'

type State = 'waiting' | 'failed' | 'delivered' | 'dropped'

const TONES = { waiting: 'plain', failed: 'bad', delivered: 'good', dropped: 'plain' } as const

/** Says how it is with a webhook. */
export const stateOfEvent = ({ closedAtMs, deliveredAtMs }: OutboxEvent): State => {
  if (deliveredAtMs !== null) return 'delivered'
  return closedAtMs === null ? 'waiting' : 'failed'
}

/** Says how it is with a message. */
export const stateOfMessage = ({ state }: OutboxMessage): State => {
  if (state === 'sent') return 'delivered'
  return state === 'requested' ? 'waiting' : state
}

export const stateBadge = (state: State) => mark(state, TONES[state])

export const eventThing = (context: AdminContext, event: OutboxEvent, nowMs: number) => ({
  title: html`<a href="${context.at(`/deliveries/webhooks/${event.id}`)}">${event.type}</a>${stateBadge(stateOfEvent(event))}`,
  about: html`<bdi>${event.problem ?? undefined}</bdi>`,
  when: ago(event.createdAtMs, nowMs),
})

export const messageThing = (context: AdminContext, message: OutboxMessage, nowMs: number) => ({
  title: html`<a href="${context.at(`/deliveries/messages/${message.id}`)}">Message: ${message.purpose.replaceAll('_', ' ')}</a>${stateBadge(stateOfMessage(message))}`,
  about: html`to <bdi>${message.recipient ?? '(forgotten)'}</bdi>${message.problem !== null && html` · <bdi>${message.problem}</bdi>`}`,
  when: ago(message.createdAtMs, nowMs),
})
