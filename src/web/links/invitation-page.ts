import { type TextKey, t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { bold } from '../site/bold.ts'
import type { FieldProblem, FormView } from '../../http/form-view.ts'
import { leavesLine } from '../site/consequences.ts'
import { chosenPassword, chosenUsername, csrfInput, ownerInput, tokenInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { passkeyButton } from '../site/passkey-button.ts'
import { type NameView, nameField } from '../site/person-name.ts'
import { continueWith, entryInputs, orLine, providerButtons } from '../site/providers.ts'
import type { ProviderView } from '../../http/services.ts'

export interface InvitationView extends FormView {
  token: string
  /** This is the address that was invited. */
  email: string
  /** This is the address of another account that is signed in in this browser. */
  otherEmail: string | undefined
  /**
   * This is the username of the account, or the text that was typed. It is undefined if svc makes the usernames, and
   * asks for none.
   */
  username: string | undefined
  /** It is undefined if there are no names. */
  name?: NameView | undefined
  /** This tells whether there is a form with a password, and not the providers alone. */
  byPassword: boolean
  providers: readonly ProviderView[]
  errors: { [Name in 'password' | 'username' | 'name']?: FieldProblem | undefined }
}

const usernameField = (username: string, { errors }: InvitationView): HtmlFragment => html`
${chosenUsername({
  value: username,
  hint: t('field.username.hint_invited'),
  problem: errors.username,
  focused: !errors.password && !errors.name && Boolean(errors.username),
})}`

/** The user signs in by mail from now on, if there are no passwords. */
const hasForm = ({ byPassword }: InvitationView, { emailSignIn }: Layout): boolean => byPassword || emailSignIn

// The email is the "username" that a password manager must save, and is right before the password.
const passwordField = ({ email, errors }: InvitationView, { passwordMinLength }: Layout): HtmlFragment =>
  html`${ownerInput(email)}
${chosenPassword({
  label: t('field.password'),
  problem: errors.password,
  focused: Boolean(errors.password),
  minLength: passwordMinLength,
})}`

const ownForm = (view: InvitationView, layout: Layout): HtmlFragment => {
  const { csrfToken, token, byPassword, username, name, errors } = view
  return html`<form method="post" action="/auth/invite" novalidate>
${csrfInput(csrfToken)}${tokenInput(token)}
${byPassword && passwordField(view, layout)}${
  name &&
  html`
${nameField({ ...name, problem: errors.name }, !errors.password && Boolean(errors.name))}`
}${username !== undefined && usernameField(username, view)}
${layout.agreement()}<button class="svc-button first">${t(byPassword ? 'common.save_and_log_in' : 'common.continue')}</button>
</form>
`
}

const providerForms = (view: InvitationView, layout: Layout): HtmlFragment | undefined => {
  const { csrfToken, token, providers } = view
  const hiddenInputs = entryInputs({ purpose: 'invite', token })
  const buttons = providerButtons({ csrfToken, providers, hiddenInputs, words: continueWith })
  // The line stands above the first of the other ways.
  return buttons && html`${hasForm(view, layout) !== layout.passkeys && orLine()}${buttons}`
}

const aboutOf = ({ byPassword, providers }: InvitationView, { passkeys, emailSignIn }: Layout): TextKey => {
  if (!byPassword && emailSignIn) return 'invite.about_mail'
  if (providers.length > 0) return 'invite.about_providers'
  return byPassword && !passkeys ? 'invite.about_password' : 'invite.about'
}

const passkeyWay = (view: InvitationView, layout: Layout): HtmlFragment => {
  const { csrfToken, token, providers } = view
  const isBelowForm = hasForm(view, layout)
  return html`${isBelowForm && orLine()}${passkeyButton({
    kind: 'add',
    csrfToken,
    label: t('passkeys.add_and_log_in'),
    link: { purpose: 'invite', token },
    isMain: !isBelowForm,
    hasOthers: isBelowForm || providers.length > 0,
  })}`
}

/** Creates the page of an invitation: it names the address, and the user chooses how they log in from now on. */
export const createInvitationPage =
  (layout: Layout) =>
  (view: InvitationView): string => {
    const { email, otherEmail, problem, errors } = view
    const wrongField = errors.password ?? errors.name ?? errors.username
    return layout.panel({
      title: t('invite.title', { app: layout.appName }),
      wrong: Boolean(problem ?? wrongField),
      problem,
      focusesProblem: !wrongField,
      passkeys: layout.passkeys,
      below: html`${t('invite.not_yours')}`,
      body: html`<p>${t.html(aboutOf(view, layout), { email: bold(email) })}</p>
${leavesLine(otherEmail)}
${hasForm(view, layout) ? ownForm(view, layout) : layout.agreement()}${layout.passkeys && passkeyWay(view, layout)}${providerForms(view, layout)}`,
    })
  }
