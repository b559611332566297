import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { withApplications } from '../site/consequences.ts'
import { forgotLink } from '../site/forgot-link.ts'
import { chosenPassword, csrfInput, field, ownerInput } from '../site/form.ts'
import { icon } from '../site/icon.ts'
import type { Layout } from '../site/layout.ts'
import type { AccountView, Focus } from './account-view.ts'
import { confirmFirst, type AccountRow } from './rows.ts'

/**
 * Tells whether the session is recent enough to do without a password; undefined if the user has a password to ask for.
 */
export const recentAuthenticationOf = ({ signIn }: AccountView): boolean | undefined =>
  signIn && !signIn.hasPassword ? signIn.isRecentlyAuthenticated : undefined

/** Tells whether the user has a password to change. */
export const hasPassword = (view: AccountView): boolean =>
  view.password !== undefined && recentAuthenticationOf(view) === undefined

const currentPassword = ({ password }: AccountView, focus: Focus): HtmlFragment => html`${field({
  name: 'current_password',
  label: t('field.current_password'),
  type: 'password',
  autocomplete: 'current-password',
  problem: password?.errors.current_password,
  focused: focus === 'current_password',
})}
`

/** A user who has no password enters the new one alone. */
const passwordForm = (view: AccountView, focus: Focus, layout: Layout, isFirst: boolean): HtmlFragment =>
  html`<form method="post" action="/auth/account/password" novalidate>
${csrfInput(view.csrfToken)}
${ownerInput(view.user.email)}
${!isFirst && currentPassword(view, focus)}${chosenPassword({
  name: 'new_password',
  problem: view.password?.errors.new_password,
  focused: focus === 'new_password',
  minLength: layout.passwordMinLength,
})}
<p class="about">${withApplications(layout, t(isFirst ? 'account.password.set_up_about' : 'account.password.change_about'))}</p>
<button class="svc-button second">${t('common.save')}</button>
</form>`

/** The row is undefined if the service accepts no passwords. */
export const passwordRow = (view: AccountView, focus: Focus, layout: Layout): AccountRow | undefined => {
  if (!view.password) return undefined
  const shown = { icon: icon('key'), title: t('field.password') }
  const isRecent = recentAuthenticationOf(view)
  const isFirst = isRecent !== undefined
  const id = isFirst ? 'set-password' : 'change-password'
  const state = t(isFirst ? 'account.password.not_set' : 'account.password.set')
  if (isRecent === false)
    return { ...shown, id, state, action: confirmFirst(id, t('account.row.set'), t('account.password.set_up')) }
  const form = passwordForm(view, focus, layout, isFirst)
  const { current_password: current, new_password: next } = view.password.errors
  return {
    ...shown,
    id,
    state,
    action: {
      kind: 'opens',
      label: t(isFirst ? 'account.row.set' : 'account.row.change'),
      isOpen: (current ?? next) !== undefined || view.at === id || view.at === 'change-password',
      body: isFirst
        ? form
        : html`${form}
${forgotLink(layout, view.user)}`,
    },
  }
}
