import { type HtmlFragment, html } from '../lib/html.ts'
import type { Layout } from './layout.ts'
import { entryHref } from './sign-in-links.ts'
import { texts } from './texts.ts'
import type { ErrorView } from './views.ts'

const failureOf = (status: number) => texts.failures.get(status) ?? texts.failureUnexpected

// Another tab may have logged in since the form was loaded: the login page redirects a user who is logged in.
const startAgain = ({ returnTo }: ErrorView): HtmlFragment | undefined =>
  returnTo === undefined ? undefined : html`<a href="${entryHref('/auth/login', returnTo)}">${texts.startAgain}</a> `

/**
 * The page of a failed request: what happened, what to do, and the request ID, with which an operator finds the log
 * line.
 */
export const createErrorPage =
  (layout: Layout) =>
  (view: ErrorView): string => {
    const { title, advice } = failureOf(view.status)
    return layout.panel({
      title,
      over: texts.errorStatus(view.status),
      below: html`${texts.requestId} <code>${view.requestId}</code>`,
      body: html`<p>${view.message}</p>
<p>${view.retryAfterSeconds === undefined ? advice : texts.tryAgainIn(view.retryAfterSeconds)}</p>
<p class="ways">${startAgain(view)}<a href="/">${texts.home(layout.appName)}</a> <a href="/auth/account">${texts.account}</a></p>`,
    })
  }
