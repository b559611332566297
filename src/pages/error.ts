import { html } from '../lib/html.ts'
import type { Layout } from './layout.ts'
import { texts } from './texts.ts'
import type { ErrorView } from './views.ts'

const failureOf = (status: number) => texts.failures.get(status) ?? texts.failureUnexpected

/** The page of a request that failed: what happened, what to do, and the id that finds it in the log. */
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
<p class="ways"><a href="/">${texts.home(layout.appName)}</a> <a href="/auth/account">${texts.account}</a></p>`,
    })
  }
