import type { AskedFactorView } from '../sign-in/asked-factor.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import type { NOT_ME_PURPOSES } from '../../links/link.ts'
import type { FormView } from '../../http/form-view.ts'
import { chosenPassword, csrfInput, ownerInput, tokenInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { type LinkFormErrors, formEnd, signOf, usesPasskeys, wrongFieldOf } from './asked-factor-fields.ts'

/** This is the page behind "This wasn't me": a user was told of something that they did not do. */
export interface NotMeView extends FormView {
  token: string
  /** This is the address of the account. */
  email: string
  purpose: (typeof NOT_ME_PURPOSES)[number]
  /** This is the label of the provider that was connected, if the message is about one. */
  provider: string
  /** This tells whether a new password is chosen here. If not, the user goes on to another page. */
  setsPassword: boolean
  /** This is the address of another account that is signed in in this browser. */
  otherEmail: string | undefined
  factor?: AskedFactorView | undefined
  errors: LinkFormErrors
}

const nextStep = ({ passwords }: Layout, { setsPassword }: NotMeView): string => {
  if (setsPassword) return notMeTexts.setsPassword
  return passwords ? notMeTexts.asksPassword : notMeTexts.asksProvider
}

const passwordField = ({ passwordMinLength }: Layout, { email, errors }: NotMeView): HtmlFragment =>
  html`${ownerInput(email)}
${chosenPassword({ problem: errors.password, focused: Boolean(errors.password), minLength: passwordMinLength })}`

/** The page behind "This wasn't me" names the account and what happened above the button. */
export const createNotMePage =
  (layout: Layout) =>
  (view: NotMeView): string => {
    const { csrfToken, token, email, purpose, provider, setsPassword, otherEmail, problem } = view
    const removes = notMeTexts.removes[purpose]
    const button = setsPassword ? notMeTexts.buttonWithPassword : notMeTexts.button
    return layout.panel({
      title: notMeTexts.title,
      sign: signOf(view, setsPassword),
      wrong: Boolean(problem ?? wrongFieldOf(view)),
      problem,
      focusesProblem: !wrongFieldOf(view),
      passkeys: usesPasskeys(layout, { ...view, providers: undefined }),
      body: html`<p>${notMeTexts.account} <b>${email}</b></p>
<p>${notMeTexts.happened[purpose](provider)}</p>
<p>${notMeTexts.about}</p>
<ul class="ends">
${removes && html`<li>${removes(provider)}</li>`}
<li>${notMeTexts.endsSessions}</li>
<li>${nextStep(layout, view)}</li>
</ul>
${otherEmail !== undefined && html`<p>${notMeTexts.leaves} <b>${otherEmail}</b>.</p>`}
<form method="post" action="/auth/account/not-me" novalidate>
${csrfInput(csrfToken)}${tokenInput(token)}
${setsPassword && passwordField(layout, view)}
${formEnd(layout, view, html`<button class="first">${button}</button>`)}
</form>
<p class="hint">${notMeTexts.otherwise}</p>`,
    })
  }

const notMeTexts = {
  title: 'Was this not you?',
  account: 'This is about the account',
  /** These texts say what the user was told of, by the purpose of the link. */
  happened: {
    not_me: (provider: string): string => `${provider} was connected to it, and can log in to it since then.`,
    not_my_browser: (): string => 'Someone logged in to it in a browser where nobody had logged in to it before.',
    not_my_passkey: (): string => 'A passkey was added to it, and logs in to it since then.',
    not_my_second_factor: (): string => 'An authenticator app was set up for it, and logging in takes its codes.',
  },
  about: 'If it was not you, we make your account safe now:',
  /** These texts say what the button removes. */
  removes: {
    not_me: (provider: string): string => `${provider} is disconnected.`,
    not_my_browser: undefined,
    not_my_passkey: (): string => 'That passkey is removed, and so are recovery codes that were made since.',
    not_my_second_factor: (): string =>
      'The authenticator app is removed, and so are recovery codes that were made since.',
  },
  endsSessions: 'Every device is logged out.',
  setsPassword: 'Your new password replaces the old one, which someone else may know.',
  leaves: 'You are logged in here with another account, which this logs out:',
  /** This is shown if the account has no password. */
  asksPassword: 'You choose a new password on the next page.',
  /** This is shown if users have no passwords. */
  asksProvider: 'You choose what you log in with on the next page.',
  button: 'This wasn’t me',
  buttonWithPassword: 'This wasn’t me: save and log in',
  otherwise: 'If it was you, close this page. Nothing changes.',
} as const
