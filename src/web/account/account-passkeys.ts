import { type HtmlFragment, html } from '../../lib/html.ts'
import { csrfInput, field } from '../site/form.ts'
import { type PasskeyView, passkeyButton, passkeyIcon } from '../site/passkey-button.ts'
import { passkeyTexts as texts } from '../site/passkey-texts.ts'
import { texts as commonTexts } from '../site/texts.ts'
import { agoOf, dayOf } from '../site/time-text.ts'
import { confirmHref } from './account-sign-in.ts'
import type { PasskeysView, RefusedNameView } from './account-view.ts'

interface Shown {
  csrfToken: string
  nowMs: number
  passkeys: PasskeysView
  refusedPasskeyName?: RefusedNameView | undefined
}

const ACTION = '/auth/account/passkeys'

/** The ID of the field contains the ID of the passkey, since there is one such field for each passkey. */
const nameForm = ({ id, name }: PasskeyView, { csrfToken, refusedPasskeyName: refused }: Shown): HtmlFragment => {
  const own = refused?.id === id ? refused : undefined
  return html`<details${own !== undefined && html` open`}>
<summary class="quiet">${texts.rename}<span class="unseen"> ${name}</span></summary>
<form method="post" action="${ACTION}" novalidate>
${csrfInput(csrfToken)}<input type="hidden" name="passkey_id" value="${id}">
${field({
  id: `name-${id}`,
  name: 'name',
  label: texts.name,
  type: 'text',
  autocomplete: 'off',
  value: own?.name ?? name,
  problem: own?.problem,
  focused: Boolean(own?.problem),
})}
<button class="second">${texts.saveName}</button>
</form>
</details>`
}

const removeForm = ({ id, name }: PasskeyView, csrfToken: string): HtmlFragment =>
  html`<form method="post" action="${ACTION}">
${csrfInput(csrfToken)}<input type="hidden" name="passkey_id" value="${id}">
<button class="second" name="remove" value="1" aria-label="${texts.removeOf(name)}">${texts.remove}</button>
</form>`

const timesOf = ({ addedAtMs, lastUsedAtMs }: PasskeyView, nowMs: number): HtmlFragment =>
  html`${texts.added} ${dayOf(addedAtMs)} · ${
    lastUsedAtMs === undefined ? texts.neverUsed : html`${texts.lastUsed} ${agoOf(lastUsedAtMs, nowMs)}`
  }`

const row = (passkey: PasskeyView, shown: Shown): HtmlFragment => {
  const mayChange = shown.passkeys.isRecentlyAuthenticated
  return html`<li>${passkeyIcon}
<div>
<p><b>${passkey.name}</b></p>
<p class="about">${timesOf(passkey, shown.nowMs)}<br>
${passkey.isSynced ? texts.synced : texts.bound}${
  !passkey.removable &&
  html`<br>
${texts.onlyWayIn}`
}</p>
${mayChange && nameForm(passkey, shown)}</div>
${mayChange && passkey.removable && removeForm(passkey, shown.csrfToken)}</li>
`
}

const explanation = (isOpen: boolean): HtmlFragment =>
  html`<details${isOpen && html` open`}>
<summary class="quiet">${texts.whatOpen}</summary>
<p class="about">${texts.what.join(' ')}</p>
</details>`

const gate = (): HtmlFragment => html`<div class="gate">
<p>${texts.confirmFirst}</p>
<a class="second" href="${confirmHref('passkeys')}">${commonTexts.confirm}</a>
</div>`

/** This line above the sections offers a first passkey. */
export const passkeyOffer = (passkeys: PasskeysView | undefined): HtmlFragment | undefined =>
  passkeys?.isOffered ? html`<p class="about">${texts.offer} <a href="#passkeys">${texts.add}</a></p>` : undefined

/** The section lists the passkeys of the account, explains them, and has the forms that change them. */
export const passkeysSection = (shown: Shown): HtmlFragment => {
  const { csrfToken, passkeys } = shown
  const { list, accepted } = passkeys
  const add = passkeyButton({ kind: 'add', csrfToken })
  return html`<div class="passkeys"${accepted && html` data-passkeys="${JSON.stringify(accepted)}"`}>
${
  list.length > 0 &&
  html`<ul class="sessions logins">
${list.map((one) => row(one, shown))}</ul>
`
}${explanation(list.length === 0)}
${passkeys.isRecentlyAuthenticated ? add : gate()}
</div>`
}
