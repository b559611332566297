import { type HtmlFragment, html } from '../lib/html.ts'
import type { Layout } from './layout.ts'
import { texts } from './texts.ts'
import type { WelcomeView } from './views.ts'
import { welcomeTexts } from './welcome-texts.ts'

const DOCUMENTS = ['docs/integrate.md', 'docs/configuration.md', 'docs/operate.md']

const pagesToSee = ({ email, signupOpen }: WelcomeView): HtmlFragment => {
  if (email !== undefined)
    return html`<a href="/auth/account">${texts.account}</a>, <a href="/auth/logout">${texts.logOut}</a>`
  const logIn = html`<a href="/auth/login">${texts.logIn}</a>`
  return signupOpen ? html`<a href="/auth/signup">${texts.createAccount}</a>, ${logIn}` : logIn
}

const steps = (view: WelcomeView): HtmlFragment => html`<ol class="ends">
<li>${welcomeTexts.look} ${pagesToSee(view)}.</li>
<li>${welcomeTexts.proxyBefore} <code>/auth</code> ${welcomeTexts.proxyTo} <code>${view.host}</code> ${welcomeTexts.proxyAfter} ${welcomeTexts.proxyFiles} <code>deploy/</code>. ${welcomeTexts.proxyWhy}</li>
<li>${welcomeTexts.baseUrlBefore} <code>SVC_BASE_URL</code> ${welcomeTexts.baseUrlAfter} <code>${welcomeTexts.baseUrlExample}</code>.</li>
<li>${welcomeTexts.doctorBefore} <code>svc doctor ${welcomeTexts.baseUrlExample}</code></li>
<li>${welcomeTexts.user} <code>GET /auth/api/v1/user</code></li>
<li>${welcomeTexts.read} ${DOCUMENTS.map((document, index) => html`${index > 0 && ', '}<code>${document}</code>`)}.</li>
</ol>`

/** The page at the address of an application that is not there yet: what is done, and what to do next. */
export const createWelcomePage =
  (layout: Layout) =>
  (view: WelcomeView): string => {
    const isSignedIn = view.email !== undefined
    return layout.panel({
      title: isSignedIn ? welcomeTexts.title : welcomeTexts.titleSignedOut,
      below: layout.support.requestNote(view.requestId),
      body: html`${isSignedIn && html`<p>${texts.logOutAs} <b>${view.email}</b>.</p>`}
<p>${isSignedIn ? welcomeTexts.about : welcomeTexts.aboutSignedOut}</p>
<div>
<h2>${welcomeTexts.next}</h2>
${steps(view)}
</div>`,
    })
  }
