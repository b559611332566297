import { type HtmlFragment, html } from '../../lib/html.ts'
import { csrfInput, formProblem, ownerInput, tokenInput } from '../form.ts'
import { chosenPassword, chosenUsername } from '../chosen-fields.ts'
import type { Layout } from '../layout.ts'
import { passkeyButton } from '../passkey-button.ts'
import { passkeyTexts } from '../passkey-texts.ts'
import { entryInputs, orLine, providerButtons } from '../provider-buttons.ts'
import { texts } from '../texts.ts'
import { invitationTexts } from './invitation-texts.ts'
import type { InvitationView } from './views.ts'

const usernameField = (username: string, { errors }: InvitationView): HtmlFragment => html`
${chosenUsername({
  value: username,
  hint: invitationTexts.usernameHint,
  problem: errors.username,
  focused: !errors.password && Boolean(errors.username),
})}`

// The email is the "username" that a password manager must save, and is right before the password.
const passwordForm = (view: InvitationView, { passwordMinLength }: Layout): HtmlFragment => {
  const { csrfToken, token, email, username, errors } = view
  return html`<form method="post" action="/auth/invite" novalidate>
${csrfInput(csrfToken)}${tokenInput(token)}
${ownerInput(email)}
${chosenPassword({
  label: texts.password,
  problem: errors.password,
  focused: Boolean(errors.password),
  minLength: passwordMinLength,
})}${username !== undefined && usernameField(username, view)}
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
  // A line above the first of the other ways.
  return buttons && html`${byPassword !== passkeys && orLine()}${buttons}`
}

/** "To log in from now on, choose a password, add a passkey or continue with a provider ..." */
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

/** The page of an invitation: it names the address, and the user chooses how they log in from now on. */
export const createInvitationPage =
  (layout: Layout) =>
  (view: InvitationView): string => {
    const { email, otherEmail, byPassword, problem, errors } = view
    const wrongField = errors.password ?? errors.username
    return layout.panel({
      title: invitationTexts.title(layout.appName),
      wrong: Boolean(problem ?? wrongField),
      scripted: byPassword,
      passkeys: layout.passkeys,
      below: html`${invitationTexts.notYours}`,
      body: html`${formProblem(problem, layout.support, !wrongField)}
<p>${invitationTexts.invited(layout.appName)} <b>${email}</b>. ${waysIn(view, layout)}</p>
${otherEmail !== undefined && html`<p>${invitationTexts.leaves} <b>${otherEmail}</b>.</p>`}
${byPassword && passwordForm(view, layout)}${layout.passkeys && passkeyWay(view)}${providerForms(view, layout)}`,
    })
  }
