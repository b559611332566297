import { type HtmlFragment, html } from '../../lib/html.ts'
import { toTimestamp } from '../../lib/time.ts'
import type { Layout } from '../site/layout.ts'
import { operatorDetails } from '../site/support.ts'
import { texts } from '../site/texts.ts'

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
<li>${texts.loopIssuer} <code>${issuer}</code></li>
<li>${texts.loopClock} <code>${toTimestamp(nowMs)}</code></li>
<li>${texts.loopKeys}</li>
<li>${texts.loopCookie}</li>
<li>${texts.loopOutage}</li>
</ul>`

/**
 * Creates the page that ends a redirect loop between the application and the login page. It shows the cause, and links
 * to go on.
 */
export const createRedirectLoopPage =
  (layout: Layout) =>
  (view: RedirectLoopView): string =>
    layout.panel({
      title: texts.loop,
      sign: 'warning',
      below: html`<a href="/auth/account">${texts.account}</a> · <a href="/auth/logout">${texts.logOut}</a>`,
      requestId: view.requestId,
      body: html`<p>${texts.loopAbout(layout.appName)} <b>${view.email}</b>.</p>
<p>${layout.support.text(texts.loopAdvice(layout.appName))}</p>
<a class="first" href="${view.returnTo}">${texts.loopTryAgain}</a>
${operatorDetails(html`<p>${texts.loopDetailsAbout} <code>${view.returnTo}</code></p>
<p>${texts.loopCauses}</p>
${causes(view)}`)}`,
    })
