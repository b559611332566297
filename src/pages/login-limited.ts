import { type HtmlFragment, html } from '../lib/html.ts'
import type { LimitedLogins } from '../lib/limited-logins.ts'
import type { FormProblem } from './form-views.ts'
import type { Layout } from './layout.ts'
import { limitTexts as words } from './limit-texts.ts'
import { entryHref } from './sign-in-links.ts'

interface LimitedLogin {
  problem?: FormProblem | undefined
  email: string
  returnTo?: string | undefined
}

/** Whether a browser that the account knows has tries left. */
const KNOWN_BROWSER_HELPS: Record<LimitedLogins, boolean> = {
  in_network: true,
  anywhere: true,
  in_known_browser: false,
  of_network: false,
}

/** Below the problem of a login that is refused by a limit: why, and what to do until then. */
export const loginLimited = (layout: Layout, { problem, email, returnTo }: LimitedLogin): HtmlFragment | undefined => {
  if (problem?.kind !== 'login_limited') return undefined
  const knownBrowserHelps = KNOWN_BROWSER_HELPS[problem.of]
  return html`
<p>${words.why[problem.of]}</p>
<p>${layout.mailIsOn ? byMail(entryHref('/auth/password/forgot', returnTo, email), knownBrowserHelps) : withoutMail(layout, knownBrowserHelps)}</p>
`
}

const byMail = (href: string, knownBrowserHelps: boolean): HtmlFragment =>
  html`${words.noWait}<a href="${href}">${words.link}</a>${knownBrowserHelps ? words.orKnownBrowser : '.'}`

const withoutMail = ({ support, appName }: Layout, knownBrowserHelps: boolean): HtmlFragment =>
  html`${knownBrowserHelps && html`${words.knownBrowser} `}${support.text(words.askOperator(appName))}`
