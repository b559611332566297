import { html } from '../../lib/html.ts'
import type { Layout } from '../layout.ts'
import { entryHref } from '../sign-in-links.ts'
import { texts } from '../texts.ts'
import { verificationTexts as own } from './verification-texts.ts'
import type { CheckMailView } from './verification-views.ts'

/** What follows a signup, the same whether or not the address has an account; or a login that waits for the same. */
export const createCheckMailPage =
  (layout: Layout) =>
  ({ email, after, returnTo }: CheckMailView): string =>
    layout.panel({
      title: own.checkMail,
      below: html`<a href="${entryHref('/auth/login', returnTo, email)}">${own.backToLogin}</a>`,
      body: html`<p>${own.sentTo} <b>${email}</b>. ${after === 'signup' ? own.sentAfterSignup : own.sentAfterLogin} ${own.sameBrowser}</p>
<p class="about">${layout.support.text(own.sentAdvice(layout.appName))}</p>
${after === 'signup' && html`<a class="second" href="${entryHref('/auth/signup', returnTo, email)}">${own.signupAgain}</a>`}`,
    })

/** A confirmation that came before this one has done everything. */
export const createEmailConfirmedPage =
  (layout: Layout) =>
  ({ email }: { email: string }): string =>
    layout.panel({
      title: own.confirmed,
      body: html`<p><b>${email}</b>. ${own.confirmedAbout}</p>
<div class="steps">
<a class="first" href="/auth/account">${texts.account}</a>
<a class="second" href="${layout.homeUrl}">${texts.home(layout.appName)}</a>
</div>`,
    })

/** The address of a signup got an account before the link was followed. */
export const createEmailTakenPage =
  (layout: Layout) =>
  ({ email }: { email: string }): string =>
    layout.panel({
      title: own.taken,
      body: html`<p>${own.takenAbout} <b>${email}</b>. ${own.takenAdvice}</p>
<div class="steps">
<a class="first" href="${entryHref('/auth/login', undefined, email)}">${texts.logIn}</a>
<a class="second" href="${entryHref('/auth/password/forgot', undefined, email)}">${own.forgot}</a>
</div>`,
    })
