import { type HtmlFragment, html } from '../lib/html.ts'
import type { FormProblem } from './form-views.ts'
import type { Layout } from './layout.ts'
import { limitTexts as words } from './limit-texts.ts'
import { entryHref } from './sign-in-links.ts'

interface LimitedLogin {
  problem?: FormProblem | undefined
  email: string
  returnTo?: string | undefined
}

/** Below the problem of a login that is refused by a limit: why, and what to do until then. */
export const loginLimited = (layout: Layout, { problem, email, returnTo }: LimitedLogin): HtmlFragment | undefined => {
  if (problem?.kind !== 'login_limited') return undefined
  const isOfAccount = problem.of === 'account'
  return html`
<p>${isOfAccount ? words.ofAccount : words.ofNetwork}</p>
<p>${layout.mailIsOn ? byMail(entryHref('/auth/password/forgot', returnTo, email), isOfAccount) : withoutMail(layout, isOfAccount)}</p>
`
}

const byMail = (href: string, isOfAccount: boolean): HtmlFragment =>
  html`${words.noWait}<a href="${href}">${words.link}</a>${isOfAccount ? words.orKnownBrowser : '.'}`

const withoutMail = ({ support, appName }: Layout, isOfAccount: boolean): HtmlFragment =>
  html`${isOfAccount && html`${words.knownBrowser} `}${support.text(words.askOperator(appName))}`
