import { bold, sentences } from '../site/bold.ts'
import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { type CodeErrors, type TakenCodes, codeEntry, codeProblemOf } from '../site/code-field.ts'
import type { FormView } from '../../http/form-view.ts'
import { csrfInput, fieldProblemText, ownerInput, returnToInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { passkeyButton } from '../site/passkey-button.ts'
import { entryHref, orLine } from '../site/providers.ts'
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
    : html`<label class="tick" for="trust_browser"><input type="checkbox" id="trust_browser" name="trust_browser" value="1"${trusts && html` checked`}>${t('login_code.trust', { duration: durationOf(trustMs) })}<br>
<span>${t('login_code.trust_hint')}</span></label>
`

const codePart = (view: LoginCodeView, takes: TakenCodes): HtmlFragment => html`${codeEntry({
  takes,
  errors: view.errors,
  focused: Boolean(codeProblemOf(view.errors)) || !view.problem,
})}
${trustInput(view)}<button class="svc-button first">${view.confirms ? t('common.confirm') : t('login.title')}</button>`

const passkeyPart = ({ csrfToken, takes }: LoginCodeView): HtmlFragment => {
  const hasOthers = takes !== undefined
  return passkeyButton({ kind: 'fill', csrfToken, hasOthers, isMain: !hasOthers, before: hasOthers && orLine() })
}

/** Says what is wrong with a passkey, if there is no field above its button. */
const passkeyProblem = (view: LoginCodeView): HtmlFragment | undefined => {
  const problem = codeProblemOf(view.errors)
  return (
    problem &&
    html`<p class="problem" role="alert" tabindex="-1" autofocus>${fieldProblemText(problem)}</p>
`
  )
}

const hasApp = (takes: LoginCodeView['takes']): boolean => takes === 'both' || takes === 'codes'

const aboutOf = ({ confirms, connects, email, takes }: LoginCodeView): HtmlFragment => {
  const who = t.html(confirms ? 'login_code.confirming_as' : 'login_code.logging_in_as', { email: bold(email) })
  const about =
    connects === undefined ? who : sentences(who, t.html('login_code.connecting', { provider: bold(connects) }))
  return html`<p>${about}</p>
${!hasApp(takes) && html`<p>${t(takes ? 'login_code.passkey_or_recovery' : 'login_code.passkey_only')}</p>`}`
}

export const createLoginCodePage =
  (layout: Layout) =>
  (view: LoginCodeView): string => {
    const usesPasskeys = layout.passkeys && view.hasPasskeys
    const hasRecoveryCodes = view.takes === 'both' || view.takes === 'recovery_codes'
    return layout.panel({
      title: t(hasApp(view.takes) ? 'login_code.title' : 'login_code.title_passkey'),
      wrong: Boolean(view.problem ?? codeProblemOf(view.errors)),
      problem: view.problem,
      focusesProblem: !codeProblemOf(view.errors),
      passkeys: usesPasskeys,
      below: view.confirms
        ? html`<a href="/auth/account">${t('common.back_to_account')}</a>`
        : html`<a href="${entryHref('/auth/login', view.returnTo)}">${t('login_code.other_account')}</a>`,
      body: html`${aboutOf(view)}
<form method="post" action="/auth/login/code" novalidate>
${csrfInput(view.csrfToken)}${returnToInput(view.returnTo)}
${ownerInput(view.email)}
${view.takes ? codePart(view, view.takes) : passkeyProblem(view)}
${usesPasskeys && passkeyPart(view)}
</form>
<details>
<summary class="quiet">${t('login_code.lost')}</summary>
<p class="about">${t.html(hasRecoveryCodes ? 'login_code.lost_use_recovery' : 'login_code.lost_no_recovery', { support: layout.support.sentence() })}</p>
</details>`,
    })
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
      title: t('login_set_up.title'),
      wrong: Boolean(problem ?? setUp.error),
      problem,
      focusesProblem: !setUp.error,
      passkeys: layout.passkeys,
      below: html`<a href="${entryHref('/auth/login', returnTo)}">${t('login_code.other_account')}</a>`,
      body: html`<p>${t.html('login_set_up.about', { app: layout.appName, email: html`<b>${email}</b>` })}</p>
<details>
<summary class="quiet">${t('login_set_up.no_phone')}</summary>
<p class="about">${t.html('login_set_up.no_phone_advice', { support: layout.support.sentence() })}</p>
</details>
${
  layout.passkeys &&
  html`<h2>${t('login_set_up.passkey')}</h2>
<p class="about">${t('passkeys.about')}</p>
${passkeyButton({ kind: 'add', csrfToken, hasOthers: true })}`
}
<h2>${t('login_set_up.app')}</h2>
${setUpSteps(setUp, { action: ACTION, hiddenInputs })}`,
    })
  }
