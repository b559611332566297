import { type HtmlFragment, html } from '../../lib/html.ts'
import type { Layout } from '../../web/site/layout.ts'
import type { ReceivedMessage } from '../mailbox.ts'
import { devPage, panel, row } from './dev-page.ts'

const AT = '/auth/dev/mail'

export const mailListPage = (layout: Layout, messages: readonly ReceivedMessage[]): string =>
  devPage(layout, {
    title: 'Mailbox',
    at: AT,
    follows: { type: 'mail', lastId: messages.at(-1)?.id },
    body: html`<p class="about">Every message that svc sends arrives here, and nowhere else.</p>
${panel(messages.toReversed().map(listed), 'There is no message yet. Sign up, or ask for a new password.')}`,
  })

const listed = ({ id, subject, to, links, codes }: ReceivedMessage): HtmlFragment =>
  row(
    html`<a href="${AT}/${id}"><b>${subject}</b></a> <span class="about">To ${to}</span>`,
    html`<div class="ways">${codes.map(codeButton)}${links.slice(0, 1).map((link) => html`<a class="svc-button second small" href="${link}">Open the link</a>`)}</div>`,
  )

const codeButton = (code: string): HtmlFragment =>
  html`<button class="svc-button second small" type="button" data-copy="${code}"><code>${code}</code></button>
`

const linkRow = (link: string): HtmlFragment => row(html`<a href="${link}">${link}</a>`)

const codeRow = (code: string): HtmlFragment => row(html`<span class="about">Code</span>`, codeButton(code))

export const mailPage = (layout: Layout, message: ReceivedMessage): string =>
  devPage(layout, {
    title: message.subject,
    at: AT,
    body: html`<p class="about">From ${message.from} to ${message.to}</p>
${panel([...message.codes.map(codeRow), ...message.links.map(linkRow)], 'It has no link and no code.')}
<section>
<h2>As a mail program shows it</h2>
<iframe class="svc-card panel" title="The message" src="${AT}/${message.id}/html" sandbox="allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation"></iframe>
</section>
<section>
<h2>As text</h2>
<pre class="svc-card panel">${message.text}</pre>
</section>`,
  })

/**
 * The message has no scripts, no other files and no forms, whatever is in it. Its links open in place of the page around
 * it.
 */
export const MESSAGE_HEADERS = Object.entries({
  'content-security-policy':
    "sandbox allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation; default-src 'none'; " +
    "style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'",
  'x-frame-options': 'SAMEORIGIN',
}).flat()

export const messageDocument = ({ html: body }: ReceivedMessage): string =>
  body.replace(/<head>/i, '<head><base target="_top">')
