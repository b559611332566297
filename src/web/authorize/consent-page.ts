import type { Client } from '../../clients/client.ts'
import { YEAR_MS } from '../../clients/grant.ts'
import { kindOfRedirect } from '../../clients/redirect-uri.ts'
import type { FormView } from '../../http/form-view.ts'
import { unitText, waitText } from '../../languages/formats.ts'
import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { bold } from '../site/bold.ts'
import { csrfInput, returnToInput } from '../site/form.ts'
import { icon } from '../site/icon.ts'
import type { Layout } from '../site/layout.ts'
import { hostOf } from '../site/client-words.ts'

export interface ConsentView extends FormView {
  /** Only the first asks for everything; the other is one button for a client that the operator vouches for. */
  kind: 'consent' | 'continue'
  client: Pick<Client, 'id' | 'kind' | 'name'>
  redirectUri: string
  email: string
  scopes: readonly string[]
  /** It says for how long. */
  lasts: string
  /** The tokens are for this. */
  resource: string | undefined
  /** The form brings this sealed text back. */
  request: string
  /** The user comes back there after a login to another account. */
  returnTo: string
}

/** Names where a redirect leads, as its user knows it, and says that it leads there. */
const placeOf = (redirectUri: string): { name: string; leadsTo: HtmlFragment | string } => {
  const kind = kindOfRedirect(redirectUri)
  if (kind === 'loopback') return { name: t('authorize.program'), leadsTo: t('authorize.leads_to_program') }
  const [host, scheme] = [hostOf(redirectUri), new URL(redirectUri).protocol]
  return kind === 'https'
    ? { name: host, leadsTo: t.html('authorize.leads_to_host', { host: bold(host) }) }
    : {
        name: t('authorize.program_with_scheme', { scheme }),
        leadsTo: t('authorize.leads_to_program_with_scheme', { scheme }),
      }
}

/** The host is larger than the name, which anybody can choose. */
const asker = ({ client, redirectUri }: ConsentView): HtmlFragment => {
  const place = placeOf(redirectUri)
  const own = client.kind === 'document' ? hostOf(client.id) : place.name
  return html`<div class="asker">
${icon('app')}<div>
<p class="host">${own}</p>
<p class="about">${t.html('authorize.calls_itself', { name: html`<bdi>${client.name}</bdi>` })}</p>
${
  own !== place.name &&
  html`<p class="about">${place.leadsTo}</p>
`
}</div>
</div>
${
  client.kind !== 'operator' &&
  html`<p class="box note">${t('authorize.unchecked')}</p>
`
}`
}

const scopeList = ({ scopes, resource }: ConsentView): HtmlFragment =>
  html`${
    scopes.length > 0
      ? html`<h2>${resource === undefined ? t('authorize.will_be_able') : t('authorize.will_be_able_at', { host: hostOf(resource) })}</h2>
<ul class="ends">
${scopes.map(
  (scope) => html`<li>${scope}</li>
`,
)}</ul>`
      : html`<p>${t('authorize.no_scopes')}</p>
${resource !== undefined && html`<p>${t.html('authorize.resource', { host: html`<b>${hostOf(resource)}</b>` })}</p>`}`
  }`

/**
 * The script of the pages lets the first button wait, so that nobody presses it by mistake. While it
 * waits, it can be reached, and says so.
 */
const buttons = ({ kind, email, csrfToken, request, returnTo }: ConsentView): HtmlFragment =>
  html`<form method="post" action="/auth/oauth2/consent">
${csrfInput(csrfToken)}<input type="hidden" name="request" value="${request}">${returnToInput(returnTo)}
<button class="svc-button first" name="allow" value="1" data-waits="2000" data-tells="wait">${kind === 'consent' ? t('authorize.allow') : t('authorize.continue_as', { email })}</button>
<button class="svc-button second" name="allow" value="0">${t('authorize.cancel')}</button>
<p class="unseen" id="wait" role="status" data-wait="${t('authorize.wait')}" data-ready="${t('authorize.ready')}"></p>
</form>`

const notYou = ({ csrfToken, returnTo }: ConsentView): HtmlFragment =>
  html`<form method="post" action="/auth/logout">
${csrfInput(csrfToken)}<input type="hidden" name="return_to" value="${returnTo}"><button class="link">${t('authorize.not_you')}</button>
</form>`

/** Creates the page that asks a user whether a client may have what it asks for. */
export const createConsentPage =
  (layout: Layout) =>
  (view: ConsentView): string => {
    const { kind, email, problem } = view
    const who = html`<p>${t.html('common.logged_in_as', { email: html`<b>${email}</b>` })}</p>
${notYou(view)}`
    return layout.panel({
      title: kind === 'consent' ? t('authorize.title', { app: layout.appName }) : t('authorize.continue_title'),
      problem,
      wrong: Boolean(problem),
      focusesProblem: true,
      body: html`${asker(view)}
${
  kind === 'consent' &&
  html`<div class="allowed">${scopeList(view)}
<p>${view.lasts}</p>
</div>`
}
<div class="for">${who}</div>
${buttons(view)}`,
    })
  }

const DAY_MS = 86_400_000

/** Says how long what is allowed lasts. Whole days are said as days, and a part of one in hours or less. */
export const lifeInWords = (endsWithSession: boolean, idleMs: number): string => {
  if (endsWithSession) return t('authorize.lasts_session')
  if (idleMs >= YEAR_MS) return t('authorize.lasts_year')
  const duration = idleMs < 2 * DAY_MS ? waitText(idleMs / 1000) : unitText(Math.ceil(idleMs / DAY_MS), 'day')
  return t('authorize.lasts', { duration })
}
