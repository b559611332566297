import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { toTimestamp } from '../../lib/time.ts'
import type { Layout } from '../site/layout.ts'
import { operatorDetails } from '../site/support.ts'

/** The application refuses the session of a signed-in user, and redirects to the login page again and again. */
export interface RedirectLoopView {
  email: string
  /** This is the path and query of the application that redirects. */
  returnTo: string
  /** This is the `iss` of access tokens. */
  issuer: string
  nowMs: number
  requestId: string
}

const causes = ({ issuer, nowMs }: RedirectLoopView): HtmlFragment => html`<ul class="ends">
<li>${t.html('redirect_loop.issuer', { issuer: html`<code>${issuer}</code>` })}</li>
<li>${t.html('redirect_loop.clock', { time: html`<code>${toTimestamp(nowMs)}</code>` })}</li>
<li>${t('redirect_loop.keys')}</li>
<li>${t('redirect_loop.cookie')}</li>
<li>${t('redirect_loop.outage')}</li>
</ul>`

/**
 * Creates the page that ends a redirect loop between the application and the login page. It shows the cause, and links
 * to go on.
 */
export const createRedirectLoopPage =
  (layout: Layout) =>
  (view: RedirectLoopView): string =>
    layout.panel({
      title: t('redirect_loop.title'),
      sign: 'warning',
      below: html`<a href="/auth/account">${t('account.title')}</a> · <a href="/auth/logout">${t('logout.button')}</a>`,
      requestId: view.requestId,
      body: html`<p>${t.html('redirect_loop.about', { app: layout.appName, email: html`<b>${view.email}</b>` })}</p>
<p>${t.html('redirect_loop.advice', { app: layout.appName, support: layout.support.sentence() })}</p>
<a class="svc-button first" href="${view.returnTo}">${t('redirect_loop.try_again')}</a>
${operatorDetails(html`<p>${t.html('redirect_loop.details', { address: html`<code>${view.returnTo}</code>` })}</p>
<p>${t('redirect_loop.causes')}</p>
${causes(view)}`)}`,
    })
