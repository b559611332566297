import { type HtmlFragment, html } from '../../lib/html.ts'
import { csrfInput, field } from '../site/form.ts'
import { icon } from '../site/icon.ts'
import { texts } from '../site/texts.ts'
import type { AccountView, Focus } from './account-view.ts'
import { recentAuthenticationOf } from './password-row.ts'
import { confirmFirst, type AccountRow, rowTexts, type Section } from './rows.ts'

const dataRow = ({ csrfToken, data }: AccountView): AccountRow => ({
  id: 'download-data',
  icon: icon('download'),
  title: deleteTexts.data,
  state: deleteTexts.dataAbout,
  action: data.isRecentlyAuthenticated
    ? {
        kind: 'sends',
        form: html`<form method="post" action="/auth/account/data">
${csrfInput(csrfToken)}<button class="second small" name="download" value="1" aria-label="${rowTexts.nameOf(deleteTexts.download, deleteTexts.data)}">${deleteTexts.download}</button>
</form>`,
      }
    : confirmFirst('download-data', deleteTexts.download),
})

const passwordField = ({ error }: AccountView['deletion'], focus: Focus): HtmlFragment =>
  html`<p>${deleteTexts.byPassword}</p>
${field({
  name: 'password',
  label: texts.password,
  type: 'password',
  autocomplete: 'current-password',
  problem: error,
  focused: focus === 'password',
})}`

const deletionForm = ({ csrfToken, deletion, signIn }: AccountView, focus: Focus): HtmlFragment =>
  html`<form method="post" action="/auth/account/delete" novalidate>
${csrfInput(csrfToken)}
${signIn && !signIn.hasPassword ? html`<p>${deleteTexts.final}</p>` : passwordField(deletion, focus)}
<button class="danger">${deleteTexts.button}</button>
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
    title: deleteTexts.account,
    state: deleteTexts.accountAbout,
    action: mustConfirm
      ? confirmFirst('delete-account', deleteTexts.open)
      : { kind: 'opens', label: deleteTexts.open, body: deletionForm(view, focus), isOpen, isDanger: true },
  }
}

export const deleteSection = (view: AccountView, focus: Focus): Section => ({
  id: 'delete',
  title: deleteTexts.title,
  rows: [dataRow(view), deletionRow(view, focus)],
})

const deleteTexts = {
  title: 'Delete',
  data: 'Download my data',
  dataAbout: 'Your account, ways to sign in, devices and activity, as a JSON file',
  download: 'Download',
  account: 'Delete account',
  accountAbout: 'Removes your account and everything in it. This can’t be undone.',
  open: 'Delete …',
  byPassword: 'This can’t be undone. Enter your password to confirm.',
  final: 'This can’t be undone.',
  button: 'Delete my account',
} as const
