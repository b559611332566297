import { bold, sentences } from '../site/bold.ts'
import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import type { FormProblem } from '../../http/form-view.ts'
import { RECOVERY_CODES } from '../../second-factor/recovery-code-sets.ts'
import { csrfInput, returnToInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { accountLinks } from '../site/providers.ts'
import { type SetUpView, setUpSteps } from '../sign-in/set-up-steps.ts'

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
  return html`<p>${t(hasApp ? 'authenticator.replace_about' : 'authenticator.set_up_about')}</p>
${setUpSteps(setUp, { action: ACTION, hiddenInputs })}`
}

const appPart = (
  { csrfToken, isRequired }: SecondFactorView,
  app: string,
): HtmlFragment => html`<p><b>${t('authenticator.title')}</b> <span class="badge">${t('account.two_step.on')}</span></p>
<p>${t('authenticator.on_about')}</p>
<a class="svc-button second" href="${ACTION}?replace=1">${t('authenticator.replace')}</a>
<details>
<summary class="quiet">${t('authenticator.remove_open')}</summary>
<form method="post" action="${ACTION}">
${csrfInput(csrfToken)}
<p>${isRequired ? t('authenticator.remove_required', { app }) : t('authenticator.remove_about')}</p>
<button class="svc-button danger" name="remove" value="1">${t('authenticator.remove')}</button>
</form>
</details>`

const recoveryPart = (
  { csrfToken, returnTo }: SecondFactorView,
  left: number,
): HtmlFragment => html`<h2>${t('recovery.title')}</h2>
<p>${sentences(t('recovery.about'), bold(left === 0 ? t('recovery.left_none') : t.plural('recovery.left', left, { total: RECOVERY_CODES })))}</p>
<form method="post" action="${ACTION}">
${csrfInput(csrfToken)}${returnToInput(returnTo)}
<button class="svc-button second" name="recovery_codes" value="new">${t('recovery.renew')}</button>
</form>
<p class="about">${t('recovery.renew_about')}</p>`

const titleOf = ({ setUp, hasApp }: SecondFactorView): string => {
  if (!setUp) return t('account.two_step.title')
  return t(hasApp ? 'authenticator.replace_title' : 'authenticator.set_up_title')
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
      body: html`${setUp ? setUpPart(view, setUp) : hasApp && appPart(view, layout.appName)}
${!isReplacing && recoveryCodes !== undefined && recoveryPart(view, recoveryCodes)}`,
    })
  }
