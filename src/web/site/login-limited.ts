import { type HtmlFragment, html } from '../../lib/html.ts'
import type { LimitedLogins } from '../../lib/limited-logins.ts'
import type { FormProblem } from '../../http/form-view.ts'
import { t } from '../../languages/texts.ts'
import { sentences } from './bold.ts'
import type { Layout } from './layout.ts'
import { entryHref } from './providers.ts'

interface LimitedLogin {
  problem?: FormProblem | undefined
  email: string
  returnTo?: string | undefined
}

/** The table tells whether a browser that the account knows has tries left. */
const KNOWN_BROWSER_HELPS: Record<LimitedLogins, boolean> = {
  in_network: true,
  anywhere: true,
  in_known_browser: false,
  of_network: false,
}

/** This stands below the problem of a login that a limit refuses. It says what to do until then. */
export const loginLimited = (layout: Layout, { problem, email, returnTo }: LimitedLogin): HtmlFragment | undefined => {
  if (problem?.kind !== 'login_limited') return undefined
  const knownBrowserHelps = KNOWN_BROWSER_HELPS[problem.of]
  if (!layout.mailIsOn) return withoutMail(layout, knownBrowserHelps)
  return html`${
    knownBrowserHelps &&
    html`
<p>${t('login_limit.other_browser')}</p>`
  }
<a class="svc-button first" href="${entryHref('/auth/password/forgot', returnTo, email)}">${t('login_limit.link')}</a>
`
}

const withoutMail = ({ support }: Layout, knownBrowserHelps: boolean): HtmlFragment => {
  const ask = t.html('login_limit.support', { support: support.sentence() })
  return html`
<p>${knownBrowserHelps ? sentences(t('login_limit.other_browser'), ask) : ask}</p>
`
}

/** Finds the class of the button that sends the password: while none is checked, the way by mail comes first. */
export const passwordButtonClass = ({ mailIsOn }: Layout, problem: FormProblem | undefined): string =>
  mailIsOn && problem?.kind === 'login_limited' ? 'second' : 'first'
