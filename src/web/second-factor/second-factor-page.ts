import { type HtmlFragment, html } from '../../lib/html.ts'
import type { FormProblem } from '../../http/form-view.ts'
import { csrfInput, returnToInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { accountLinks } from '../site/providers.ts'
import { type SetUpView, setUpSteps } from '../sign-in/set-up-steps.ts'
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
      sign: setUp ? undefined : 'key',
      wrong: Boolean(view.problem ?? setUp?.error),
      problem: view.problem,
      focusesProblem: true,
      below: accountLinks(),
      body: html`${setUp ? setUpPart(view, setUp) : hasApp && appPart(view)}
${!isReplacing && recoveryCodes !== undefined && recoveryPart(view, recoveryCodes)}`,
    })
  }
