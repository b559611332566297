import { t, type TextKey } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import type { FormProblem } from '../../http/form-view.ts'
import { csrfInput, returnToInput, tokenInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'
import { accountLinks } from '../site/providers.ts'

const TITLES: Record<FirstFactorView['step'], TextKey> = {
  ask: 'first_factor.title_ask',
  sent: 'check_mail.title',
  prove: 'common.was_this_you',
  other_browser: 'first_factor.title_other_browser',
}

/** The page comes before the first second factor or passkey: the link is offered, is on its way, or was opened. */
export interface FirstFactorView {
  csrfToken: string
  step: 'ask' | 'sent' | 'prove' | 'other_browser'
  /** The link is sent there. */
  email?: string | undefined
  returnTo?: string | undefined
  token?: string | undefined
  problem?: FormProblem | undefined
}

const form = (view: FirstFactorView, style: 'first' | 'second', label: string): HtmlFragment =>
  html`<form method="post" action="/auth/account/first-factor">
${csrfInput(view.csrfToken)}${returnToInput(view.returnTo)}${view.token !== undefined && tokenInput(view.token)}
<button class="svc-button ${style}">${label}</button>
</form>
`

const bodyOf = (view: FirstFactorView, { passwords, support }: Layout): HtmlFragment => {
  const email = html`<b>${view.email}</b>`
  switch (view.step) {
    case 'ask':
      return html`<p>${t.html('first_factor.ask', { email })}</p>
<p class="about">${t('first_factor.why')}</p>
${form(view, 'first', t('check_mail.send_link'))}`
    case 'sent':
      return html`<p>${t.html('first_factor.sent', { email })}</p>
<p class="about">${t.html('check_mail.nothing', { support: support.sentence() })}</p>
${form(view, 'second', t('check_mail.again'))}`
    case 'prove':
      return html`<p>${t('first_factor.prove')}</p>
${form(view, 'first', t('first_factor.prove_button'))}`
  }
  return html`<p>${t('first_factor.other_browser')}</p>
<p>${t.html(passwords ? 'first_factor.not_you' : 'first_factor.not_you_passwordless', { support: support.sentence() })}</p>
${
  passwords
    ? html`<a class="svc-button second" href="/auth/account#change-password">${t('account.password.change')}</a>`
    : html`<a class="svc-button second" href="/auth/account#devices">${t('account.activity.see_devices')}</a>`
}`
}

/** Creates the page of the link that comes before a first second factor or passkey. */
export const createFirstFactorPage =
  (layout: Layout) =>
  (view: FirstFactorView): string =>
    layout.panel({
      title: t(TITLES[view.step]),
      sign: view.step === 'other_browser' ? 'warning' : 'mail',
      problem: view.problem,
      focusesProblem: true,
      below: accountLinks(),
      body: bodyOf(view, layout),
    })
