import { type HtmlFragment, html } from '../../lib/html.ts'
import type { Layout } from '../../web/site/layout.ts'

/** The files of the pages, beside those of the service. */
export const DEV_STYLE = '/auth/dev/dev.css'
export const DEV_SCRIPT = '/auth/dev/dev.js'

const PLACES = [
  ['/auth/dev', 'Start'],
  ['/auth/dev/mail', 'Mailbox'],
  ['/auth/dev/webhooks', 'Webhooks'],
] as const

interface DevPage {
  title: string
  /** The page is at this address, or below it. */
  at: (typeof PLACES)[number][0]
  /** The page is loaded again when another one than this is the last that has arrived. */
  follows?: { type: 'mail' | 'webhook'; lastId: string | undefined } | undefined
  body: HtmlFragment
}

/** Lays out a page of `svc dev`, as those of an account are. */
export const devPage = (layout: Layout, { title, at, follows, body }: DevPage): string =>
  layout.document({
    title,
    rows: true,
    body: html`<link rel="stylesheet" href="${DEV_STYLE}">
<script src="${DEV_SCRIPT}" defer></script>
<div class="sheet">
<header class="bar">
${layout.brand}
<nav class="ways" aria-label="svc dev">
${PLACES.map(
  ([path, name]) =>
    html`<a href="${path}"${path === at && html` aria-current="page"`}>${name}</a>
`,
)}</nav>
</header>
<main${follows && html` data-follows="${follows.type}" data-last="${follows.lastId ?? ''}"`}>
<h1>${title}</h1>
${body}
</main>
</div>`,
  })

/** A row of a list: a name with its state, and what can be done. */
export const row = (what: HtmlFragment, action?: HtmlFragment): HtmlFragment => html`<li><div class="row">
<div class="what">${what}</div>
${action}</div></li>
`

export const panel = (rows: readonly HtmlFragment[], empty: string): HtmlFragment => html`<div class="svc-card panel">
${
  rows.length === 0
    ? html`<p class="foot">${empty}</p>`
    : html`<ul class="rows">
${rows}</ul>`
}
</div>`

/** A button that sends JSON, as a script does: forms are refused here. `next` is the page to go to. */
export const sendButton = (label: string, { to, body = {}, next }: Sent): HtmlFragment =>
  html`<button class="svc-button second small" type="button" data-send="${to}" data-body="${JSON.stringify(body)}"${next !== undefined && html` data-next="${next}"`}>${label}</button>
`

interface Sent {
  to: string
  body?: object
  next?: string
}
