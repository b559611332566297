import { type HtmlFragment, html } from '../../lib/html.ts'
import { chosenUsername, csrfInput, field } from '../site/form.ts'
import { icon } from '../site/icon.ts'
import type { Layout } from '../site/layout.ts'
import { nameField, nameTexts } from '../site/person-name.ts'
import { texts } from '../site/texts.ts'
import type { AccountView, Focus } from './account-view.ts'
import { confirmFirst, type AccountRow, rowTexts, type Section } from './rows.ts'

const emailForm = ({ csrfToken, newEmail }: AccountView, focus: Focus): HtmlFragment =>
  html`<form method="post" action="/auth/account/email" novalidate>
${csrfInput(csrfToken)}
${field({
  name: 'email',
  label: profileTexts.newEmail,
  type: 'email',
  autocomplete: 'email',
  value: newEmail.value,
  hint: profileTexts.newEmailHint,
  problem: newEmail.error,
  focused: focus === 'email',
})}
<button class="second">${profileTexts.changeEmail}</button>
</form>`

/**
 * Says whether the address is confirmed. While no mail is sent, nobody can confirm it, and the page says nothing of it.
 */
const emailBadge = ({ isVerified, mailIsOn }: AccountView['email']): AccountRow['badge'] => {
  if (isVerified) return { text: profileTexts.confirmed }
  return mailIsOn ? { text: profileTexts.notConfirmed, isPlain: true } : undefined
}

const emailAction = (view: AccountView, focus: Focus): AccountRow['action'] => {
  const { mailIsOn, isRecentlyAuthenticated } = view.email
  const { error } = view.newEmail
  if (!mailIsOn) return undefined
  if (!isRecentlyAuthenticated && !error) return confirmFirst('email-section', rowTexts.change)
  const isOpen = error !== undefined || view.at === 'email-section'
  return { kind: 'opens', label: rowTexts.change, body: emailForm(view, focus), isOpen }
}

const emailRow = (view: AccountView, focus: Focus, { appName, support }: Layout): AccountRow => {
  const { user, email } = view
  return {
    id: 'email-section',
    icon: icon('mail'),
    title: texts.email,
    badge: emailBadge(email),
    state: email.mailIsOn
      ? user.email
      : html`${user.email}<br>
${support.text(profileTexts.withoutMail(appName))}`,
    action: emailAction(view, focus),
  }
}

/** This button sends the message that confirms the address once more. */
const confirmationRow = ({ csrfToken }: AccountView): AccountRow => ({
  icon: icon('clock'),
  title: profileTexts.confirmEmail,
  state: profileTexts.confirmEmailAbout,
  action: {
    kind: 'sends',
    form: html`<form method="post" action="/auth/account/email/verify">
${csrfInput(csrfToken)}<button class="second small" aria-label="${rowTexts.nameOf(profileTexts.sendAgain, profileTexts.confirmEmail)}">${profileTexts.sendAgain}</button>
</form>`,
  },
})

const requestedRow = ({ csrfToken }: AccountView, requested: string): AccountRow => ({
  icon: icon('clock'),
  title: profileTexts.requested,
  state: html`<b>${requested}</b><br>
${profileTexts.requestedAbout}`,
  action: {
    kind: 'sends',
    form: html`<form method="post" action="/auth/account/email">
${csrfInput(csrfToken)}<button class="second small" name="cancel" value="1" aria-label="${rowTexts.nameOf(profileTexts.cancel, profileTexts.requested)}">${profileTexts.cancel}</button>
</form>`,
  },
})

const usernameRow = ({ csrfToken, username, user, at }: AccountView, focus: Focus): AccountRow | undefined =>
  username && {
    id: 'username-section',
    icon: icon('person'),
    title: texts.username,
    state: user.username,
    action: {
      kind: 'opens',
      label: rowTexts.change,
      isOpen: username.error !== undefined || at === 'username-section',
      body: html`<form method="post" action="/auth/account/username" novalidate>
${csrfInput(csrfToken)}
${chosenUsername({
  value: username.value,
  hint: texts.usernameRule,
  problem: username.error,
  focused: focus === 'username',
})}
<button class="second">${profileTexts.changeUsername}</button>
</form>`,
    },
  }

const nameRow = ({ csrfToken, name, user, at }: AccountView, focus: Focus): AccountRow | undefined =>
  name && {
    id: 'name-section',
    icon: icon('person'),
    title: nameTexts.label,
    state: user.name ?? (name.isRequired ? nameTexts.missing : nameTexts.about),
    action: {
      kind: 'opens',
      label: rowTexts.change,
      isOpen: name.problem !== undefined || at === 'name-section',
      body: html`<form method="post" action="/auth/account/name" novalidate>
${csrfInput(csrfToken)}
${nameField(name, focus === 'name')}
<button class="second">${nameTexts.button}</button>
</form>`,
    },
  }

export const profileSection = (view: AccountView, focus: Focus, layout: Layout): Section => {
  const { canConfirm, requested } = view.email
  const rows = [
    emailRow(view, focus, layout),
    canConfirm && confirmationRow(view),
    requested !== undefined && requestedRow(view, requested),
    nameRow(view, focus),
    usernameRow(view, focus),
  ]
  return {
    id: 'profile',
    title: profileTexts.title,
    rows: rows.filter((row) => row !== undefined && row !== false),
  }
}

const profileTexts = {
  title: 'Profile',
  confirmed: 'Confirmed',
  notConfirmed: 'Not confirmed',

  newEmail: 'New email address',
  newEmailHint: 'We send a link there. Your address changes once you open it.',
  changeEmail: 'Change email address',
  /** This is shown while no mail is sent. */
  withoutMail: (appName: string): string => `To change your email address, ask whoever runs ${appName}.`,

  confirmEmail: 'Confirm your email address',
  confirmEmailAbout: 'Open the link in our message.',
  sendAgain: 'Send again',

  requested: 'Your new email address',
  requestedAbout: 'We sent a link there. Nothing changes until you open it.',
  cancel: 'Cancel',

  changeUsername: 'Save username',
} as const
