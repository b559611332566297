import { type HtmlFragment, html } from '../../lib/html.ts'
import { accountDone } from '../site/account-done.ts'
import { codeField } from '../site/code-field.ts'
import type { FieldProblem, FormProblem } from '../site/form-view.ts'
import { csrfInput, formProblem, notice, returnToInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { accountLinks } from '../site/providers.ts'
import { secondFactorTexts as words } from '../site/second-factor-texts.ts'

/** `/auth/account/second-factor` shows what is set up, and what can be changed. */
export interface SecondFactorView {
  csrfToken: string
  problem?: FormProblem | undefined
  email: string
  /** An app is being set up: it is the first, or it replaces another. */
  setUp?: SetUpView | undefined
  hasApp: boolean
  /** This counts the codes that are left; it is undefined if there is nothing that they could stand for. */
  recoveryCodes: number | undefined
  /** This tells whether a login with a password leads to a new set-up. */
  isRequired: boolean
  /** The user goes on there afterwards; if it is undefined, to the account page. */
  returnTo: string | undefined
}

/** These are new recovery codes, which are shown once. */
export interface RecoveryCodesView {
  csrfToken: string
  email: string
  codes: readonly string[]
  /** The form that makes a file of the codes sends them in this sealed form. */
  sealed: string
  /** The user goes on there. */
  returnTo: string
  /** The codes come with this change; it is undefined if that was too long ago to say. */
  done: 'second_factor_set_up' | 'passkey_added' | 'recovery_codes_renewed' | undefined
}

const ACTION = '/auth/account/second-factor'

const setUpPart = ({ csrfToken, hasApp, returnTo }: SecondFactorView, setUp: SetUpView): HtmlFragment => {
  const hiddenInputs = html`${csrfInput(csrfToken)}${returnToInput(returnTo)}`
  return html`<p>${hasApp ? words.replaceAbout : words.setUpAbout}</p>
${setUpSteps(setUp, { action: ACTION, hiddenInputs })}`
}

const appPart = ({
  csrfToken,
  isRequired,
}: SecondFactorView): HtmlFragment => html`<p><b>${words.title}</b> <span class="badge">${words.on}</span></p>
<p>${words.onAbout}</p>
<a class="second" href="${ACTION}?replace=1">${words.replace}</a>
<details>
<summary class="quiet">${words.removeOpen}</summary>
<form method="post" action="${ACTION}">
${csrfInput(csrfToken)}
<p>${isRequired ? words.removeRequired : words.removeAbout}</p>
<button class="danger" name="remove" value="1">${words.remove}</button>
</form>
</details>`

const recoveryPart = (
  { csrfToken, returnTo }: SecondFactorView,
  left: number,
): HtmlFragment => html`<h2>${words.recoveryCodes}</h2>
<p>${words.recoveryAbout} <b>${words.left(left)}</b></p>
<form method="post" action="${ACTION}">
${csrfInput(csrfToken)}${returnToInput(returnTo)}
<button class="second" name="recovery_codes" value="new">${words.renew}</button>
</form>
<p class="about">${words.renewAbout}</p>`

const titleOf = ({ setUp, hasApp }: SecondFactorView): string => {
  if (!setUp) return words.section
  return hasApp ? words.replaceTitle : words.setUpTitle
}

export const createSecondFactorPage =
  (layout: Layout) =>
  (view: SecondFactorView): string => {
    const { setUp, hasApp, recoveryCodes } = view
    // The page is then about nothing but the new app.
    const isReplacing = setUp !== undefined && hasApp
    return layout.panel({
      title: titleOf(view),
      wrong: Boolean(view.problem ?? setUp?.error),
      below: accountLinks(),
      body: html`${formProblem(view.problem, layout.support, true)}${setUp ? setUpPart(view, setUp) : hasApp && appPart(view)}
${!isReplacing && recoveryCodes !== undefined && recoveryPart(view, recoveryCodes)}`,
    })
  }

/** The script of the pages shows the button if the browser lets a page write to the clipboard. */
const copyButton = html`<button class="second" type="button" hidden data-copies="codes" data-copied="${words.copied}" aria-live="polite">${words.copy}</button>`

/** Creates the page that shows new recovery codes, once. */
export const createRecoveryCodesPage =
  (layout: Layout) =>
  ({ csrfToken, email, codes, sealed, returnTo, done }: RecoveryCodesView): string =>
    layout.panel({
      title: words.codesTitle,
      scripted: true,
      below: accountLinks(),
      body: html`${notice(done && accountDone[done].text)}<p>${words.codesOf} <b>${email}</b>.</p>
<ul class="codes" id="codes">
${codes.map(
  (code) => html`<li><code>${code}</code></li>
`,
)}</ul>
<p>${words.codesAbout}</p>
<form class="beside" method="post" action="${ACTION}">
${csrfInput(csrfToken)}
${copyButton}
<button class="second" name="download" value="${sealed}">${words.download}</button>
</form>
<a class="first" href="${returnTo}">${words.kept}</a>`,
    })

export const createRecoveryCodesFile =
  ({ appName }: Layout) =>
  ({ email, codes }: { email: string; codes: readonly string[] }): string =>
    words.file(appName, email, codes)

/** A user needs this to set up an app. */
export interface SetUpView {
  /** It is written in Base32. */
  secret: string
  /** It begins with `otpauth://`. */
  uri: string
  /** These are rows of modules, true for the dark ones. */
  qrCode: readonly (readonly boolean[])[]
  /** It comes back with the first code. */
  sealed: string
  error?: FieldProblem | undefined
}

/** Splits a key into groups of four, as people read it. */
const inGroups = (secret: string): string => secret.replaceAll(/.{4}(?=.)/g, '$& ')

/** Shows the steps to set up an app, and the form for its first code. `hiddenInputs` has the CSRF token. */
export const setUpSteps = (
  { secret, uri, qrCode, sealed, error }: SetUpView,
  form: { action: string; hiddenInputs: HtmlFragment },
): HtmlFragment => html`<ol class="steps">
<li>${words.getApp}</li>
<li>${words.scan}
${qrCodeSvg(qrCode, words.qrCode)}
<p class="about">${words.onThisPhone} <a href="${uri}">${words.openApp}</a></p>
<p class="about">${words.cannotScan} <code>${inGroups(secret)}</code></p></li>
<li>${words.enterCode}
<form method="post" action="${form.action}" novalidate>
${form.hiddenInputs}
<input type="hidden" name="set_up" value="${sealed}">
${codeField({ hint: words.sixDigits, problem: error, focused: error !== undefined })}
<button class="first">${words.confirm}</button>
</form></li>
</ol>`

/** Each run of dark modules of a row is one rectangle, one module high. */
const darkRuns = (row: readonly boolean[], y: number): string => {
  const runs: string[] = []
  for (let x = 0; x < row.length; x += 1) {
    if (!row[x] || row[x - 1]) continue
    const end = row.indexOf(false, x)
    const width = (end < 0 ? row.length : end) - x
    runs.push(`M${x} ${y}h${width}v1h-${width}z`)
  }
  return runs.join('')
}

/** Draws a QR code as SVG. Scanners want it dark on light, whatever the colours of the page are. */
const qrCodeSvg = (modules: readonly (readonly boolean[])[], label: string): HtmlFragment => {
  const size = modules.length
  const dark = modules.map(darkRuns).join('')
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="${label}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path d="${dark}"/></svg>`
}
