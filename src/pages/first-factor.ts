import { type HtmlFragment, html } from '../lib/html.ts'
import { csrfInput, formProblem, returnToInput, tokenInput } from './form.ts'
import type { FormProblem } from './form-views.ts'
import type { Layout } from './layout.ts'
import { accountLinks } from './sign-in-links.ts'
import { stepUpTexts } from './step-up-texts.ts'

const words = stepUpTexts.firstFactor

/** Before the first second factor or passkey: the link is offered, is on its way, or was opened. */
export interface FirstFactorView {
  csrfToken: string
  step: 'ask' | 'sent' | 'prove' | 'other_browser'
  /** Where the link is sent. */
  email?: string | undefined
  returnTo?: string | undefined
  token?: string | undefined
  problem?: FormProblem | undefined
}

const form = (view: FirstFactorView, style: 'first' | 'second', label: string): HtmlFragment =>
  html`<form method="post" action="/auth/account/first-factor">
${csrfInput(view.csrfToken)}${returnToInput(view.returnTo)}${view.token !== undefined && tokenInput(view.token)}
<button class="${style}">${label}</button>
</form>
`

const bodyOf = (view: FirstFactorView, { appName, support }: Layout): HtmlFragment => {
  const { step, email = '' } = view
  if (step === 'prove')
    return html`<p>${words.proveAbout}</p>
${form(view, 'first', words.proveButton)}`
  if (step === 'other_browser')
    return html`<p>${words.otherBrowserAbout}</p>
<p>${support.text(words.notYou(appName))}</p>`
  if (step === 'sent')
    return html`<p>${words.sentTo} <b>${email}</b>. ${words.sentAbout}</p>
<p class="about">${support.text(words.sentAdvice(appName))}</p>
${form(view, 'second', words.sendAgain)}`
  return html`<p>${words.askAbout} <b>${email}</b>. ${words.askThen}</p>
<p class="about">${words.askWhy}</p>
${form(view, 'first', words.send)}`
}

/** The page of the link that comes before a first second factor or passkey. */
export const createFirstFactorPage =
  (layout: Layout) =>
  (view: FirstFactorView): string =>
    layout.panel({
      title: words.titles[view.step],
      wrong: Boolean(view.problem),
      below: accountLinks(),
      body: html`${formProblem(view.problem, layout.support, true)}
${bodyOf(view, layout)}`,
    })
