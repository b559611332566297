import type { HttpResponse } from '../../http/response.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import type { OutboxMessage } from '../../mail/mail.ts'
import type { OutboxEvent } from '../../webhooks/webhooks.ts'
import type { AdminContext, AdminForm } from '../http/context.ts'
import type { AdminServices } from '../services.ts'
import { askPage, selectField, readReason } from '../site/ask.ts'
import { ago, actLink, mark, facts, moment, plural, panelSection, things } from '../site/parts.ts'
import { stateBadge, stateOfEvent, stateOfMessage } from './delivery-things.ts'

type Services = Pick<AdminServices, 'clock' | 'mail' | 'site' | 'webhooks'>

const userLink = ({ at }: AdminContext, userId: string | null): HtmlFragment | string =>
  userId === null ? 'none' : html`<a href="${at(`/users/${userId}`)}">${userId}</a>`

const OUTCOMES = { delivered: 'good', retried: 'plain', failed: 'bad', interrupted: 'bad' } as const

/** Shows one webhook with its attempts. */
const createWebhookPage = ({ site, webhooks }: Services) => ({
  async handle(context: AdminContext): Promise<HttpResponse> {
    const { id = '' } = context.parameters
    const event = await webhooks.requireEvent(id)
    const attempts = await webhooks.attemptsOf(id)
    const list = attempts.map(({ number, outcome, endedAtMs, durationMs, status, problem }) => ({
      title: html`Attempt ${number}${mark(outcome, OUTCOMES[outcome])}`,
      about: html`<bdi>${problem ?? `answered ${status}`}</bdi>${durationMs !== null && ` · ${durationMs} ms`}`,
      when: endedAtMs === null ? 'unknown' : moment(endedAtMs),
    }))
    const again = actLink(context, {
      does: 'delivery.send',
      path: `/deliveries/webhooks/${id}/again`,
      text: 'Send again',
    })
    const body = html`<div class="head"><h1>${event.type}${stateBadge(stateOfEvent(event))}</h1>${again}</div>
${facts([
  { name: 'Id', value: html`<code>${event.id}</code>` },
  { name: 'User', value: userLink(context, event.userId) },
  { name: 'Created', value: moment(event.createdAtMs) },
  event.closedAtMs === null && { name: 'Next try', value: html`not before ${moment(event.nextAttemptAtMs)}` },
])}${panelSection('attempts', 'Attempts', things(list, 'There was no attempt yet.'))}`
    return site.page(context, { title: event.type, tab: 'Deliveries', body })
  },
})

/** Shows one message. What it says is not shown, because it may hold a link into an account. */
const createMessagePage = ({ clock, mail, site }: Services) => ({
  async handle(context: AdminContext): Promise<HttpResponse> {
    const { id = '' } = context.parameters
    const message = await mail.requireMessage(id)
    const title = `Message: ${message.purpose.replaceAll('_', ' ')}`
    const again = actLink(context, {
      does: 'delivery.send',
      path: `/deliveries/messages/${id}/again`,
      text: 'Send again',
    })
    const { problem, closedAtMs } = message
    const body = html`<div class="head"><h1>${title}${stateBadge(stateOfMessage(message))}</h1>${message.state !== 'requested' && again}</div>
${facts([
  { name: 'Id', value: html`<code>${message.id}</code>` },
  { name: 'To', value: html`<bdi>${message.recipient ?? '(forgotten)'}</bdi>` },
  { name: 'User', value: userLink(context, message.userId) },
  { name: 'Created', value: moment(message.createdAtMs) },
  { name: 'Attempts', value: message.attempts },
  problem !== null && { name: 'Problem', value: html`<bdi>${problem}</bdi>` },
  closedAtMs === null
    ? { name: 'Next try', value: html`not before ${moment(message.nextAttemptAtMs)}` }
    : { name: 'Ended', value: ago(closedAtMs, clock.now()) },
])}<p class="about">What a message says is not shown: it may hold a link into an account.</p>`
    return site.page(context, { title, tab: 'Deliveries', body })
  },
})

/** Sends one delivery again. */
const createSendAgain = (services: Services, kind: 'webhooks' | 'messages'): AdminForm => ({
  async show(context, refusal) {
    const { id = '' } = context.parameters
    const found: OutboxEvent | OutboxMessage =
      kind === 'webhooks' ? await services.webhooks.requireEvent(id) : await services.mail.requireMessage(id)
    const back = `/deliveries/${kind}/${id}`
    const about = 'type' in found ? found.type : found.purpose
    const ends = ['It is sent once more, with the same id. The running service sends it.']
    return askPage(
      services.site,
      context,
      { tab: 'Deliveries', title: 'Send it again', back, about, ends, button: 'Send it again' },
      refusal,
    )
  },

  async act(context) {
    const { id = '' } = context.parameters
    const caller = context.caller(readReason(context))
    if (kind === 'webhooks') await services.webhooks.redeliver(id, caller)
    else await services.mail.resend(id, caller)
    return context.redirectDone(
      `/deliveries/${kind}/${id}#done`,
      'It waits for the running service, which sends it again.',
    )
  },
})

const HOUR_MS = 3_600_000

const SINCE = [
  ['1', 'the last hour'],
  ['24', 'the last day'],
  ['168', 'the last week'],
  ['', 'all that are kept'],
] as const

/** Sends all again that failed since a time. */
const createSendFailedAgain = (services: Services): AdminForm => ({
  show(context, refusal) {
    const kind = context.query.get('kind') === 'messages' ? 'messages' : 'webhooks'
    const fields = selectField(
      'since',
      `${kind === 'messages' ? 'Messages' : 'Webhooks'} that failed in`,
      SINCE,
      context.form.get('since') ?? '24',
    )
    const ends = [
      'They are sent once more, each with the same id, the oldest first. The running service sends them.',
      kind === 'messages' ? 'Messages whose links are dead, or that were forgotten, are left out.' : undefined,
    ]
    const asked = {
      tab: 'Deliveries',
      title: 'Send failed ones again',
      back: `/deliveries?kind=${kind}`,
      ends,
      fields,
      button: 'Send them again',
    } as const
    return askPage(services.site, context, asked, refusal)
  },

  async act(context) {
    const { webhooks, mail, clock } = services
    const isOfMail = context.query.get('kind') === 'messages'
    const hours = SINCE.find(([value]) => value === context.form.get('since'))?.[0]
    const sinceMs = hours ? Math.max(0, clock.now() - Number(hours) * HOUR_MS) : 0
    const caller = context.caller(readReason(context))
    const count = isOfMail
      ? await mail.resendFailed(sinceMs, caller)
      : (await webhooks.redeliverFailed(sinceMs, caller)).length
    const done = `${plural(count, 'delivery', 'deliveries')} ${count === 1 ? 'waits' : 'wait'} for the running service.`
    return context.redirectDone(isOfMail ? '/deliveries?kind=messages#done' : '/deliveries#done', done)
  },
})

export const createDeliveryPages = (services: Services) => ({
  webhook: createWebhookPage(services),
  message: createMessagePage(services),
  webhookAgain: createSendAgain(services, 'webhooks'),
  messageAgain: createSendAgain(services, 'messages'),
  failedAgain: createSendFailedAgain(services),
})
