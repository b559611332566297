import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { chosenUsername, csrfInput, field } from '../site/form.ts'
import { icon } from '../site/icon.ts'
import type { Layout } from '../site/layout.ts'
import { nameField } from '../site/person-name.ts'
import type { AccountView, Focus } from './account-view.ts'
import { confirmFirst, type AccountRow, type Section } from './rows.ts'

const emailForm = ({ csrfToken, newEmail }: AccountView, focus: Focus): HtmlFragment =>
  html`<form method="post" action="/auth/account/email" novalidate>
${csrfInput(csrfToken)}
${field({
  name: 'email',
  label: t('account.email.new'),
  type: 'email',
  autocomplete: 'email',
  value: newEmail.value,
  hint: t('account.email.new_hint'),
  problem: newEmail.error,
  focused: focus === 'email',
})}
<button class="svc-button second">${t('check_mail.send_link')}</button>
</form>`

/**
 * Says whether the address is confirmed. While no mail is sent, nobody can confirm it, and the page says nothing of it.
 */
const emailBadge = ({ isVerified, mailIsOn }: AccountView['email']): AccountRow['badge'] => {
  if (isVerified) return { text: t('account.email.confirmed') }
  return mailIsOn ? { text: t('account.email.not_confirmed'), isPlain: true } : undefined
}

const emailAction = (view: AccountView, focus: Focus): AccountRow['action'] => {
  const { mailIsOn, isRecentlyAuthenticated } = view.email
  const { error } = view.newEmail
  if (!mailIsOn) return undefined
  if (!isRecentlyAuthenticated && !error)
    return confirmFirst('email-section', t('account.row.change'), t('account.email.change_label'))
  const isOpen = error !== undefined || view.at === 'email-section'
  return { kind: 'opens', label: t('account.row.change'), body: emailForm(view, focus), isOpen }
}

const emailRow = (view: AccountView, focus: Focus, { support }: Layout): AccountRow => {
  const { user, email } = view
  return {
    id: 'email-section',
    icon: icon('mail'),
    title: t('field.email'),
    badge: emailBadge(email),
    state: email.mailIsOn
      ? user.email
      : html`${user.email}<br>
${t.html('account.email.support', { support: support.sentence() })}`,
    action: emailAction(view, focus),
  }
}

/** This button sends the message that confirms the address once more. */
const confirmationRow = ({ csrfToken }: AccountView): AccountRow => ({
  icon: icon('clock'),
  title: t('account.email.confirm'),
  state: t('account.email.confirm_about'),
  action: {
    kind: 'sends',
    form: html`<form method="post" action="/auth/account/email/verify">
${csrfInput(csrfToken)}<button class="svc-button second small">${t('account.email.resend')}</button>
</form>`,
  },
})

const requestedRow = ({ csrfToken }: AccountView, requested: string): AccountRow => ({
  icon: icon('clock'),
  title: t('account.email.new'),
  state: t.html('account.email.waiting', { email: html`<b>${requested}</b>` }),
  action: {
    kind: 'sends',
    form: html`<form method="post" action="/auth/account/email">
${csrfInput(csrfToken)}<button class="svc-button second small" name="cancel" value="1">${t('account.email.cancel')}</button>
</form>`,
  },
})

const usernameRow = ({ csrfToken, username, user, at }: AccountView, focus: Focus): AccountRow | undefined =>
  username && {
    id: 'username-section',
    icon: icon('person'),
    title: t('field.username'),
    state: user.username,
    action: {
      kind: 'opens',
      label: t('account.row.change'),
      isOpen: username.error !== undefined || at === 'username-section',
      body: html`<form method="post" action="/auth/account/username" novalidate>
${csrfInput(csrfToken)}
${chosenUsername({
  value: username.value,
  hint: t('field.username.hint'),
  problem: username.error,
  focused: focus === 'username',
})}
<button class="svc-button second">${t('common.save')}</button>
</form>`,
    },
  }

const nameRow = ({ csrfToken, name, user, at }: AccountView, focus: Focus): AccountRow | undefined =>
  name && {
    id: 'name-section',
    icon: icon('person'),
    title: t('field.name'),
    state: user.name ?? t(name.isRequired ? 'account.name.needed' : 'account.name.none'),
    action: {
      kind: 'opens',
      label: t('account.row.change'),
      isOpen: name.problem !== undefined || at === 'name-section',
      body: html`<form method="post" action="/auth/account/name" novalidate>
${csrfInput(csrfToken)}
${nameField(name, focus === 'name')}
<button class="svc-button second">${t('common.save')}</button>
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
    title: t('account.profile.title'),
    rows: rows.filter((row) => row !== undefined && row !== false),
  }
}
