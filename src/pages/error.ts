import { type HtmlFragment, html } from '../lib/html.ts'
import type { Layout } from './layout.ts'
import { entryHref } from './sign-in-links.ts'
import { operatorDetails } from './support.ts'
import { texts } from './texts.ts'
import type { ErrorView } from './views.ts'

const failureOf = (status: number) => texts.failures.get(status) ?? texts.failureUnexpected

// Another tab may have logged in since the form was loaded: the login page redirects a user who is logged in.
const startAgain = ({ returnTo }: ErrorView): HtmlFragment | undefined =>
  returnTo === undefined ? undefined : html`<a href="${entryHref('/auth/login', returnTo)}">${texts.startAgain}</a> `

/**
 * The errors whose message is for the developers and operators of the application: it names headers, cookies, fields
 * and parts of the service. The texts for the status are for everybody else.
 */
const FOR_OPERATORS: ReadonlySet<number> = new Set([400, 403, 405, 408, 413, 415, 429, 503])

/** 503 keeps its advice, which is to wait a moment: users must know that they are not logged out. */
const adviceOf = ({ status, retryAfterSeconds }: ErrorView): string =>
  retryAfterSeconds === undefined || status === 503 ? failureOf(status).advice : texts.tryAgainIn(retryAfterSeconds)

/**
 * The page of a failed request: what happened, what to do, and the request ID, with which an operator finds the log
 * line.
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
