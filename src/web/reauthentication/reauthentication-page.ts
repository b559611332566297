import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { type CodeErrors, type TakenCodes, codeEntry, codeProblemOf } from '../site/code-field.ts'
import { forgotBelow, forgotBeside, forgotLink } from '../site/forgot-link.ts'
import type { FieldProblem, FormProblem } from '../../http/form-view.ts'
import { leadsToRequest, withReturnTo } from '../../http/return-to.ts'
import { csrfInput, field, ownerInput, returnToInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { passkeyButton } from '../site/passkey-button.ts'
import { accountLinks, acrInput, continueWith, intentInput, orLine, providerButtons } from '../site/providers.ts'
import type { ProviderView } from '../../http/services.ts'

/** Each form sends back what the page was asked for. */
const stepUpInputs = (returnTo: string | undefined, acr: string | undefined): HtmlFragment =>
  html`${returnToInput(returnTo)}${acrInput(acr)}`

const passwordForm = (view: ReauthenticationView, layout: Layout): HtmlFragment => {
  const { csrfToken, email, problem, errors, code: takes, codeValue: value, returnTo, acr } = view
  const codeProblem = codeProblemOf(errors)
  return html`<form method="post" action="/auth/account/confirm" novalidate>
${csrfInput(csrfToken)}${stepUpInputs(returnTo, acr)}
${ownerInput(email)}
${field({
  name: 'password',
  label: t('field.password'),
  type: 'password',
  autocomplete: 'current-password',
  problem: errors.password,
  focused: Boolean(errors.password) || !(problem ?? codeProblem),
  // It would stand between the two fields for the keyboard.
  beside: takes ? undefined : forgotBeside(layout, { email }),
})}
${
  takes &&
  html`${codeEntry({ takes, errors, value, focused: Boolean(codeProblem) && !errors.password && !problem })}
`
}<button class="svc-button first">${t('common.confirm')}</button>
</form>
`
}

const lostCode = ({ code, hasPassword, providers }: ReauthenticationView, { support }: Layout) =>
  (code === 'both' || code === 'codes') &&
  (hasPassword || providers.length > 0) &&
  html`<details>
<summary class="quiet">${t('login_code.lost')}</summary>
<p class="about">${t.html(code === 'both' ? 'login_code.lost_use_recovery' : 'login_code.lost_no_recovery', { support: support.sentence() })}</p>
</details>
`

const passkeyWay = (view: ReauthenticationView, isOn: boolean): HtmlFragment | false => {
  const { csrfToken, target, hasPassword, providers } = view
  const hasOthers = hasPassword || providers.length > 0
  const url = withReturnTo('/auth/passkeys/login?confirm=1', target)
  return isOn && passkeyButton({ kind: 'confirm', csrfToken, url, isMain: !hasPassword, hasOthers })
}

const providerWays = (view: ReauthenticationView): HtmlFragment | undefined => {
  const { csrfToken, providers, code, returnTo, acr } = view
  const hiddenInputs = html`${intentInput('confirm')}${stepUpInputs(returnTo, code ? 'mfa' : acr)}`
  const buttons = providerButtons({ csrfToken, providers, hiddenInputs, words: continueWith })
  return buttons && html`${buttons}${code && html`<p class="hint">${t('reauthentication.code_next')}</p>`}`
}

/** The code is sent to the address of the account, and is good for this session alone. */
const mailWay = ({ csrfToken, byMail = false, providers, returnTo, acr }: ReauthenticationView): HtmlFragment | false =>
  byMail &&
  html`<form method="post" action="/auth/login/email">
${csrfInput(csrfToken)}${intentInput('confirm')}${stepUpInputs(returnTo, acr)}
<button class="svc-button ${providers.length > 0 ? 'second' : 'first'}">${t('email_sign_in.button')}</button>
</form>`

const aboutOf = (view: ReauthenticationView, { appName: app, support }: Layout, isPossible: boolean): HtmlFragment => {
  const { returnTo, setsUpNext } = view
  const email = html`<b>${view.email}</b>`
  if (!isPossible) return t.html('reauthentication.impossible', { email, support: support.sentence() })
  if (!setsUpNext && returnTo !== undefined && leadsToRequest(returnTo))
    return t.html('reauthentication.about_client', { email })
  if (setsUpNext) return t.html('reauthentication.about_set_up', { email })
  return returnTo === undefined || returnTo.startsWith('/auth/')
    ? t.html('reauthentication.about', { email })
    : t.html('reauthentication.about_app', { email, app })
}

/**
 * Creates the page for re-authentication. Users see it before a change that could lock them out, and when the
 * application asks for it.
 */
export const createReauthenticationPage =
  (layout: Layout) =>
  (view: ReauthenticationView): string => {
    const { email, hasPassword, problem, errors } = view
    const fieldProblem = errors.password ?? codeProblemOf(errors)
    const passkeys = layout.passkeys && view.hasPasskeys
    const ways = [passkeyWay(view, passkeys), providerWays(view), mailWay(view)]
    const others = ways.filter((way) => way !== false && way !== undefined)
    const isPossible = hasPassword || others.length > 0
    return layout.panel({
      title: t('reauthentication.title'),
      sign: isPossible ? (view.byMail && others.length === 1 ? 'mail' : undefined) : 'info',
      wrong: Boolean(problem ?? fieldProblem),
      problem,
      focusesProblem: !fieldProblem,
      passkeys,
      below: accountLinks(),
      body: html`<p>${aboutOf(view, layout, isPossible)}</p>
${hasPassword && html`${passwordForm(view, layout)}${lostCode(view, layout)}${(view.code ? forgotLink : forgotBelow)(layout, { email })}`}${hasPassword && others.length > 0 && orLine()}${others}${!isPossible && layout.mailIsOn && forgotLink(layout, view)}`,
    })
  }

/** Creates the page that is shown if an application asks for more than one factor, and the settings allow only one. */
export const createStepUpImpossiblePage = (layout: Layout) => (): string =>
  layout.panel({
    title: t('reauthentication.off_title'),
    sign: 'warning',
    over: t('error.status', { status: 403 }),
    body: html`<p>${t.html('reauthentication.off_about', { app: layout.appName, support: layout.support.sentence() })}</p>
<div class="steps">
<a class="svc-button first" href="${layout.homeUrl}">${t('common.home', { app: layout.appName })}</a>
<a class="svc-button second" href="/auth/account">${t('common.back_to_account')}</a>
</div>`,
  })

export interface ReauthenticationView {
  csrfToken: string
  problem?: FormProblem | undefined
  email: string
  hasPassword: boolean
  /** These providers are connected to the account. */
  providers: readonly ProviderView[]
  hasPasskeys: boolean
  /** This tells whether a code by mail is enough. */
  byMail?: boolean
  /** This is asked for together with the password. */
  code: TakenCodes | undefined
  /** This is the code as it was typed, if it was not checked. */
  codeValue?: string | undefined
  /** The address of the page asks for this. */
  returnTo: string | undefined
  acr: string | undefined
  /** The user goes there afterwards. */
  target: string
  /** This tells whether the user sets up a second factor afterwards. */
  setsUpNext: boolean
  errors: CodeErrors & { password?: FieldProblem | undefined }
}
