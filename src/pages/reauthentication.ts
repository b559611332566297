import { type HtmlFragment, html } from '../lib/html.ts'
import { csrfInput, field, formProblem, ownerInput } from './form.ts'
import type { Layout } from './layout.ts'
import { forgotLink } from './recovery/forgot-link.ts'
import { intentInput, orLine, providerButtons } from './provider-buttons.ts'
import { texts } from './texts.ts'
import type { ReauthenticationView } from './views.ts'

const passwordForm = ({ csrfToken, email, problem, errors }: ReauthenticationView): HtmlFragment =>
  html`<form method="post" action="/auth/account/confirm" novalidate>
${csrfInput(csrfToken)}
${ownerInput(email)}
${field({
  name: 'password',
  label: texts.password,
  type: 'password',
  autocomplete: 'current-password',
  problem: errors.password,
  focused: Boolean(errors.password) || !problem,
})}
<button class="first">${texts.confirmButton}</button>
</form>
`

const providerWays = ({ csrfToken, hasPassword, providers }: ReauthenticationView): HtmlFragment | undefined => {
  const hiddenInputs = intentInput('confirm')
  const buttons = providerButtons({ csrfToken, providers, hiddenInputs, words: texts.continueWith })
  return buttons && html`${hasPassword && orLine()}${buttons}`
}

/** The page for re-authentication, before a change that could lock the user out. */
export const createReauthenticationPage =
  (layout: Layout) =>
  (view: ReauthenticationView): string => {
    const isPossible = view.hasPassword || view.providers.length > 0
    return layout.panel({
      title: texts.confirm,
      wrong: Boolean(view.problem ?? view.errors.password),
      scripted: view.hasPassword,
      below: html`<a href="/auth/account">${texts.backToAccount}</a>`,
      body: html`${formProblem(view.problem, layout.support, !view.errors.password)}
<p>${texts.logOutAs} <b>${view.email}</b>. ${isPossible ? texts.confirmAbout : layout.support.text(texts.confirmImpossible(layout.appName))}</p>
${view.hasPassword && html`${passwordForm(view)}${forgotLink(layout, view)}`}${providerWays(view)}${!isPossible && layout.mailIsOn && forgotLink(layout, view)}`,
    })
  }
