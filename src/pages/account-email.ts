import { type HtmlFragment, html } from '../lib/html.ts'
import { accountEmailTexts as words } from './account-email-texts.ts'
import type { Focus } from './account-forms.ts'
import { confirmLink } from './account-sign-in.ts'
import { csrfInput, field } from './form.ts'
import type { Layout } from './layout.ts'
import type { AccountView } from './views.ts'

const changeForm = ({ csrfToken, newEmail }: AccountView, focus: Focus): HtmlFragment =>
  html`<form method="post" action="/auth/account/email" novalidate>
${csrfInput(csrfToken)}
${field({
  name: 'email',
  label: words.newEmail,
  type: 'email',
  autocomplete: 'email',
  value: newEmail.value,
  hint: words.newEmailHint,
  problem: newEmail.error,
  focused: focus === 'email',
})}
<button class="second">${words.changeButton}</button>
</form>`

const waiting = (csrfToken: string, requested: string): HtmlFragment =>
  html`<form method="post" action="/auth/account/email">
${csrfInput(csrfToken)}
<div>
<p>${words.waiting} <b>${requested}</b></p>
<p class="about">${words.waitingAbout}</p>
</div>
<button class="second" name="cancel" value="1">${words.cancel}</button>
</form>
`

const change = (view: AccountView, focus: Focus, { appName, support }: Layout): HtmlFragment => {
  const { mailIsOn, isRecentlyAuthenticated } = view.email
  if (!mailIsOn) return html`<p class="about">${support.text(words.withoutMail(appName))}</p>`
  return isRecentlyAuthenticated || view.newEmail.error
    ? changeForm(view, focus)
    : confirmLink('email-section', words.confirmFirst)
}

/** Whether the address is confirmed. Without mail nobody can confirm it, and nothing is said of it. */
const state = ({ isVerified, mailIsOn }: AccountView['email']): HtmlFragment | false => {
  if (isVerified) return html` <span class="badge">${words.confirmed}</span>`
  return mailIsOn && html` <span class="about">${words.notConfirmed}</span>`
}

/** The message that confirms the address, once more. */
const sendAgain = (csrfToken: string): HtmlFragment =>
  html`<form method="post" action="/auth/account/email/verify">
${csrfInput(csrfToken)}
<p class="about">${words.sendAbout}</p>
<button class="second">${words.sendButton}</button>
</form>
`

/** The body of the section about the email. */
export const accountEmail = (view: AccountView, focus: Focus, layout: Layout): HtmlFragment => {
  const { csrfToken, user, email } = view
  return html`<p><b>${user.email}</b>${state(email)}</p>
${email.canConfirm && sendAgain(csrfToken)}${email.requested !== undefined && waiting(csrfToken, email.requested)}${change(view, focus, layout)}`
}
