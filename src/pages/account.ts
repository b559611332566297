import { type HtmlFragment, html } from '../lib/html.ts'
import { sessionsSection } from './account-sessions.ts'
import { csrfInput, field, formProblem, notice } from './form.ts'
import type { Layout } from './layout.ts'
import { texts } from './texts.ts'
import { dayOf } from './time-text.ts'
import type { AccountView } from './views.ts'

type Focus = 'username' | 'current_password' | 'new_password' | 'password' | undefined

const focusOf = ({ username, password, deletion }: AccountView): Focus => {
  if (username.error) return 'username'
  if (password.errors.current_password) return 'current_password'
  if (password.errors.new_password) return 'new_password'
  return deletion.error ? 'password' : undefined
}

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

const usernameForm = ({ csrfToken, username }: AccountView, focus: Focus): HtmlFragment =>
  html`<form method="post" action="/auth/account/username" novalidate>
${csrfInput(csrfToken)}
${field({
  name: 'username',
  label: texts.username,
  type: 'text',
  autocomplete: 'nickname',
  value: username.value,
  hint: texts.usernameRule,
  maxLength: 30,
  problem: username.error,
  focused: focus === 'username',
})}
<button class="second">${texts.changeUsernameButton}</button>
</form>`

// The field without a name is for password managers: it tells them whose password is changed, and is not sent.
const passwordForm = ({ csrfToken, user, password }: AccountView, focus: Focus): HtmlFragment =>
  html`<form method="post" action="/auth/account/password" novalidate>
${csrfInput(csrfToken)}
<input class="unseen" type="text" autocomplete="username" value="${user.email}" readonly tabindex="-1" aria-hidden="true">
${field({
  name: 'current_password',
  label: texts.currentPassword,
  type: 'password',
  autocomplete: 'current-password',
  problem: password.errors.current_password,
  focused: focus === 'current_password',
})}
${field({
  name: 'new_password',
  label: texts.newPassword,
  type: 'password',
  autocomplete: 'new-password',
  hint: texts.newPasswordHint,
  minLength: 8,
  problem: password.errors.new_password,
  focused: focus === 'new_password',
})}
<button class="second">${texts.changePasswordButton}</button>
</form>`

// Closed at first: a password manager fills in the password, and one stray click must not be the end of the account.
const deletionForm = ({ csrfToken, deletion }: AccountView, focus: Focus): HtmlFragment =>
  html`<details${deletion.error && html` open`}>
<summary class="second">${texts.deleteAccountOpen}</summary>
<form method="post" action="/auth/account/delete" novalidate>
${csrfInput(csrfToken)}
<p>${texts.deleteAccountWarning}</p>
${field({
  name: 'password',
  label: texts.password,
  type: 'password',
  autocomplete: 'current-password',
  problem: deletion.error,
  focused: focus === 'password',
})}
<button class="danger">${texts.deleteAccountButton}</button>
</form>
</details>`

const header = ({ csrfToken, user }: AccountView, brand: HtmlFragment): HtmlFragment => html`<header class="bar">
${brand}
<form method="post" action="/auth/logout">
${csrfInput(csrfToken)}<span>${user.email}</span>
<button class="second">${texts.logOut}</button>
</form>
</header>`

/** The account page: who one is here, and what one may change about it. */
export const createAccountPage =
  (layout: Layout) =>
  (view: AccountView): string => {
    const focus = focusOf(view)
    return layout.document({
      title: texts.account,
      wrong: Boolean(view.problem ?? focus),
      scripted: true,
      body: html`<div class="sheet">
${header(view, layout.brand)}
<main>
<h1>${texts.account}</h1>
${formProblem(view.problem, focus === undefined) ?? notice(view.done && texts.done[view.done])}
<div class="panel">
${section('profile', texts.profile, undefined, profile(view))}
${section('change-username', texts.changeUsername, texts.changeUsernameAbout, usernameForm(view, focus))}
${section('change-password', texts.changePassword, texts.changePasswordAbout, passwordForm(view, focus))}
${section('sessions', texts.sessions, texts.sessionsAbout, sessionsSection(view))}
${section('delete-account', texts.deleteAccount, texts.deleteAccountAbout, deletionForm(view, focus))}
</div>
</main>
</div>`,
    })
  }
