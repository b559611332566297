import { html } from '../lib/html.ts'
import type { Layout } from './layout.ts'
import { notSentTexts } from './not-sent-texts.ts'
import { entryHref } from './sign-in-links.ts'
import { texts } from './texts.ts'

/** A form was sent after the user was logged out. */
export interface NotSentView {
  /** Where the form was sent to, or where its user goes on after a login. */
  returnTo: string
  requestId: string
}

/**
 * The page in place of a form of the application that was sent after its user was logged out. The login page opens
 * beside it, since the browser still holds the form, and sends it again when this page is loaded again.
 */
export const createNotSentPage =
  (layout: Layout) =>
  ({ returnTo, requestId }: NotSentView): string =>
    layout.panel({
      title: notSentTexts.title,
      over: texts.errorStatus(401),
      below: layout.support.requestNote(requestId),
      body: html`<p>${notSentTexts.about}</p>
<p><a href="${entryHref('/auth/login', returnTo)}" target="_blank" rel="noopener">${texts.logIn}</a> ${notSentTexts.advice}</p>`,
    })

/** The page in place of an own form of the service that was sent after its user was logged out. */
export const createWasLoggedOutPage =
  (layout: Layout) =>
  ({ returnTo, requestId }: NotSentView): string =>
    layout.panel({
      title: notSentTexts.loggedOutTitle,
      below: layout.support.requestNote(requestId),
      body: html`<p>${notSentTexts.loggedOutAbout}</p>
<a class="first" href="${entryHref('/auth/login', returnTo)}">${texts.logIn}</a>`,
    })
