import { type HtmlFragment, html } from '../lib/html.ts'
import { csrfInput, formProblem, ownerInput, returnToInput } from './form.ts'
import type { Layout } from './layout.ts'
import { loginCodeTexts as words } from './login-code-texts.ts'
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
  /** Undefined where trust is not offered. */
  trustMs: number | undefined
  trusts: boolean
  /** What people call the provider that is connected at the end. */
  connects: string | undefined
  /** Whether a user who is signed in confirms that it is them. */
  confirms: boolean
  errors: { code?: FieldProblem | undefined }
}

const DAY_MS = 86_400_000

const trustText = (trustMs: number): string =>
  trustMs < DAY_MS ? words.trustShortly : words.trust(Math.floor(trustMs / DAY_MS))

const trustInput = ({ trustMs, trusts }: LoginCodeView): HtmlFragment | undefined =>
  trustMs === undefined
    ? undefined
    : html`<label class="tick"><input type="checkbox" name="trust_browser" value="1"${trusts && html` checked`}> ${trustText(trustMs)}</label>
`

const fieldOf = ({ takes, errors, problem }: LoginCodeView): HtmlFragment =>
  codeField({
    ...(takes === 'codes' ? { hint: words.codeHint } : { label: words.recoveryCode, hint: words.recoveryCodeHint }),
    numeric: false,
    problem: errors.code,
    focused: Boolean(errors.code) || !problem,
  })

const form = (view: LoginCodeView): HtmlFragment => html`<form method="post" action="/auth/login/code" novalidate>
${csrfInput(view.csrfToken)}${returnToInput(view.returnTo)}
${ownerInput(view.email)}
${view.takes !== 'nothing' && fieldOf(view)}
${trustInput(view)}${view.takes !== 'nothing' && html`<button class="first">${view.confirms ? words.buttonConfirm : words.button}</button>`}
</form>`

/** The page that asks for a code at a login. */
export const createLoginCodePage =
  (layout: Layout) =>
  (view: LoginCodeView): string =>
    layout.panel({
      title: view.takes === 'codes' ? words.title : words.titlePasskey,
      wrong: Boolean(view.problem ?? view.errors.code),
      below: view.confirms
        ? html`<a href="/auth/account">${texts.backToAccount}</a>`
        : html`<a href="${entryHref('/auth/login', view.returnTo)}">${words.other}</a>`,
      body: html`${formProblem(view.problem, layout.support, !view.errors.code)}
<p>${view.confirms ? words.confirmingAs : words.loggingInAs} <b>${view.email}</b>.${view.connects !== undefined && ` ${words.connecting(view.connects)}`}</p>
${form(view)}
${
  view.takes === 'codes' &&
  html`<details>
<summary class="quiet">${words.helpTitle}</summary>
<p class="about">${layout.support.text(words.help(layout.appName))}</p>
</details>`
}`,
    })
