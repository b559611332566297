import { type HtmlFragment, html } from '../../lib/html.ts'
import type { FieldProblem, FormView } from '../../http/form-view.ts'
import { chosenPassword, chosenUsername, csrfInput, ownerInput, tokenInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { passkeyButton } from '../site/passkey-button.ts'
import { passkeyTexts } from '../site/passkey-texts.ts'
import { type NameView, nameField } from '../site/person-name.ts'
import { entryInputs, orLine, providerButtons } from '../site/providers.ts'
import type { ProviderView } from '../../http/services.ts'
import { texts } from '../site/texts.ts'

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
  hint: invitationTexts.usernameHint,
  problem: errors.username,
  focused: !errors.password && !errors.name && Boolean(errors.username),
})}`

// The email is the "username" that a password manager must save, and is right before the password.
const passwordForm = (view: InvitationView, { passwordMinLength }: Layout): HtmlFragment => {
  const { csrfToken, token, email, username, name, errors } = view
  return html`<form method="post" action="/auth/invite" novalidate>
${csrfInput(csrfToken)}${tokenInput(token)}
${ownerInput(email)}
${chosenPassword({
  label: texts.password,
  problem: errors.password,
  focused: Boolean(errors.password),
  minLength: passwordMinLength,
})}${
  name &&
  html`
${nameField({ ...name, problem: errors.name }, !errors.password && Boolean(errors.name))}`
}${username !== undefined && usernameField(username, view)}
<button class="first">${invitationTexts.button}</button>
</form>
`
}

const providerForms = (
  { csrfToken, token, byPassword, providers }: InvitationView,
  { passkeys }: Layout,
): HtmlFragment | undefined => {
  const hiddenInputs = entryInputs({ purpose: 'invite', token })
  const buttons = providerButtons({ csrfToken, providers, hiddenInputs, words: texts.continueWith })
  // The line stands above the first of the other ways.
  return buttons && html`${byPassword !== passkeys && orLine()}${buttons}`
}

/** The sentence begins "To log in from now on, choose a password, add a passkey or continue with a provider ...". */
const waysIn = ({ byPassword, providers }: InvitationView, { passkeys }: Layout): string => {
  const { from, password, passkey, provider, or } = invitationTexts
  const ways = [byPassword && password, passkeys && passkey, providers.length > 0 && provider].filter(
    (way) => way !== false,
  )
  const last = ways.pop() ?? ''
  return `${from} ${ways.length > 0 ? `${ways.join(', ')}${or}` : ''}${last}.`
}

const passkeyWay = ({ csrfToken, token, byPassword, providers }: InvitationView): HtmlFragment =>
  html`${byPassword && orLine()}${passkeyButton({
    kind: 'add',
    csrfToken,
    label: passkeyTexts.addAndLogIn,
    link: { purpose: 'invite', token },
    isMain: !byPassword,
    hasOthers: byPassword || providers.length > 0,
  })}`

/** Creates the page of an invitation: it names the address, and the user chooses how they log in from now on. */
export const createInvitationPage =
  (layout: Layout) =>
  (view: InvitationView): string => {
    const { email, otherEmail, byPassword, problem, errors } = view
    const wrongField = errors.password ?? errors.name ?? errors.username
    return layout.panel({
      title: invitationTexts.title(layout.appName),
      wrong: Boolean(problem ?? wrongField),
      problem,
      focusesProblem: !wrongField,
      passkeys: layout.passkeys,
      below: html`${invitationTexts.notYours}`,
      body: html`<p>${invitationTexts.invited(layout.appName)} <b>${email}</b>. ${waysIn(view, layout)}</p>
${otherEmail !== undefined && html`<p>${invitationTexts.leaves} <b>${otherEmail}</b>.</p>`}
${byPassword && passwordForm(view, layout)}${layout.passkeys && passkeyWay(view)}${providerForms(view, layout)}`,
    })
  }

const invitationTexts = {
  title: (appName: string): string => `Join ${appName}`,
  invited: (appName: string): string => `You are invited to ${appName}. The email address of your account is`,
  /** This comes before the ways; `or` comes before the last one. */
  from: 'To log in from now on,',
  password: 'choose a password',
  passkey: 'add a passkey',
  provider: 'continue with a provider that knows this address',
  or: ' or ',
  leaves: 'You are logged in here with another account, which this logs out:',
  usernameHint: '3 to 30 letters, digits, _ or -. You can change it later.',
  button: 'Save and log in',
  notYours: 'Not your address? Then close this page: nothing happens.',
} as const
