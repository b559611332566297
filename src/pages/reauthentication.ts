import { type HtmlFragment, html } from '../lib/html.ts'
import { csrfInput, field, formProblem, ownerInput, returnToInput } from './form.ts'
import type { Layout } from './layout.ts'
import { passkeyButton } from './passkey-button.ts'
import { forgotLink } from './recovery/forgot-link.ts'
import { acrInput, intentInput, orLine, providerButtons } from './provider-buttons.ts'
import { accountLinks } from './sign-in-links.ts'
import { codeEntry, codeProblemOf } from './second-factor/code-field.ts'
import { stepUpTexts as words } from './step-up-texts.ts'
import { texts } from './texts.ts'
import type { ReauthenticationView } from './views.ts'

/** What the page was asked for, which each form sends back. */
const stepUpInputs = (returnTo: string | undefined, acr: string | undefined): HtmlFragment =>
  html`${returnToInput(returnTo)}${acrInput(acr)}`

const passwordForm = (view: ReauthenticationView): HtmlFragment => {
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
<summary class="quiet">${words.lost}</summary>
<p class="about">${support.text((code === 'both' ? words.lostAbout : words.lostAll)(appName))}</p>
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
  return buttons && html`${buttons}${code && html`<p class="hint">${words.codeAfterProvider}</p>`}`
}

const aboutOf = ({ returnTo, setsUpNext }: ReauthenticationView, { appName }: Layout): string => {
  if (setsUpNext) return words.setsUpNext
  return returnTo === undefined || returnTo.startsWith('/auth/') ? texts.confirmAbout : words.aboutSite(appName)
}

/** The page for re-authentication: before a change that could lock the user out, and where the application asks for it. */
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
      wrong: Boolean(problem ?? fieldProblem),
      scripted: hasPassword,
      passkeys,
      below: accountLinks(),
      body: html`${formProblem(problem, layout.support, !fieldProblem)}
<p>${texts.logOutAs} <b>${email}</b>. ${about}</p>
${hasPassword && html`${passwordForm(view)}${lostCode(view, layout)}${forgotLink(layout, view)}`}${hasPassword && others.length > 0 && orLine()}${others}${!isPossible && layout.mailIsOn && forgotLink(layout, view)}`,
    })
  }

/** The page where an application asks for more than one factor, and the settings allow only one. */
export const createStepUpImpossiblePage = (layout: Layout) => (): string =>
  layout.panel({
    title: words.impossible,
    over: texts.errorStatus(403),
    body: html`<p>${words.impossibleAbout(layout.appName)}</p>
<p>${layout.support.text(words.impossibleAdvice(layout.appName))}</p>
<div class="steps">
<a class="first" href="${layout.homeUrl}">${texts.home(layout.appName)}</a>
<a class="second" href="/auth/account">${texts.backToAccount}</a>
</div>`,
  })
