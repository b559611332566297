import type { SignInView } from '../sign-in/ways-in.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import type { SectionId } from '../site/account-done.ts'
import { deviceName } from '../site/device.ts'
import { csrfInput } from '../site/form.ts'
import { type LinkedView, intentInput, providerButtons, providerIcon } from '../site/providers.ts'
import { secondFactorTexts as words } from '../site/second-factor-texts.ts'
import { texts } from '../site/texts.ts'
import { agoOf, dayOf, momentOf } from '../site/time-text.ts'
import type { AccountView, SecondFactorSectionView, SessionView } from './account-view.ts'

/** The link leads to re-authentication, and from there back to the section. */
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

/** The section has one form with a button to disconnect each provider, and buttons to connect the others. */
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

const PAGE = '/auth/account/second-factor'

const trusted = ({ csrfToken, trustedBrowsers: count }: SecondFactorSectionView): HtmlFragment | undefined =>
  count === 0
    ? undefined
    : html`<form method="post" action="/auth/account/browsers">
${csrfInput(csrfToken)}
<p>${words.trusted(count)}</p>
<button class="second" name="forget_trusted" value="1">${words.forgetTrusted}</button>
</form>`

export const accountSecondFactor = (view: SecondFactorSectionView): HtmlFragment => {
  const { hasApp, recoveryCodes } = view
  return html`${
    hasApp !== undefined &&
    html`<p>${hasApp ? words.appOn : words.appOff}</p>
`
  }${
    recoveryCodes !== undefined &&
    html`<p>${words.recoveryLeft(recoveryCodes)}</p>
`
  }<a class="second" href="${PAGE}">${hasApp === false && recoveryCodes === undefined ? words.setUpTitle : words.manage}</a>
${trusted(view)}`
}

/** Screen readers and lists of buttons name the session, since several of a user can be of the same device. */
const endButton = ({ id, lastSeenAtMs }: SessionView, device: string): HtmlFragment =>
  html`<button class="second" name="session_id" value="${id}">${texts.endSession}<span class="unseen"> ${texts.endSessionOf(device)} ${momentOf(lastSeenAtMs)}</span></button>`

const row = (session: SessionView, nowMs: number): HtmlFragment => {
  const device = deviceName(session.userAgent)
  return html`<li>
<div>
<p><b>${device}</b>${session.current && html` <span class="badge">${texts.thisSession}</span>`}</p>
<p class="about">${texts.lastSeen} ${agoOf(session.lastSeenAtMs, nowMs)} · ${session.address}<br>
${texts.loggedInSince} ${momentOf(session.createdAtMs)}</p>
</div>
${session.current ? undefined : endButton(session, device)}
</li>
`
}

/** The section is one form with a button for each session. */
export const sessionsSection = ({ csrfToken, sessions, moreSessions, nowMs }: AccountView): HtmlFragment =>
  html`<form method="post" action="/auth/account/sessions">
${csrfInput(csrfToken)}
<ul class="sessions">
${sessions.map((session) => row(session, nowMs))}</ul>
${moreSessions > 0 && html`<p class="about">${texts.moreSessions(moreSessions)}</p>`}
${
  sessions.some((session) => !session.current) &&
  html`<button class="second" name="all_others" value="1">${texts.endOtherSessions}</button>`
}
</form>`
