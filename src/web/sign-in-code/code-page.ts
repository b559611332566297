import { type HtmlFragment, html } from '../../lib/html.ts'
import { type CodeErrors, type TakenCodes, codeEntry, codeProblemOf } from '../site/code-field.ts'
import type { FormView } from '../../http/form-view.ts'
import { csrfInput, ownerInput, returnToInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { passkeyButton } from '../site/passkey-button.ts'
import { entryHref, orLine } from '../site/providers.ts'
import { texts } from '../site/texts.ts'
import { durationOf } from '../site/time-text.ts'
import { type SetUpView, setUpSteps } from '../sign-in/set-up-steps.ts'

/** A login asks for this after the password or the provider. */
export interface LoginCodeView extends FormView {
  email: string
  returnTo: string | undefined
  /** It is undefined if the account has a passkey alone. */
  takes: TakenCodes | undefined
  /** This tells whether a passkey of the account will do as well. */
  hasPasskeys: boolean
  /** It is undefined if trust is not offered. */
  trustMs: number | undefined
  trusts: boolean
  /** This is the label of the provider that is connected at the end. */
  connects: string | undefined
  /** This tells whether a user who is signed in confirms that it is them. */
  confirms: boolean
  errors: CodeErrors
}

const trustInput = ({ trustMs, trusts }: LoginCodeView): HtmlFragment | undefined =>
  trustMs === undefined
    ? undefined
    : html`<label class="tick" for="trust_browser"><input type="checkbox" id="trust_browser" name="trust_browser" value="1"${trusts && html` checked`}>${loginCodeTexts.trust(durationOf(trustMs))}<br>
<span>${loginCodeTexts.trustAbout}</span></label>
`

const codePart = (view: LoginCodeView, takes: TakenCodes): HtmlFragment => html`${codeEntry({
  takes,
  errors: view.errors,
  focused: Boolean(codeProblemOf(view.errors)) || !view.problem,
})}
${trustInput(view)}<button class="first">${view.confirms ? loginCodeTexts.buttonConfirm : loginCodeTexts.button}</button>`

const passkeyPart = ({ csrfToken, takes }: LoginCodeView): HtmlFragment => {
  const hasOthers = takes !== undefined
  return passkeyButton({ kind: 'fill', csrfToken, hasOthers, isMain: !hasOthers, before: hasOthers && orLine() })
}

/** Says what is wrong with a passkey, if there is no field above its button. */
const passkeyProblem = (view: LoginCodeView): HtmlFragment | undefined => {
  const problem = codeProblemOf(view.errors)
  return typeof problem === 'string'
    ? html`<p class="problem" role="alert" tabindex="-1" autofocus>${texts.fieldProblems[problem]}</p>
`
    : undefined
}

const hasApp = (takes: LoginCodeView['takes']): boolean => takes === 'both' || takes === 'codes'

const aboutOf = ({ confirms, connects, email, takes }: LoginCodeView): HtmlFragment =>
  html`<p>${confirms ? loginCodeTexts.confirmingAs : loginCodeTexts.loggingInAs} <b>${email}</b>.${connects !== undefined && ` ${loginCodeTexts.connecting(connects)}`}</p>
${!hasApp(takes) && html`<p>${takes ? loginCodeTexts.passkeyAbout : loginCodeTexts.passkeyAlone}</p>`}`

export const createLoginCodePage =
  (layout: Layout) =>
  (view: LoginCodeView): string => {
    const usesPasskeys = layout.passkeys && view.hasPasskeys
    const help =
      view.takes === 'both' || view.takes === 'recovery_codes' ? loginCodeTexts.help : loginCodeTexts.helpWithoutCodes
    return layout.panel({
      title: hasApp(view.takes) ? loginCodeTexts.title : loginCodeTexts.titlePasskey,
      wrong: Boolean(view.problem ?? codeProblemOf(view.errors)),
      problem: view.problem,
      focusesProblem: !codeProblemOf(view.errors),
      passkeys: usesPasskeys,
      below: view.confirms
        ? html`<a href="/auth/account">${texts.backToAccount}</a>`
        : html`<a href="${entryHref('/auth/login', view.returnTo)}">${loginCodeTexts.other}</a>`,
      body: html`${aboutOf(view)}
<form method="post" action="/auth/login/code" novalidate>
${csrfInput(view.csrfToken)}${returnToInput(view.returnTo)}
${ownerInput(view.email)}
${view.takes ? codePart(view, view.takes) : passkeyProblem(view)}
${usesPasskeys && passkeyPart(view)}
</form>
<details>
<summary class="quiet">${loginCodeTexts.helpTitle}</summary>
<p class="about">${layout.support.text(help(layout.appName))}</p>
</details>`,
    })
  }

const loginCodeTexts = {
  title: 'Enter your code',
  titlePasskey: 'One more step',
  loggingInAs: 'You are logging in as',
  confirmingAs: 'You are confirming that you are',
  connecting: (provider: string): string => `${provider} is connected to this account once the code is right.`,
  passkeyAbout: 'This account has a passkey. Use it now, or enter a recovery code.',
  passkeyAlone: 'This account has a passkey. Use it now.',
  trust: (duration: string): string => `Trust this browser for ${duration}`,
  trustAbout: 'No code is asked for in it until then.',
  button: 'Log in',
  buttonConfirm: 'Confirm',
  helpTitle: 'Lost your phone or your passkey?',
  help: (appName: string): string =>
    `Use a recovery code: you were shown ten of them when you set this up. If none is left, ask whoever runs ${appName} to remove this step from your account.`,
  helpWithoutCodes: (appName: string): string =>
    `No recovery code is left on this account, so ask whoever runs ${appName} to remove this step from it.`,
  other: 'Log in as someone else',
}

/** These texts are for the page that has a user set up a second factor. */
const enrolTexts = {
  title: 'Set up a second step',
  about: (appName: string): string =>
    `${appName} asks for more than a password. Set this up now; from the next time on, it takes a moment.`,
  loggingInAs: 'You are logging in as',
  byPasskey: 'With this device',
  byPasskeyAbout: 'A passkey logs you in with a fingerprint, your face or a PIN.',
  byApp: 'With an app on your phone',
  helpTitle: 'No phone at hand?',
  help: (appName: string): string =>
    `An app on this computer will do as well, and so do most password managers. Or come back when you have your phone: nothing is lost, and you log in with your password then. If neither is possible, ask whoever runs ${appName}.`,
  other: 'Log in as someone else',
}

/** A user sets this up before they go on. */
export interface LoginEnrolView extends FormView {
  email: string
  returnTo: string | undefined
  setUp: SetUpView
}

const ACTION = '/auth/login/enrol'

/** Creates the page that has a user set up a second factor, or a passkey, before the login goes on. */
export const createLoginEnrolPage =
  (layout: Layout) =>
  (view: LoginEnrolView): string => {
    const { csrfToken, returnTo, email, setUp, problem } = view
    const hiddenInputs = html`${csrfInput(csrfToken)}${returnToInput(returnTo)}${ownerInput(email)}`
    return layout.panel({
      title: enrolTexts.title,
      wrong: Boolean(problem ?? setUp.error),
      problem,
      focusesProblem: !setUp.error,
      passkeys: layout.passkeys,
      below: html`<a href="${entryHref('/auth/login', returnTo)}">${enrolTexts.other}</a>`,
      body: html`<p>${enrolTexts.about(layout.appName)} ${enrolTexts.loggingInAs} <b>${email}</b>.</p>
<details>
<summary class="quiet">${enrolTexts.helpTitle}</summary>
<p class="about">${layout.support.text(enrolTexts.help(layout.appName))}</p>
</details>
${
  layout.passkeys &&
  html`<h2>${enrolTexts.byPasskey}</h2>
<p class="about">${enrolTexts.byPasskeyAbout}</p>
${passkeyButton({ kind: 'add', csrfToken, hasOthers: true })}`
}
<h2>${enrolTexts.byApp}</h2>
${setUpSteps(setUp, { action: ACTION, hiddenInputs })}`,
    })
  }
