import { type HtmlFragment, html } from '../lib/html.ts'
import type { SectionId } from './account-done.ts'
import { csrfInput } from './form.ts'
import { intentInput, providerButtons, providerIcon } from './provider-buttons.ts'
import { texts } from './texts.ts'
import { dayOf } from './time-text.ts'
import type { LinkedView, SignInView } from './views.ts'

/** Re-authentication, and back to the section. */
export const confirmHref = (section: SectionId): string =>
  `/auth/account/confirm?return_to=${encodeURIComponent(`/auth/account#${section}`)}`

/** Replaces a form that needs re-authentication: a link to it that names the purpose. */
export const confirmLink = (section: SectionId, words: string): HtmlFragment =>
  html`<p><a href="${confirmHref(section)}">${words}</a></p>`

const gate = (): HtmlFragment => html`<div class="gate">
<p>${texts.confirmFirst.waysIn}</p>
<a class="second" href="${confirmHref('ways-in')}">${texts.confirm}</a>
</div>`

const passwordRow = (
  hasPassword: boolean,
  iconUrl: string,
): HtmlFragment => html`<li>${providerIcon(texts.password, iconUrl)}
<div>
<p><b>${texts.password}</b></p>
<p class="about">${hasPassword ? texts.passwordSet : texts.passwordNotSet}</p>
</div>
</li>
`

const removeButton = ({ id, label, email }: LinkedView): HtmlFragment =>
  html`<button class="second" name="identity_id" value="${id}" aria-label="${texts.disconnectOf(label, email)}">${texts.disconnect}</button>
`

const linkedRow = (
  linked: LinkedView,
  isRecentlyAuthenticated: boolean,
): HtmlFragment => html`<li>${providerIcon(linked.label, linked.iconUrl)}
<div>
<p><b>${linked.label}</b></p>
<p class="about">${
  linked.email &&
  html`${linked.email}<br>
`
}${texts.connectedSince} ${dayOf(linked.linkedAtMs)}${
  !linked.removable &&
  html`<br>
${texts.onlyWayIn}`
}</p>
</div>
${isRecentlyAuthenticated && linked.removable && removeButton(linked)}</li>
`

const list = ({ hasPassword, isRecentlyAuthenticated, linked }: SignInView, passwordIconUrl: string): HtmlFragment =>
  html`<ul class="sessions logins">
${hasPassword !== undefined && passwordRow(hasPassword, passwordIconUrl)}${linked.map((one) => linkedRow(one, isRecentlyAuthenticated))}</ul>`

/** The ways to sign in: one form with a button to disconnect each provider, and buttons to connect the others. */
export const signInSection = (csrfToken: string, signIn: SignInView, passwordIconUrl: string): HtmlFragment => {
  const { isRecentlyAuthenticated, linked, linkable } = signIn
  const isRemovable = linked.some(({ removable }) => removable)
  const rows = list(signIn, passwordIconUrl)
  const form = html`<form method="post" action="/auth/account/identities">
${csrfInput(csrfToken)}
${rows}
</form>`
  const words = texts.connect
  const hiddenInputs = intentInput('link')
  return html`<div class="ways-in">
${isRecentlyAuthenticated && isRemovable ? form : rows}
${isRecentlyAuthenticated && providerButtons({ csrfToken, providers: linkable, hiddenInputs, words })}${
  !isRecentlyAuthenticated && (isRemovable || linkable.length > 0) && gate()
}
</div>`
}
