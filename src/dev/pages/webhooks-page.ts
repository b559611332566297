import { type HtmlFragment, html } from '../../lib/html.ts'
import type { Layout } from '../../web/site/layout.ts'
import type { ReceivedWebhook } from '../webhook-receiver.ts'
import { devPage, panel, row, sendButton } from './dev-page.ts'

const AT = '/auth/dev/webhooks'

/** `passOnTo` is the receiver of the application, if there is one. */
export const webhooksPage = (
  layout: Layout,
  webhooks: readonly ReceivedWebhook[],
  passOnTo: string | undefined,
): string =>
  devPage(layout, {
    title: 'Webhooks',
    at: AT,
    follows: { type: 'webhook', lastId: webhooks.at(-1)?.id },
    body: html`<p class="about">${passOnTo === undefined ? 'Events arrive here. Start svc dev with --webhook to pass them on to the application.' : html`Events arrive here, and are passed on to ${passOnTo}.`}</p>
${panel(webhooks.toReversed().map(listed), 'There is no event yet. Create, change or delete a user.')}`,
  })

const listed = (webhook: ReceivedWebhook): HtmlFragment => {
  const { id, event, headers, body, passedOn } = webhook
  return row(
    html`<details>
<summary class="link"><b>${event.type}</b></summary>
<pre>${JSON.stringify(JSON.parse(body), null, 2)}</pre>
<pre>${Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`)}</pre>
</details>
<span class="about">User ${event.data.user_id}${passedOn && html` · ${passedOnText(passedOn)}`}</span>`,
    sendButton('Send again', { to: `${AT}/${id}/send`, next: AT }),
  )
}

export const passedOnText = ({ status, problem }: NonNullable<ReceivedWebhook['passedOn']>): string =>
  problem === undefined ? `the application answered ${status}` : `the application did not answer (${problem})`
