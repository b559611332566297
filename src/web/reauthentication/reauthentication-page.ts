import { type HtmlFragment, html } from '../../lib/html.ts'
import { type CodeErrors, type TakenCodes, codeEntry, codeProblemOf } from '../site/code-field.ts'
import { forgotBelow, forgotBeside, forgotLink } from '../site/forgot-link.ts'
import type { FieldProblem, FormProblem } from '../../http/form-view.ts'
import { csrfInput, field, ownerInput, returnToInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { passkeyButton } from '../site/passkey-button.ts'
import { accountLinks, acrInput, intentInput, orLine, providerButtons } from '../site/providers.ts'
import type { ProviderView } from '../../http/services.ts'
import { texts } from '../site/texts.ts'

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
  label: texts.password,
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
}<button class="first">${texts.confirmButton}</button>
</form>
`
}

const lostCode = ({ code, hasPassword, providers }: ReauthenticationView, { support, appName }: Layout) =>
  (code === 'both' || code === 'codes') &&
  (hasPassword || providers.length > 0) &&
  html`<details>
<summary class="quiet">${stepUpTexts.lost}</summary>
<p class="about">${support.text((code === 'both' ? stepUpTexts.lostAbout : stepUpTexts.lostAll)(appName))}</p>
</details>
`

const passkeyWay = (view: ReauthenticationView, isOn: boolean): HtmlFragment | false => {
  const { csrfToken, target, hasPassword, providers } = view
  const hasOthers = hasPassword || providers.length > 0
  const url = `/auth/passkeys/login?confirm=1&return_to=${encodeURIComponent(target.toWellFormed())}`
  return isOn && passkeyButton({ kind: 'confirm', csrfToken, url, isMain: !hasPassword, hasOthers })
}

const providerWays = (view: ReauthenticationView): HtmlFragment | undefined => {
  const { csrfToken, providers, code, returnTo, acr } = view
  const hiddenInputs = html`${intentInput('confirm')}${stepUpInputs(returnTo, code ? 'mfa' : acr)}`
  const buttons = providerButtons({ csrfToken, providers, hiddenInputs, words: texts.continueWith })
  return buttons && html`${buttons}${code && html`<p class="hint">${stepUpTexts.codeAfterProvider}</p>`}`
}

const aboutOf = ({ returnTo, setsUpNext }: ReauthenticationView, { appName }: Layout): string => {
  if (setsUpNext) return stepUpTexts.setsUpNext
  return returnTo === undefined || returnTo.startsWith('/auth/') ? texts.confirmAbout : stepUpTexts.aboutSite(appName)
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
    const others = [passkeyWay(view, passkeys), providerWays(view)].filter((way) => way !== false && way !== undefined)
    const isPossible = hasPassword || others.length > 0
    const about = isPossible ? aboutOf(view, layout) : layout.support.text(texts.confirmImpossible(layout.appName))
    return layout.panel({
      title: texts.confirm,
      sign: isPossible ? undefined : 'info',
      wrong: Boolean(problem ?? fieldProblem),
      problem,
      focusesProblem: !fieldProblem,
      passkeys,
      below: accountLinks(),
      body: html`<p>${texts.logOutAs} <b>${email}</b>. ${about}</p>
${hasPassword && html`${passwordForm(view, layout)}${lostCode(view, layout)}${(view.code ? forgotLink : forgotBelow)(layout, { email })}`}${hasPassword && others.length > 0 && orLine()}${others}${!isPossible && layout.mailIsOn && forgotLink(layout, view)}`,
    })
  }

/** Creates the page that is shown if an application asks for more than one factor, and the settings allow only one. */
export const createStepUpImpossiblePage = (layout: Layout) => (): string =>
  layout.panel({
    title: stepUpTexts.impossible,
    sign: 'warning',
    over: texts.errorStatus(403),
    body: html`<p>${stepUpTexts.impossibleAbout(layout.appName)}</p>
<p>${layout.support.text(stepUpTexts.impossibleAdvice(layout.appName))}</p>
<div class="steps">
<a class="first" href="${layout.homeUrl}">${texts.home(layout.appName)}</a>
<a class="second" href="/auth/account">${texts.backToAccount}</a>
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

const stepUpTexts = {
  aboutSite: (appName: string): string => `${appName} wants to be sure that it’s you. Log in once more to go on.`,
  setsUpNext:
    'What comes next needs more than one proof that it’s you, and your account has only one so far. Log in once more, then set up the second.',
  lost: 'I have no code',
  lostAbout: (appName: string): string =>
    `Use one of your recovery codes: you were asked to keep them when you set this up. If you have none left, ask whoever runs ${appName}.`,
  lostAll: (appName: string): string => `No recovery code is left on your account, so ask whoever runs ${appName}.`,
  codeAfterProvider: 'You are asked for a code afterwards.',

  impossible: 'This can’t be done here',
  impossibleAbout: (appName: string): string =>
    `What you wanted needs more than one proof that it’s you, such as a code from your phone. ${appName} has that switched off at the moment, so it can’t ask you.`,
  impossibleAdvice: (appName: string): string => `Ask whoever runs ${appName}.`,
}
