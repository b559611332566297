import { type HtmlFragment, html } from '../lib/html.ts'
import { csrfInput, formProblem, ownerInput, returnToInput } from './form.ts'
import type { Layout } from './layout.ts'
import { loginCodeTexts as words } from './login-code-texts.ts'
import { passkeyButton } from './passkey-button.ts'
import { orLine } from './provider-buttons.ts'
import { codeEntry, codeProblemOf } from './second-factor/code-field.ts'
import type { CodeErrors, TakenCodes } from './second-factor/views.ts'
import { entryHref } from './sign-in-links.ts'
import { texts } from './texts.ts'
import { durationOf } from './time-text.ts'
import type { FormView } from './views.ts'

/** What a login asks for after the password or the provider. */
export interface LoginCodeView extends FormView {
  email: string
  returnTo: string | undefined
  /** Undefined: there is a passkey alone. */
  takes: TakenCodes | undefined
  /** Whether a passkey of the account will do as well. */
  hasPasskeys: boolean
  /** Undefined where trust is not offered. */
  trustMs: number | undefined
  trusts: boolean
  /** What people call the provider that is connected at the end. */
  connects: string | undefined
  /** Whether a user who is signed in confirms that it is them. */
  confirms: boolean
  errors: CodeErrors
}

const trustInput = ({ trustMs, trusts }: LoginCodeView): HtmlFragment | undefined =>
  trustMs === undefined
    ? undefined
    : html`<label class="tick" for="trust_browser"><input type="checkbox" id="trust_browser" name="trust_browser" value="1"${trusts && html` checked`}>${words.trust(durationOf(trustMs))}<br>
<span>${words.trustAbout}</span></label>
`

const codePart = (view: LoginCodeView, takes: TakenCodes): HtmlFragment => html`${codeEntry({
  takes,
  errors: view.errors,
  focused: Boolean(codeProblemOf(view.errors)) || !view.problem,
})}
${trustInput(view)}<button class="first">${view.confirms ? words.buttonConfirm : words.button}</button>`

const passkeyPart = ({ csrfToken, takes }: LoginCodeView): HtmlFragment => {
  const hasOthers = takes !== undefined
  return passkeyButton({ kind: 'fill', csrfToken, hasOthers, isMain: !hasOthers, before: hasOthers && orLine() })
}

/** What is wrong with a passkey, where there is no field above its button. */
const passkeyProblem = (view: LoginCodeView): HtmlFragment | undefined => {
  const problem = codeProblemOf(view.errors)
  return typeof problem === 'string'
    ? html`<p class="problem" role="alert" tabindex="-1" autofocus>${texts.fieldProblems[problem]}</p>
`
    : undefined
}

const hasApp = (takes: LoginCodeView['takes']): boolean => takes === 'both' || takes === 'codes'

const aboutOf = ({ confirms, connects, email, takes }: LoginCodeView): HtmlFragment =>
  html`<p>${confirms ? words.confirmingAs : words.loggingInAs} <b>${email}</b>.${connects !== undefined && ` ${words.connecting(connects)}`}</p>
${!hasApp(takes) && html`<p>${takes ? words.passkeyAbout : words.passkeyAlone}</p>`}`

/** The page that asks for a code at a login. */
export const createLoginCodePage =
  (layout: Layout) =>
  (view: LoginCodeView): string => {
    const usesPasskeys = layout.passkeys && view.hasPasskeys
    const help = view.takes === 'both' || view.takes === 'recovery_codes' ? words.help : words.helpWithoutCodes
    return layout.panel({
      title: hasApp(view.takes) ? words.title : words.titlePasskey,
      wrong: Boolean(view.problem ?? codeProblemOf(view.errors)),
      passkeys: usesPasskeys,
      below: view.confirms
        ? html`<a href="/auth/account">${texts.backToAccount}</a>`
        : html`<a href="${entryHref('/auth/login', view.returnTo)}">${words.other}</a>`,
      body: html`${formProblem(view.problem, layout.support, !codeProblemOf(view.errors))}
${aboutOf(view)}
<form method="post" action="/auth/login/code" novalidate>
${csrfInput(view.csrfToken)}${returnToInput(view.returnTo)}
${ownerInput(view.email)}
${view.takes ? codePart(view, view.takes) : passkeyProblem(view)}
${usesPasskeys && passkeyPart(view)}
</form>
<details>
<summary class="quiet">${words.helpTitle}</summary>
<p class="about">${layout.support.text(help(layout.appName))}</p>
</details>`,
    })
  }
