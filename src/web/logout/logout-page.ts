import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import type { FormView } from '../../http/form-view.ts'
import { csrfInput, requestIdOf, returnToInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'

export interface LogoutView extends FormView {
  /** The form keeps `return_to`. */
  returnTo: string | undefined
  signedIn: boolean
  email?: string | undefined
}

const question = ({ csrfToken, returnTo, email }: LogoutView): HtmlFragment => html`${
  email &&
  html`<p>${t.html('common.logged_in_as', { email: html`<b>${email}</b>` })}</p>
`
}<form method="post" action="/auth/logout">
${csrfInput(csrfToken)}${returnToInput(returnTo)}
<button class="svc-button first">${t('logout.button')}</button>
<a class="svc-button second" href="/auth/account">${t('logout.stay')}</a>
</form>`

const farewell = (): HtmlFragment => html`<p>${t('logout.done_advice')}</p>
<a class="svc-button first" href="/auth/login">${t('login.title')}</a>`

/** Creates the page with the logout button. A visitor who is not logged in gets a page that says so. */
export const createLogoutPage =
  (layout: Layout) =>
  (view: LogoutView): string =>
    layout.panel({
      sign: view.signedIn ? 'info' : 'check',
      problem: view.signedIn ? view.problem : undefined,
      focusesProblem: true,
      requestId: view.problem && requestIdOf(view.problem),
      title: view.signedIn ? t('logout.title') : t('logout.done'),
      body: view.signedIn ? question(view) : farewell(),
    })
