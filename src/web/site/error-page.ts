import type { ErrorView, NotSentView } from '../../http/frame.ts'
import { html } from '../../lib/html.ts'
import type { IconName } from './icon.ts'
import type { Layout } from './layout.ts'
import { entryHref } from './providers.ts'
import { operatorDetails } from './support.ts'
import { texts } from './texts.ts'

const failureOf = (status: number) => texts.failures.get(status) ?? texts.failureUnexpected

/**
 * The message of these errors is for the developers and operators of the application: it names headers, cookies, fields
 * and parts of the service. Other people get the texts for the status.
 */
const FOR_OPERATORS: ReadonlySet<number> = new Set([400, 403, 405, 408, 413, 415, 429, 503])

/** The texts for these say what their message says. */
const SAID_ALREADY: ReadonlySet<number> = new Set([401, 404, 500])

/** 503 keeps its advice, which is to wait a moment: users must know that they are not logged out. */
const adviceOf = ({ status, retryAfterSeconds }: ErrorView): string =>
  retryAfterSeconds === undefined || status === 503 ? failureOf(status).advice : texts.tryAgainIn(retryAfterSeconds)

/** Another tab may have logged in since a form was loaded: the login page redirects a user who is logged in. */
const loginButtonOf = ({ status, returnTo }: ErrorView): string | undefined => {
  if (status === 401) return texts.logIn
  return returnTo === undefined ? undefined : texts.startAgain
}

const signOf = ({ status, retryAfterSeconds }: ErrorView): IconName => {
  if (status === 401) return 'key'
  if (status === 404) return 'info'
  return retryAfterSeconds === undefined ? 'warning' : 'clock'
}

/**
 * Creates the page of a failed request. It says what happened and what to do, with one button for it, and shows the
 * request ID, with which an operator finds the log line.
 */
export const createErrorPage = (layout: Layout) => {
  const account = html`<a href="/auth/account">${texts.account}</a>`
  const home = texts.home(layout.appName)
  return (view: ErrorView): string => {
    const message = html`<p>${view.message}</p>
`
    const isForOperators = FOR_OPERATORS.has(view.status)
    const login = loginButtonOf(view)
    const [href, button] = login ? [entryHref('/auth/login', view.returnTo), login] : [layout.homeUrl, home]
    return layout.panel({
      title: failureOf(view.status).title,
      sign: signOf(view),
      over: texts.errorStatus(view.status),
      below: login ? html`<a href="${layout.homeUrl}">${home}</a> · ${account}` : account,
      requestId: view.requestId,
      body: html`${!isForOperators && !SAID_ALREADY.has(view.status) && message}<p>${adviceOf(view)}</p>
<a class="first" href="${href}">${button}</a>
${isForOperators && operatorDetails(message)}`,
    })
  }
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
      sign: 'info',
      over: texts.errorStatus(401),
      requestId,
      body: html`<p>${notSentTexts.about}</p>
<a class="first" href="${entryHref('/auth/login', returnTo)}" target="_blank" rel="noopener">${notSentTexts.button}</a>`,
    })

/** Creates the page in place of an own form of the service that was sent after its user was logged out. */
export const createWasLoggedOutPage =
  (layout: Layout) =>
  ({ returnTo, requestId }: NotSentView): string =>
    layout.panel({
      title: notSentTexts.loggedOutTitle,
      sign: 'info',
      requestId,
      body: html`<p>${notSentTexts.loggedOutAbout}</p>
<a class="first" href="${entryHref('/auth/login', returnTo)}">${texts.logIn}</a>`,
    })

const notSentTexts = {
  title: 'Not sent yet',
  about: 'You were logged out before this was sent. Log in, then reload this page to send it again.',
  button: 'Log in (opens in a new tab)',
  loggedOutTitle: 'You were logged out',
  loggedOutAbout: 'This page is from before that, so nothing was changed. Log in to come back.',
}
