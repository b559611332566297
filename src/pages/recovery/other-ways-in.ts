import { type HtmlFragment, html } from '../../lib/html.ts'
import { csrfInput, returnToInput } from '../form.ts'
import type { Layout } from '../layout.ts'
import { passkeyIcon } from '../passkey-icon.ts'
import { passkeyTexts } from '../passkey-texts.ts'
import { providerIcon } from '../provider-buttons.ts'
import type { LinkedView } from '../provider-views.ts'
import { accountLinks } from '../sign-in-links.ts'
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

type ShownPasskey = OtherWaysInView['passkeys'][number]

const passkeyRow = ({ id, name, addedAtMs, removable }: ShownPasskey, hiddenInputs: HtmlFragment): HtmlFragment =>
  html`<li>${passkeyIcon}
<div>
<p>${passkeyTexts.passkey} <b>${name}</b></p>
<p class="about">${passkeyTexts.added} ${dayOf(addedAtMs)}${
    !removable &&
    html`<br>
${passkeyTexts.onlyWayIn}`
  }</p>
</div>
${
  removable &&
  html`<form method="post" action="/auth/account/passkeys">
${hiddenInputs}<input type="hidden" name="passkey_id" value="${id}">
<button class="second" name="remove" value="1" aria-label="${passkeyTexts.removeOf(name)}">${passkeyTexts.remove}</button>
</form>
`
}</li>
`

/**
 * The page after a reset: what else gets into the account, with a button to remove each. Who had the old password may
 * have connected something.
 */
export const createOtherWaysInPage = (layout: Layout) => {
  const words = resetTextsOf(layout)
  return ({ csrfToken, returnTo, linked, passkeys }: OtherWaysInView): string => {
    const own = `/auth/account/ways-in?return_to=${encodeURIComponent(returnTo.toWellFormed())}`
    const hiddenInputs = html`${csrfInput(csrfToken)}${returnToInput(own)}`
    return layout.panel({
      title: words.waysIn,
      below: accountLinks(),
      body: html`<p>${words.waysInAbout}</p>
${
  linked.length > 0 &&
  html`<form method="post" action="/auth/account/identities">
${hiddenInputs}
<ul class="sessions logins">
${linked.map(row)}</ul>
</form>
`
}${
  passkeys.length > 0 &&
  html`<ul class="sessions logins">
${passkeys.map((passkey) => passkeyRow(passkey, hiddenInputs))}</ul>
`
}<a class="first" href="${returnTo}">${words.goOn}</a>`,
    })
  }
}
