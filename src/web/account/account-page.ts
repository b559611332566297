import { type HtmlFragment, html } from '../../lib/html.ts'
import { t } from '../../languages/texts.ts'
import { accountDone } from '../site/account-done.ts'
import { forgotLink } from '../site/forgot-link.ts'
import { csrfInput, formProblem, notice } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { passkeyTexts } from '../site/passkey-texts.ts'
import { nameTexts } from '../site/person-name.ts'
import { secondFactorTexts } from '../site/second-factor-texts.ts'
import { texts } from '../site/texts.ts'
import { dayOf } from '../site/time-text.ts'
import { activitySection } from './account-activity.ts'
import { accountEmail } from './email-section.ts'
import { deletionForm, firstPasswordForm, nameForm, passwordForm, usernameForm } from './account-forms.ts'
import { passkeyOffer, passkeysSection } from './account-passkeys.ts'
import { type Section, contents, section } from './account-section.ts'
import { accountSecondFactor, confirmLink, sessionsSection, signInSection } from './account-sign-in.ts'
import { type AccountView, type Focus, focusOf } from './account-view.ts'

const header = ({ csrfToken, user }: AccountView, brand: HtmlFragment): HtmlFragment => html`<header class="bar">
${brand}
<form method="post" action="/auth/logout">
${csrfInput(csrfToken)}<span>${user.email}</span>
<button class="second">${texts.logOut}</button>
</form>
</header>`

/**
 * Tells whether the session is recent enough to do without a password; undefined if the user has a password to ask for.
 */
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

const nameSection = ({ csrfToken, name }: AccountView, focus: Focus): Section | undefined =>
  name && {
    id: 'name-section',
    title: nameTexts.label,
    about: name.isRequired && name.value === '' ? nameTexts.missing : nameTexts.about,
    body: nameForm(csrfToken, name, focus),
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

/** Makes all sections, in the order of the page. */
const sectionsOf = (view: AccountView, focus: Focus, layout: Layout, passwordIconUrl: string): Section[] => {
  const waysIn = waysInSection(view, passwordIconUrl)
  const isFirst = isReview(view)
  const password = passwordSection(view, focus, layout)
  return [
    isFirst && waysIn,
    emailSection(view, focus, layout),
    nameSection(view, focus),
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

/** Creates the account page, which shows the account and the forms that change it. */
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

/** After a password change, users should check which providers are connected to their account. */
const isReview = ({ done, signIn }: AccountView): boolean => done === 'password' && Boolean(signIn?.linked.length)

const noticeOf = (view: AccountView): HtmlFragment | undefined => {
  const text = isReview(view) ? texts.doneButConnected : view.done && t(accountDone[view.done].text)
  return notice(text)
}

/** Finds the section that says what was done, or what is wrong; if it is undefined, the top of the page says so. */
const messageSectionOf = (view: AccountView, sections: readonly Section[]): Section | undefined => {
  const at = isReview(view) ? 'ways-in' : ((view.done && accountDone[view.done].section) ?? view.at)
  return sections.find(({ id }) => id === at || (id === 'set-password' && at === 'change-password'))
}
