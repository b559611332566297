import { type HtmlFragment, html } from '../lib/html.ts'
import { csrfInput, formProblem, ownerInput, returnToInput } from './form.ts'
import type { Layout } from './layout.ts'
import { loginCodeTexts as words } from './login-code-texts.ts'
import { passkeyButton } from './passkey-button.ts'
import { orLine } from './provider-buttons.ts'
import { codeField } from './second-factor/code-field.ts'
import { entryHref } from './sign-in-links.ts'
import { texts } from './texts.ts'
import type { FieldProblem, FormView } from './views.ts'

/** What a login asks for after the password or the provider. */
export interface LoginCodeView extends FormView {
  email: string
  returnTo: string | undefined
  /** What the field takes: codes of an app and recovery codes, recovery codes alone, or there is no field. */
  takes: 'codes' | 'recovery_codes' | 'nothing'
  /** Whether a passkey of the account will do as well. */
  hasPasskeys: boolean
  /** Undefined where trust is not offered. */
  trustMs: number | undefined
  trusts: boolean
  /** What people call the provider that is connected at the end. */
  connects: string | undefined
  /** Whether a user who is signed in confirms that it is them. */
  confirms: boolean
  errors: { code?: FieldProblem | undefined; passkey_response?: FieldProblem | undefined }
}

const DAY_MS = 86_400_000

const trustText = (trustMs: number): string =>
  trustMs < DAY_MS ? words.trustShortly : words.trust(Math.floor(trustMs / DAY_MS))

const trustInput = ({ trustMs, trusts }: LoginCodeView): HtmlFragment | undefined =>
  trustMs === undefined
    ? undefined
    : html`<label class="tick" for="trust_browser"><input type="checkbox" id="trust_browser" name="trust_browser" value="1"${trusts && html` checked`}> ${trustText(trustMs)}</label>
`

const problemOf = ({ errors }: LoginCodeView): FieldProblem | undefined => errors.code ?? errors.passkey_response

const codePart = (view: LoginCodeView): HtmlFragment => html`${codeField({
  ...(view.takes === 'codes' ? { hint: words.codeHint } : { label: words.recoveryCode, hint: words.recoveryCodeHint }),
  numeric: false,
  problem: problemOf(view),
  focused: Boolean(problemOf(view)) || !view.problem,
})}
${trustInput(view)}<button class="first">${view.confirms ? words.buttonConfirm : words.button}</button>`

const passkeyPart = ({ csrfToken, takes }: LoginCodeView): HtmlFragment => {
  const hasOthers = takes !== 'nothing'
  return passkeyButton({ kind: 'fill', csrfToken, hasOthers, isMain: !hasOthers, before: hasOthers && orLine() })
}

/** What is wrong with a passkey, where there is no field above its button. */
const passkeyProblem = (view: LoginCodeView): HtmlFragment | undefined => {
  const problem = problemOf(view)
  return view.takes === 'nothing' && typeof problem === 'string'
    ? html`<p class="problem" role="alert" tabindex="-1" autofocus>${texts.fieldProblems[problem]}</p>
`
    : undefined
}

const aboutOf = ({ confirms, connects, email, takes }: LoginCodeView): HtmlFragment =>
  html`<p>${confirms ? words.confirmingAs : words.loggingInAs} <b>${email}</b>.${connects !== undefined && ` ${words.connecting(connects)}`}</p>
${takes !== 'codes' && html`<p>${words.passkeyAbout}</p>`}`

/** The page that asks for a code at a login. */
export const createLoginCodePage =
  (layout: Layout) =>
  (view: LoginCodeView): string => {
    const usesPasskeys = layout.passkeys && view.hasPasskeys
    return layout.panel({
      title: view.takes === 'codes' ? words.title : words.titlePasskey,
      wrong: Boolean(view.problem ?? problemOf(view)),
      passkeys: usesPasskeys,
      below: view.confirms
        ? html`<a href="/auth/account">${texts.backToAccount}</a>`
        : html`<a href="${entryHref('/auth/login', view.returnTo)}">${words.other}</a>`,
      body: html`${formProblem(view.problem, layout.support, !problemOf(view))}
${aboutOf(view)}
<form method="post" action="/auth/login/code" novalidate>
${csrfInput(view.csrfToken)}${returnToInput(view.returnTo)}
${ownerInput(view.email)}
${view.takes === 'nothing' ? passkeyProblem(view) : codePart(view)}
${usesPasskeys && passkeyPart(view)}
</form>
<details>
<summary class="quiet">${words.helpTitle}</summary>
<p class="about">${layout.support.text(words.help(layout.appName))}</p>
</details>`,
    })
  }
