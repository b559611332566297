import { type HtmlFragment, html } from '../lib/html.ts'
import { activitySection } from './account-activity.ts'
import { accountEmail } from './account-email.ts'
import { isReview, noticeOf, messageSectionOf } from './account-message.ts'
import { accountSecondFactor } from './account-second-factor.ts'
import { deletionForm, type Focus, firstPasswordForm, focusOf, passwordForm, usernameForm } from './account-forms.ts'
import { contents, type Section, section } from './account-section.ts'
import { sessionsSection } from './account-sessions.ts'
import { passkeyOffer, passkeysSection } from './account-passkeys.ts'
import { confirmLink, signInSection } from './account-sign-in.ts'
import { csrfInput, formProblem } from './form.ts'
import type { Layout } from './layout.ts'
import { passkeyTexts } from './passkey-texts.ts'
import { forgotLink } from './recovery/forgot-link.ts'
import { secondFactorTexts } from './second-factor/texts.ts'
import { texts } from './texts.ts'
import { dayOf } from './time-text.ts'
import type { AccountView } from './views.ts'

const header = ({ csrfToken, user }: AccountView, brand: HtmlFragment): HtmlFragment => html`<header class="bar">
${brand}
<form method="post" action="/auth/logout">
${csrfInput(csrfToken)}<span>${user.email}</span>
<button class="second">${texts.logOut}</button>
</form>
</header>`

/** Undefined if the user has a password to ask for; otherwise whether the session is recent enough to do without. */
const recentAuthenticationOf = ({ signIn }: AccountView): boolean | undefined =>
  signIn && !signIn.hasPassword ? signIn.isRecentlyAuthenticated : undefined

const emailSection = (view: AccountView, focus: Focus, layout: Layout): Section => ({
  id: 'email-section',
  title: texts.email,
  body: accountEmail(view, focus, layout),
})

const usernameSection = ({ csrfToken, username }: AccountView, focus: Focus): Section | undefined =>
  username && {
    id: 'username-section',
    title: texts.username,
    about: texts.usernameAbout,
    body: usernameForm(csrfToken, username, focus),
  }

const waysInSection = (view: AccountView, passwordIconUrl: string): Section | undefined =>
  view.signIn && {
    id: 'ways-in',
    title: texts.waysIn,
    about: isReview(view) ? texts.waysInReview : texts.waysInAbout,
    body: signInSection(view.csrfToken, view.signIn, passwordIconUrl),
  }

const passkeySection = ({ passkeys, ...view }: AccountView): Section | undefined =>
  passkeys && {
    id: 'passkeys',
    title: passkeyTexts.passkeys,
    about: passkeyTexts.about,
    body: passkeysSection({ ...view, passkeys }),
  }

const passwordSection = (view: AccountView, focus: Focus, layout: Layout): Section | undefined => {
  if (!view.password) return undefined
  const isRecentlyAuthenticated = recentAuthenticationOf(view)
  if (isRecentlyAuthenticated === undefined) {
    const body = html`${passwordForm(view, focus, layout)}
${forgotLink(layout, view.user)}`
    return { id: 'change-password', title: texts.changePassword, about: texts.changePasswordAbout, body }
  }
  const body = isRecentlyAuthenticated
    ? firstPasswordForm(view, focus, layout)
    : confirmLink('set-password', texts.confirmFirst.password)
  return { id: 'set-password', title: texts.setPassword, about: texts.setPasswordAbout, body }
}

const secondFactorSection = ({ secondFactor }: AccountView): Section | undefined =>
  secondFactor && {
    id: 'second-factor',
    title: secondFactorTexts.section,
    about: secondFactorTexts.sectionAbout,
    body: accountSecondFactor(secondFactor),
  }

const openSessionsSection = (view: AccountView): Section => ({
  id: 'sessions',
  title: texts.sessions,
  about: view.signIn && !view.signIn.hasPassword ? texts.sessionsAboutProviders : texts.sessionsAbout,
  body: sessionsSection(view),
})

const deletionSection = (view: AccountView, focus: Focus): Section => {
  const mustConfirm = view.deletion.isBehindConfirmation || recentAuthenticationOf(view) === false
  const body = mustConfirm ? confirmLink('delete-account', texts.confirmFirst.deletion) : deletionForm(view, focus)
  return { id: 'delete-account', title: texts.deleteAccount, about: texts.deleteAccountAbout, body }
}

/** All sections, in the order of the page. */
const sectionsOf = (view: AccountView, focus: Focus, layout: Layout, passwordIconUrl: string): Section[] => {
  const waysIn = waysInSection(view, passwordIconUrl)
  const isFirst = isReview(view)
  const password = passwordSection(view, focus, layout)
  return [
    isFirst && waysIn,
    emailSection(view, focus, layout),
    usernameSection(view, focus),
    !isFirst && waysIn,
    passkeySection(view),
    password,
    secondFactorSection(view),
    openSessionsSection(view),
    activitySection({ ...view, passwordSection: password, appName: layout.appName }),
    deletionSection(view, focus),
  ].filter((one) => one !== undefined && one !== false)
}

/** The account page: what the account is, and the forms to change it. */
export const createAccountPage =
  (layout: Layout, passwordIconUrl: string) =>
  (view: AccountView): string => {
    const focus = focusOf(view)
    const sections = sectionsOf(view, focus, layout, passwordIconUrl)
    const place = messageSectionOf(view, sections)
    const message = formProblem(view.problem, layout.support, focus === undefined) ?? noticeOf(view)
    return layout.document({
      title: texts.account,
      wrong: Boolean(view.problem ?? focus),
      scripted: true,
      passkeys: view.passkeys !== undefined,
      body: html`<div class="sheet">
${header(view, layout.brand)}
<main>
<h1>${texts.account}</h1>
<p class="about">${texts.memberSince} ${dayOf(view.user.createdAtMs)}</p>
${!place && message}
${passkeyOffer(view.passkeys)}${contents(sections)}<div class="panel">
${sections.map((one) => section(one === place ? { ...one, message } : one))}</div>
</main>
</div>`,
    })
  }
