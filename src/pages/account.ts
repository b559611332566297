import { type HtmlFragment, html } from '../lib/html.ts'
import { deletionForm, type Focus, firstPasswordForm, focusOf, passwordForm, usernameForm } from './account-forms.ts'
import { sessionsSection } from './account-sessions.ts'
import { confirmLink, signInSection } from './account-sign-in.ts'
import { csrfInput, formProblem, notice } from './form.ts'
import type { Layout } from './layout.ts'
import { texts } from './texts.ts'
import { dayOf } from './time-text.ts'
import type { AccountView } from './views.ts'

const section = (id: string, title: string, about: string | undefined, body: HtmlFragment): HtmlFragment =>
  html`<section aria-labelledby="${id}">
<div>
<h2 id="${id}">${title}</h2>
${about && html`<p class="about">${about}</p>`}
</div>
<div>
${body}
</div>
</section>
`

const profile = ({ user }: AccountView): HtmlFragment => html`<dl>
<div><dt>${texts.email}</dt><dd>${user.email}</dd></div>
<div><dt>${texts.username}</dt><dd>${user.username}</dd></div>
<div><dt>${texts.memberSince}</dt><dd>${dayOf(user.createdAtMs)}</dd></div>
</dl>`

const header = ({ csrfToken, user }: AccountView, brand: HtmlFragment): HtmlFragment => html`<header class="bar">
${brand}
<form method="post" action="/auth/logout">
${csrfInput(csrfToken)}<span>${user.email}</span>
<button class="second">${texts.logOut}</button>
</form>
</header>`

/** Undefined if the user has a password to ask for; otherwise whether the session is recent enough to do without. */
const recentAuthenticationOf = ({ signIn }: AccountView): boolean | undefined =>
  signIn?.hasPassword === false ? signIn.isRecentlyAuthenticated : undefined

const passwordSection = (view: AccountView, focus: Focus): HtmlFragment => {
  const isRecentlyAuthenticated = recentAuthenticationOf(view)
  if (isRecentlyAuthenticated === undefined) {
    return section('change-password', texts.changePassword, texts.changePasswordAbout, passwordForm(view, focus))
  }
  const body = isRecentlyAuthenticated ? firstPasswordForm(view, focus) : confirmLink(texts.confirmFirst.password)
  return section('set-password', texts.setPassword, texts.setPasswordAbout, body)
}

const deletionSection = (view: AccountView, focus: Focus): HtmlFragment => {
  const body =
    recentAuthenticationOf(view) === false ? confirmLink(texts.confirmFirst.deletion) : deletionForm(view, focus)
  return section('delete-account', texts.deleteAccount, texts.deleteAccountAbout, body)
}

const sessionsAbout = ({ signIn }: AccountView): string =>
  signIn?.hasPassword === false ? texts.sessionsAboutProviders : texts.sessionsAbout

/** After a password change, users should check which providers are connected to their account. */
const isReview = ({ done, signIn }: AccountView): boolean => done === 'password' && Boolean(signIn?.linked.length)

const noticeOf = (view: AccountView): string | undefined =>
  isReview(view) ? texts.doneButConnected : view.done && texts.done[view.done]

/** The account page: the user's profile, and the forms to change it. */
export const createAccountPage =
  (layout: Layout, passwordIconUrl: string) =>
  (view: AccountView): string => {
    const focus = focusOf(view)
    const isFirst = isReview(view)
    const about = isFirst ? texts.waysInReview : texts.waysInAbout
    const waysIn =
      view.signIn &&
      section('ways-in', texts.waysIn, about, signInSection(view.csrfToken, view.signIn, passwordIconUrl))
    return layout.document({
      title: texts.account,
      wrong: Boolean(view.problem ?? focus),
      scripted: true,
      body: html`<div class="sheet">
${header(view, layout.brand)}
<main>
<h1>${texts.account}</h1>
${formProblem(view.problem, focus === undefined) ?? notice(noticeOf(view))}
<div class="panel">
${isFirst && waysIn}${section('profile', texts.profile, undefined, profile(view))}
${section('change-username', texts.changeUsername, texts.changeUsernameAbout, usernameForm(view, focus))}
${!isFirst && waysIn}${passwordSection(view, focus)}
${section('sessions', texts.sessions, sessionsAbout(view), sessionsSection(view))}
${deletionSection(view, focus)}
</div>
</main>
</div>`,
    })
  }
