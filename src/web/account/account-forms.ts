import { type HtmlFragment, html } from '../../lib/html.ts'
import { chosenPassword, chosenUsername, csrfInput, field, ownerInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { type NameView, nameField, nameTexts } from '../site/person-name.ts'
import { texts } from '../site/texts.ts'
import type { AccountView, Focus } from './account-view.ts'

export const usernameForm = (
  csrfToken: string,
  username: NonNullable<AccountView['username']>,
  focus: Focus,
): HtmlFragment =>
  html`<form method="post" action="/auth/account/username" novalidate>
${csrfInput(csrfToken)}
${chosenUsername({
  value: username.value,
  hint: texts.usernameRule,
  problem: username.error,
  focused: focus === 'username',
})}
<button class="second">${texts.changeUsernameButton}</button>
</form>`

export const nameForm = (csrfToken: string, name: NameView, focus: Focus): HtmlFragment =>
  html`<form method="post" action="/auth/account/name" novalidate>
${csrfInput(csrfToken)}
${nameField(name, focus === 'name')}
<button class="second">${nameTexts.button}</button>
</form>`

const newPasswordField = ({ password }: AccountView, focus: Focus, { passwordMinLength }: Layout): HtmlFragment =>
  chosenPassword({
    name: 'new_password',
    problem: password?.errors.new_password,
    focused: focus === 'new_password',
    minLength: passwordMinLength,
  })

export const passwordForm = (view: AccountView, focus: Focus, layout: Layout): HtmlFragment =>
  html`<form method="post" action="/auth/account/password" novalidate>
${csrfInput(view.csrfToken)}
${ownerInput(view.user.email)}
${field({
  name: 'current_password',
  label: texts.currentPassword,
  type: 'password',
  autocomplete: 'current-password',
  problem: view.password?.errors.current_password,
  focused: focus === 'current_password',
})}
${newPasswordField(view, focus, layout)}
<button class="second">${texts.changePasswordButton}</button>
</form>`

export const firstPasswordForm = (view: AccountView, focus: Focus, layout: Layout): HtmlFragment =>
  html`<form method="post" action="/auth/account/password" novalidate>
${csrfInput(view.csrfToken)}
${ownerInput(view.user.email)}
${newPasswordField(view, focus, layout)}
<button class="second">${texts.setPasswordButton}</button>
</form>`

const deletionPassword = ({ error }: AccountView['deletion'], focus: Focus): HtmlFragment =>
  html`<p>${texts.deleteAccountWarning}</p>
${field({
  name: 'password',
  label: texts.password,
  type: 'password',
  autocomplete: 'current-password',
  problem: error,
  focused: focus === 'password',
})}`

/**
 * Makes the form that deletes the account. It is collapsed at first: password managers fill in the password, and one
 * accidental click must not delete the account.
 */
export const deletionForm = ({ csrfToken, deletion, signIn }: AccountView, focus: Focus): HtmlFragment =>
  html`<details${Boolean(deletion.isOpen ?? deletion.error) && html` open`}>
<summary class="second">${texts.deleteAccountOpen}</summary>
<form method="post" action="/auth/account/delete" novalidate>
${csrfInput(csrfToken)}
${signIn && !signIn.hasPassword ? html`<p>${texts.deleteAccountFinal}</p>` : deletionPassword(deletion, focus)}
<button class="danger">${texts.deleteAccountButton}</button>
</form>
</details>`
