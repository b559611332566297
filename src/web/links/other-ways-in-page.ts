import { type HtmlFragment, html } from '../../lib/html.ts'
import { resetTextsOf } from '../site/forgot-link.ts'
import { csrfInput, returnToInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { type PasskeyView, passkeyIcon } from '../site/passkey-button.ts'
import { passkeyTexts } from '../site/passkey-texts.ts'
import { type LinkedView, accountLinks, providerIcon } from '../site/providers.ts'
import { texts } from '../site/texts.ts'
import { dayOf } from '../site/time-text.ts'

/** These are the other ways into an account whose password was just reset. */
export interface OtherWaysInView {
  csrfToken: string
  /** The user goes on to this address. */
  returnTo: string
  linked: readonly LinkedView[]
  passkeys: readonly Pick<PasskeyView, 'id' | 'name' | 'addedAtMs' | 'removable'>[]
}

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
<button class="second small" name="identity_id" value="${id}" aria-label="${texts.disconnectOf(label, email)}">${texts.disconnect}</button>
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
<button class="second small" name="remove" value="1" aria-label="${passkeyTexts.removeOf(name)}">${passkeyTexts.remove}</button>
</form>
`
}</li>
`

/**
 * Creates the page after a reset. It shows the other ways into the account, with a button to remove each: a person who
 * had the old password may have connected one.
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
<ul class="entries">
${linked.map(row)}</ul>
</form>
`
}${
  passkeys.length > 0 &&
  html`<ul class="entries">
${passkeys.map((passkey) => passkeyRow(passkey, hiddenInputs))}</ul>
`
}<a class="first" href="${returnTo}">${words.goOn}</a>`,
    })
  }
}
