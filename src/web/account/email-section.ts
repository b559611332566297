import { type HtmlFragment, html } from '../../lib/html.ts'
import { csrfInput, field } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { confirmLink } from './account-sign-in.ts'
import type { AccountView, Focus } from './account-view.ts'

const changeForm = ({ csrfToken, newEmail }: AccountView, focus: Focus): HtmlFragment =>
  html`<form method="post" action="/auth/account/email" novalidate>
${csrfInput(csrfToken)}
${field({
  name: 'email',
  label: accountEmailTexts.newEmail,
  type: 'email',
  autocomplete: 'email',
  value: newEmail.value,
  hint: accountEmailTexts.newEmailHint,
  problem: newEmail.error,
  focused: focus === 'email',
})}
<button class="second">${accountEmailTexts.changeButton}</button>
</form>`

const waiting = (csrfToken: string, requested: string): HtmlFragment =>
  html`<form method="post" action="/auth/account/email">
${csrfInput(csrfToken)}
<div>
<p>${accountEmailTexts.waiting} <b>${requested}</b></p>
<p class="about">${accountEmailTexts.waitingAbout}</p>
</div>
<button class="second" name="cancel" value="1">${accountEmailTexts.cancel}</button>
</form>
`

const change = (view: AccountView, focus: Focus, { appName, support }: Layout): HtmlFragment => {
  const { mailIsOn, isRecentlyAuthenticated } = view.email
  if (!mailIsOn) return html`<p class="about">${support.text(accountEmailTexts.withoutMail(appName))}</p>`
  return isRecentlyAuthenticated || view.newEmail.error
    ? changeForm(view, focus)
    : confirmLink('email-section', accountEmailTexts.confirmFirst)
}

/**
 * Says whether the address is confirmed. While no mail is sent, nobody can confirm it, and the page says nothing of it.
 */
const state = ({ isVerified, mailIsOn }: AccountView['email']): HtmlFragment | false => {
  if (isVerified) return html` <span class="badge">${accountEmailTexts.confirmed}</span>`
  return mailIsOn && html` <span class="about">${accountEmailTexts.notConfirmed}</span>`
}

/** This button sends the message that confirms the address once more. */
const sendAgain = (csrfToken: string): HtmlFragment =>
  html`<form method="post" action="/auth/account/email/verify">
${csrfInput(csrfToken)}
<p class="about">${accountEmailTexts.sendAbout}</p>
<button class="second">${accountEmailTexts.sendButton}</button>
</form>
`

export const accountEmail = (view: AccountView, focus: Focus, layout: Layout): HtmlFragment => {
  const { csrfToken, user, email } = view
  return html`<p><b>${user.email}</b>${state(email)}</p>
${email.canConfirm && sendAgain(csrfToken)}${email.requested !== undefined && waiting(csrfToken, email.requested)}${change(view, focus, layout)}`
}

const accountEmailTexts = {
  confirmed: 'Confirmed',
  notConfirmed: 'Not confirmed',
  sendAbout: 'Open the link in our message to confirm it.',
  sendButton: 'Send the message again',

  waiting: 'Waiting for your confirmation:',
  waitingAbout: 'We have sent a link there. Until you open it, nothing changes.',
  cancel: 'Keep the current address',

  newEmail: 'New email address',
  newEmailHint: 'We send a link there. Your address changes once you open it.',
  changeButton: 'Change email address',
  confirmFirst: 'Confirm it’s you to change your email address',
  /** This is shown while no mail is sent. */
  withoutMail: (appName: string): string => `To change your email address, ask whoever runs ${appName}.`,
} as const
