import { type HtmlFragment, html } from '../../lib/html.ts'
import type { Layout } from '../site/layout.ts'
import { texts } from '../site/texts.ts'

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

/**
 * Creates the page at the address of an application that is not there yet. It shows what is done, and what to do next.
 */
export const createWelcomePage =
  (layout: Layout) =>
  (view: WelcomeView): string => {
    const isSignedIn = view.email !== undefined
    return layout.panel({
      title: isSignedIn ? welcomeTexts.title : welcomeTexts.titleSignedOut,
      sign: isSignedIn ? 'check' : 'info',
      requestId: view.requestId,
      body: html`${isSignedIn && html`<p>${texts.logOutAs} <b>${view.email}</b>.</p>`}
<p>${isSignedIn ? welcomeTexts.about : welcomeTexts.aboutSignedOut}</p>
<div>
<h2>${welcomeTexts.next}</h2>
${steps(view)}
</div>`,
    })
  }

/** These texts are for the person who is setting svc up. */
const welcomeTexts = {
  title: 'It works',
  titleSignedOut: 'Nothing here yet',
  about: 'Your application belongs at this address. Until it answers here, svc shows this page to you.',
  aboutSignedOut: 'Your application belongs at this address, and it does not answer here yet. svc does, under /auth.',
  next: 'What to do next',
  look: 'See what your users see:',
  proxyBefore: 'Put a proxy in front of both: everything under',
  proxyTo: 'goes to svc at',
  proxyAfter: 'as it came, everything else to your application.',
  proxyFiles: 'Take the configuration for nginx, Caddy, HAProxy, Apache, Traefik or Envoy from',
  proxyWhy: 'With fewer lines, all visitors may share one limit, or claim to be another user.',
  doctorBefore: 'Let svc look at it from outside. It says what is wrong, and how to mend it:',
  baseUrlBefore: 'Set',
  baseUrlAfter: 'to the address at which people will open your application, such as',
  baseUrlExample: 'https://example.com',
  user: 'Let your application ask svc who is signed in:',
  read: 'The details are in these documents, which came with svc:',
}
