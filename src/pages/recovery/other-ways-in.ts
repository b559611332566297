import { type HtmlFragment, html } from '../../lib/html.ts'
import { csrfInput, returnToInput } from '../form.ts'
import type { Layout } from '../layout.ts'
import { providerIcon } from '../provider-buttons.ts'
import type { LinkedView } from '../provider-views.ts'
import { texts } from '../texts.ts'
import { dayOf } from '../time-text.ts'
import { resetTextsOf } from './reset-texts.ts'
import type { OtherWaysInView } from './views.ts'

const row = ({ id, label, iconUrl, email, linkedAtMs }: LinkedView): HtmlFragment =>
  html`<li>${providerIcon(label, iconUrl)}
<div>
<p><b>${label}</b></p>
<p class="about">${
    email &&
    html`${email}<br>
`
  }${texts.connectedSince} ${dayOf(linkedAtMs)}</p>
</div>
<button class="second" name="identity_id" value="${id}" aria-label="${texts.disconnectOf(label, email)}">${texts.disconnect}</button>
</li>
`

/**
 * The page after a reset: what else gets into the account, with a button to remove each. Who had the old password may
 * have connected something.
 */
export const createOtherWaysInPage = (layout: Layout) => {
  const words = resetTextsOf(layout)
  return ({ csrfToken, returnTo, linked }: OtherWaysInView): string =>
    layout.panel({
      title: words.waysIn,
      body: html`<p>${words.waysInAbout}</p>
<form method="post" action="/auth/account/identities">
${csrfInput(csrfToken)}${returnToInput(`/auth/account/ways-in?return_to=${encodeURIComponent(returnTo.toWellFormed())}`)}
<ul class="sessions logins">
${linked.map(row)}</ul>
</form>
<a class="first" href="${returnTo}">${words.goOn}</a>`,
    })
}
