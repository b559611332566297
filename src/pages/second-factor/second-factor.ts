import { type HtmlFragment, html } from '../../lib/html.ts'
import { accountDone } from '../account-done.ts'
import { csrfInput, formProblem, notice, returnToInput } from '../form.ts'
import type { Layout } from '../layout.ts'
import { accountLinks } from '../sign-in-links.ts'
import { setUpSteps } from './set-up-steps.ts'
import { secondFactorTexts as words } from './texts.ts'
import type { RecoveryCodesView, SecondFactorView, SetUpView } from './views.ts'

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

/** The page about codes of an app and recovery codes. */
export const createSecondFactorPage =
  (layout: Layout) =>
  (view: SecondFactorView): string => {
    const { setUp, hasApp, recoveryCodes } = view
    // The new app is all that this is about then.
    const isReplacing = setUp !== undefined && hasApp
    return layout.panel({
      title: titleOf(view),
      wrong: Boolean(view.problem ?? setUp?.error),
      below: accountLinks(),
      body: html`${formProblem(view.problem, layout.support, true)}${setUp ? setUpPart(view, setUp) : hasApp && appPart(view)}
${!isReplacing && recoveryCodes !== undefined && recoveryPart(view, recoveryCodes)}`,
    })
  }

/** Shown by the script of the pages, where the browser lets a page write to the clipboard. */
const copyButton = html`<button class="second" type="button" hidden data-copies="codes" data-copied="${words.copied}" aria-live="polite">${words.copy}</button>`

/** The page that shows new recovery codes, once. */
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

/** The text file of recovery codes. */
export const createRecoveryCodesFile =
  ({ appName }: Layout) =>
  ({ email, codes }: { email: string; codes: readonly string[] }): string =>
    words.file(appName, email, codes)
