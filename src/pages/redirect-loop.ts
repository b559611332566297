import { type HtmlFragment, html } from '../lib/html.ts'
import { toTimestamp } from '../lib/time.ts'
import type { Layout } from './layout.ts'
import { texts } from './texts.ts'
import type { RedirectLoopView } from './views.ts'

const causes = ({ issuer, nowMs }: RedirectLoopView): HtmlFragment => html`<ul class="ends">
<li>${texts.loopIssuer} <code>${issuer}</code></li>
<li>${texts.loopClock} <code>${toTimestamp(nowMs)}</code></li>
<li>${texts.loopKeys}</li>
<li>${texts.loopCookie}</li>
<li>${texts.loopOutage}</li>
</ul>`

/** The page that ends a redirect loop between the application and the login page: the cause, and links to go on. */
export const createRedirectLoopPage =
  (layout: Layout) =>
  (view: RedirectLoopView): string =>
    layout.panel({
      title: texts.loop,
      below: html`${texts.requestId} <code>${view.requestId}</code>`,
      body: html`<p>${texts.loopAbout(layout.appName)} <b>${view.email}</b>.</p>
<p>${texts.loopAdvice(layout.appName)}</p>
<a class="first" href="${view.returnTo}">${texts.loopTryAgain}</a>
<p class="ways"><a href="/auth/account">${texts.account}</a> <a href="/auth/logout">${texts.logOut}</a></p>
<details>
<summary class="quiet">${texts.loopDetails(layout.appName)}</summary>
<div class="about">
<p>${texts.loopDetailsAbout} <code>${view.returnTo}</code></p>
<p>${texts.loopCauses}</p>
${causes(view)}
</div>
</details>`,
    })
