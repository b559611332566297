import { listOfHtml } from '../../languages/formats.ts'
import { t } from '../../languages/texts.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import type { Layout } from '../site/layout.ts'

/** svc shows this page at the address of the application, as long as no application answers there. */
export interface WelcomeView {
  /** It is undefined for a visitor who is signed out. */
  email: string | undefined
  /** The browser reached svc at this host. */
  host: string
  signupOpen: boolean
  requestId: string
}

const DOCUMENTS = ['docs/integrate.md', 'docs/configuration.md', 'docs/operate.md']
const EXAMPLE = 'https://example.com'

const code = (text: string): HtmlFragment => html`<code>${text}</code>`

const pagesToSee = ({ email, signupOpen }: WelcomeView): HtmlFragment[] => {
  if (email !== undefined)
    return [
      html`<a href="/auth/account">${t('account.title')}</a>`,
      html`<a href="/auth/logout">${t('logout.button')}</a>`,
    ]
  const logIn = html`<a href="/auth/login">${t('login.title')}</a>`
  return signupOpen ? [html`<a href="/auth/signup">${t('login.create_account')}</a>`, logIn] : [logIn]
}

const steps = (view: WelcomeView): HtmlFragment => html`<ol class="ends">
<li>${t.html('welcome.look', { links: listOfHtml(pagesToSee(view)) })}</li>
<li>${t.html('welcome.proxy', { path: code('/auth'), host: code(view.host), folder: code('deploy/') })}</li>
<li>${t.html('welcome.base_url', { setting: code('SVC_BASE_URL'), example: code(EXAMPLE) })}</li>
<li>${t.html('welcome.doctor', { command: code(`svc doctor ${EXAMPLE}`) })}</li>
<li>${t.html('welcome.user', { request: code('GET /auth/api/v1/user') })}</li>
<li>${t.html('welcome.read', { documents: listOfHtml(DOCUMENTS.map(code)) })}</li>
</ol>`

/**
 * Creates the page at the address of an application that is not there yet. It shows what is done, and what to do next.
 */
export const createWelcomePage =
  (layout: Layout) =>
  (view: WelcomeView): string => {
    const isSignedIn = view.email !== undefined
    return layout.panel({
      title: t(isSignedIn ? 'welcome.title' : 'welcome.title_logged_out'),
      sign: isSignedIn ? 'check' : 'info',
      requestId: view.requestId,
      body: html`${isSignedIn && html`<p>${t.html('common.logged_in_as', { email: html`<b>${view.email}</b>` })}</p>`}
<p>${isSignedIn ? t('welcome.about') : t.html('welcome.about_logged_out', { path: code('/auth') })}</p>
<div>
<h2>${t('welcome.next')}</h2>
${steps(view)}
</div>`,
    })
  }
