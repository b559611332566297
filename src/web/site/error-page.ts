import type { ErrorView, NotSentView } from '../../http/frame.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import type { Layout } from './layout.ts'
import { entryHref } from './providers.ts'
import { operatorDetails } from './support.ts'
import { texts } from './texts.ts'

const failureOf = (status: number) => texts.failures.get(status) ?? texts.failureUnexpected

// Another tab may have logged in since the form was loaded: the login page redirects a user who is logged in.
const startAgain = ({ returnTo }: ErrorView): HtmlFragment | undefined =>
  returnTo === undefined ? undefined : html`<a href="${entryHref('/auth/login', returnTo)}">${texts.startAgain}</a> `

/**
 * The message of these errors is for the developers and operators of the application: it names headers, cookies, fields
 * and parts of the service. Other people get the texts for the status.
 */
const FOR_OPERATORS: ReadonlySet<number> = new Set([400, 403, 405, 408, 413, 415, 429, 503])

/** 503 keeps its advice, which is to wait a moment: users must know that they are not logged out. */
const adviceOf = ({ status, retryAfterSeconds }: ErrorView): string =>
  retryAfterSeconds === undefined || status === 503 ? failureOf(status).advice : texts.tryAgainIn(retryAfterSeconds)

/**
 * Creates the page of a failed request. It says what happened and what to do, and shows the request ID, with which an
 * operator finds the log line.
 */
export const createErrorPage =
  (layout: Layout) =>
  (view: ErrorView): string => {
    const message = html`<p>${view.message}</p>`
    const isForOperators = FOR_OPERATORS.has(view.status)
    return layout.panel({
      title: failureOf(view.status).title,
      over: texts.errorStatus(view.status),
      below: layout.support.requestNote(view.requestId),
      body: html`${!isForOperators && message}
<p>${adviceOf(view)}</p>
<p class="ways">${startAgain(view)}<a href="${layout.homeUrl}">${texts.home(layout.appName)}</a> <a href="/auth/account">${texts.account}</a></p>
${isForOperators && operatorDetails(message)}`,
    })
  }

/**
 * Creates the page in place of a form of the application that was sent after its user was logged out. The login page
 * opens beside it, since the browser still holds the form, and sends it again when this page is loaded again.
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

/** Creates the page in place of an own form of the service that was sent after its user was logged out. */
export const createWasLoggedOutPage =
  (layout: Layout) =>
  ({ returnTo, requestId }: NotSentView): string =>
    layout.panel({
      title: notSentTexts.loggedOutTitle,
      below: layout.support.requestNote(requestId),
      body: html`<p>${notSentTexts.loggedOutAbout}</p>
<a class="first" href="${entryHref('/auth/login', returnTo)}">${texts.logIn}</a>`,
    })

const notSentTexts = {
  title: 'Not sent yet',
  about: 'You were logged out before this was sent.',
  /** This comes after a link with the text of `texts.logIn`. */
  advice: '(opens in a new tab), then reload this page to send it again.',
  loggedOutTitle: 'You were logged out',
  loggedOutAbout: 'This page is from before that, so nothing was changed. Log in to come back.',
}
