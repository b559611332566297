import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { csrfInput, field } from '../site/form.ts'
import { icon } from '../site/icon.ts'
import type { AccountView, Focus } from './account-view.ts'
import { recentAuthenticationOf } from './password-row.ts'
import { confirmFirst, type AccountRow, type Section } from './rows.ts'

const dataRow = ({ csrfToken, data }: AccountView): AccountRow => ({
  id: 'download-data',
  icon: icon('download'),
  title: t('account.data.title'),
  state: t('account.data.about'),
  action: data.isRecentlyAuthenticated
    ? {
        kind: 'sends',
        form: html`<form method="post" action="/auth/account/data">
${csrfInput(csrfToken)}<button class="svc-button second small" name="download" value="1" aria-label="${t('account.data.title')}">${t('account.data.button')}</button>
</form>`,
      }
    : confirmFirst('download-data', t('account.data.button'), t('account.data.title')),
})

const passwordField = ({ error }: AccountView['deletion'], focus: Focus): HtmlFragment =>
  html`<p>${t('account.delete.warning')}</p>
${field({
  name: 'password',
  label: t('field.password'),
  type: 'password',
  autocomplete: 'current-password',
  problem: error,
  focused: focus === 'password',
})}`

const deletionForm = ({ csrfToken, deletion, signIn }: AccountView, focus: Focus): HtmlFragment =>
  html`<form method="post" action="/auth/account/delete" novalidate>
${csrfInput(csrfToken)}
${(!signIn || signIn.hasPassword) && passwordField(deletion, focus)}
<button class="svc-button danger">${t('account.delete.button')}</button>
</form>`

/**
 * The form opens on demand: password managers fill in the password, and one accidental click must not delete the
 * account.
 */
const deletionRow = (view: AccountView, focus: Focus): AccountRow => {
  const { deletion, at } = view
  const mustConfirm = deletion.isBehindConfirmation || recentAuthenticationOf(view) === false
  const isOpen = Boolean(deletion.isOpen ?? deletion.error) || at === 'delete-account'
  return {
    id: 'delete-account',
    icon: icon('trash'),
    title: t('account.delete.title'),
    state: t('account.delete.about'),
    action: mustConfirm
      ? confirmFirst('delete-account', t('account.delete.open'), t('account.delete.title'))
      : { kind: 'opens', label: t('account.delete.open'), body: deletionForm(view, focus), isOpen, isDanger: true },
  }
}

export const deleteSection = (view: AccountView, focus: Focus): Section => ({
  id: 'delete',
  title: t('account.delete.section'),
  rows: [dataRow(view), deletionRow(view, focus)],
})
