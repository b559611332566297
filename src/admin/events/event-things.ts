import type { AuditRow } from '../../audit/audit.ts'
import { html } from '../../lib/html.ts'
import type { AdminContext } from '../http/context.ts'
import { ago } from '../site/parts.ts'
import { detailsText, happened, originText } from './event-text.ts'

interface Shown {
  nowMs: number
  /** True: the list is about one user, who need not be named in each. */
  isOfUser: boolean
  emailOf?: (userId: string) => string | undefined
}

/** Makes the items of a list of records. */
export const eventThings = (context: AdminContext, rows: readonly AuditRow[], { nowMs, isOfUser, emailOf }: Shown) =>
  rows.map((row) => {
    const { userId, requestId } = row
    const { webhook_id: webhook, message_id: message, ...details } = JSON.parse(row.details) as Record<string, unknown>
    const user =
      userId !== undefined &&
      !isOfUser &&
      html` <a href="${context.at(`/users/${userId}`)}">${emailOf?.(userId) ?? userId}</a>`
    const request =
      requestId !== undefined &&
      html`<a href="${context.at(`/events?request=${requestId}`)}" aria-label="All of request ${requestId}">request</a>`
    const delivery =
      typeof webhook === 'string'
        ? html`<a href="${context.at(`/deliveries/webhooks/${webhook}`)}">webhook</a>`
        : typeof message === 'string' && html`<a href="${context.at(`/deliveries/messages/${message}`)}">message</a>`
    const about = [
      html`<bdi>${detailsText(row.type, details)}</bdi>`,
      html`<bdi>${originText(row)}</bdi>`,
      delivery,
      request,
    ]
    const said = about.filter((part) => part && part.toString() !== '<bdi></bdi>')
    return {
      title: html`<b>${happened(row.type)}</b>${user}`,
      about: html`${said.map((part, index) => html`${index > 0 && ' · '}${part}`)}`,
      when: ago(row.atMs, nowMs),
    }
  })
