import { t } from '../../languages/texts.ts'
import { html } from '../../lib/html.ts'
import type { FormView } from '../../http/form-view.ts'
import { csrfInput } from '../site/form.ts'
import type { Layout } from '../site/layout.ts'

/** The user is asked, or has been logged out. */
type ClientLogoutView = FormView &
  (
    | { email: string; name: string | undefined; query: string }
    | { done: { returnUri: string | undefined; name: string } }
  )

/** Creates the page that asks for a logout which a client wants, and the one that says that it is done. */
export const createClientLogoutPage =
  (layout: Layout) =>
  (view: ClientLogoutView): string => {
    if ('done' in view) {
      const { returnUri, name } = view.done
      const button =
        returnUri === undefined
          ? html`<a class="svc-button first" href="/auth/login">${t('login.title')}</a>`
          : html`<a class="svc-button first" href="${returnUri}">${t('authorize.back_button', { name })}</a>`
      return layout.panel({
        title: t('logout.done'),
        sign: 'check',
        body: html`${returnUri === undefined && html`<p>${t('logout.done_advice')}</p>`}${button}`,
      })
    }
    const { csrfToken, email, name, query, problem } = view
    return layout.panel({
      title: t('logout.title'),
      sign: 'info',
      problem,
      focusesProblem: true,
      body: html`<p>${t.html('common.logged_in_as', { email: html`<b>${email}</b>` })}</p>
${name !== undefined && html`<p>${t.html('logout.asked_by', { name: html`<b><bdi>${name}</bdi></b>` })}</p>`}
<form method="post" action="/auth/oauth2/logout/confirm">
${csrfInput(csrfToken)}<input type="hidden" name="query" value="${query}">
<button class="svc-button first">${t('logout.button')}</button>
<a class="svc-button second" href="/auth/account">${t('logout.stay')}</a>
</form>`,
    })
  }
