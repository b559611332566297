import { authenticatedBy, type Proof } from '../../sign-in/amr.ts'
import { decideEntry, type EntryFacts, type EntryOutcome } from '../../sign-in/entry-policy.ts'
import type { PendingSignIn } from '../../sign-in/pending-sign-ins.ts'
import type { OfferedWays, Services, SessionServices } from '../../http/services.ts'
import type { AccountFactors } from '../../second-factor/second-factors.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, redirect } from '../../http/response.ts'
import { readReturnTo, returnToParameter, withReturnTo } from '../../http/return-to.ts'
import { confirmPath } from '../../http/step-up.ts'
import { doneAtLogin } from '../site/done.ts'
import { holdBrowserSecret } from './asking-browser.ts'
import { findBrowserSessions, type NewSession, startSession } from './start-session.ts'
import { type CountEnd, loginOutcome } from '../../http/request-metrics.ts'
import type { StartOptions } from '../../sessions/sessions.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import { stayNoLonger } from './offered-ways.ts'

/** A sign-in goes on at these pages. */
const PAGES = { ask: '/auth/login/code', enrol: '/auth/login/enrol' } as const

export type NextPage = keyof typeof PAGES

export const factorsOf = ({ codes, passkeys }: AccountFactors): EntryFacts['factors'] => {
  if (codes) return 'codes'
  return passkeys > 0 ? 'passkeys' : 'none'
}

/** Reads what this browser has proved so far; the database decides whether it still holds. */
export const readPending = (
  { pendingSignIns }: Pick<Services, 'pendingSignIns'>,
  { cookies }: RequestContext,
): PendingSignIn | undefined => pendingSignIns.open(cookies.pending, cookies.link)

/** Names the page after the sign-in: the form or the address says it, else the beginning of the sign-in has said it. */
export const returnToAfter = (
  deps: Pick<Services, 'baseUrl' | 'homeUrl'>,
  context: RequestContext,
  pending: PendingSignIn | undefined,
): string => readReturnTo(context, deps, pending?.returnTo || deps.homeUrl)

const leadTo = (deps: Pick<Services, 'homeUrl'>, path: string, returnTo: string): string =>
  withReturnTo(path, returnToParameter(returnTo, deps))

/** Seals what was proved into the cookie, and sends the browser to the page that asks for the rest. */
export const goOnAt = (
  deps: Pick<Services, 'cookieWriter' | 'homeUrl' | 'pendingSignIns' | 'links'>,
  context: RequestContext,
  next: NextPage,
  pending: PendingSignIn,
): HttpResponse => {
  const { pendingSignIns, cookieWriter } = deps
  const { lifetimeMs } = pendingSignIns
  const sealed = pendingSignIns.seal(pending, holdBrowserSecret(deps, context, lifetimeMs))
  context.setCookies([cookieWriter.pending(sealed, lifetimeMs)])
  return { redirect: leadTo(deps, PAGES[next], pending.returnTo), isUnfinished: true }
}

export const redirectTo = (deps: Pick<Services, 'homeUrl'>, next: NextPage, returnTo: string): HttpResponse =>
  redirect(leadTo(deps, PAGES[next], returnTo))

/** The sign-in no longer holds: the user begins again, and still goes to the page where it was to end. */
export const beginAgain = (
  deps: Pick<Services, 'baseUrl' | 'cookieWriter' | 'homeUrl' | 'pendingSignIns'>,
  context: RequestContext,
): HttpResponse => {
  const pending = readPending(deps, context)
  const returnTo = returnToAfter(deps, context, pending)
  if (!context.cookies.pending) return redirect(leadTo(deps, '/auth/login', returnTo))
  context.setCookies([deps.cookieWriter.pending()])
  if (pending?.confirms) return redirect(confirmPath({ returnTo, acr: 'mfa' }))
  return redirect(doneAtLogin(deps, context, 'sign_in_ended', returnToParameter(returnTo, deps)))
}

/** A browser is trusted for logins alone, once the account knows it. */
export const offersTrust = ({ connect, confirms, browser }: PendingSignIn): boolean =>
  connect === undefined && confirms === undefined && browser !== 'not_yet'

interface Waiting {
  /** This is undefined if nothing waits in this browser, or if what waited no longer holds. */
  pending: PendingSignIn | undefined
  factors: AccountFactors
  /** The account asks for this now: its second factor may have changed since the sign-in began. */
  next: EntryOutcome
}

const NOTHING: Waiting = {
  pending: undefined,
  factors: { codes: false, recoveryCodes: 0, passkeys: 0 },
  next: 'start',
}

/** Tells whether the session whose user confirms that it is them is still the session of this browser. */
const hasSession = async (
  deps: Pick<Services, 'sessions'>,
  context: RequestContext,
  { confirms, userId }: PendingSignIn,
) => (await findBrowserSessions(deps, context)).some((it) => it.sessionId === confirms && it.userId === userId)

export const findWaiting = async (
  deps: Pick<Services, 'pendingSignIns' | 'secondFactorMode' | 'secondFactors' | 'sessions'>,
  context: RequestContext,
): Promise<Waiting> => {
  const { pendingSignIns, secondFactors, secondFactorMode: mode } = deps
  const pending = readPending(deps, context)
  if (!pending || !(await pendingSignIns.isLive(pending))) return NOTHING
  if (pending.confirms !== undefined && !(await hasSession(deps, context, pending))) return NOTHING
  const factors = await secondFactors.find(pending.userId)
  const { way, connect, confirms } = pending
  const purpose = connect ? 'connect' : 'sign_in'
  const decided = decideEntry({ way, purpose, factors: factorsOf(factors), browser: 'other', mode })
  return { pending, factors, next: confirms === undefined ? decided : 'ask' }
}

/** Counts the end of a sign-in where its beginning would have been counted without a second factor. */
export const countEndOf =
  ({ requestMetrics }: Pick<Services, 'requestMetrics'>, { provider, method, confirms }: PendingSignIn): CountEnd =>
  (ended) => {
    const outcome = loginOutcome(ended)
    if (provider !== undefined && provider === method)
      requestMetrics?.countProviderSignIn(provider, outcome === 'succeeded' ? outcome : 'failed')
    else if (confirms === undefined) requestMetrics?.countLogin(outcome)
  }

/** This describes what a user has set up on the way in. */
export interface Enrolment {
  facts: EventFacts
  proof: Proof
  /** Stores the set-up, and ends what the table of events says. */
  store: NonNullable<StartOptions['also']>
  /** This is called after the commit. */
  returnTo: NewSession['returnTo']
}

/**
 * Ends a sign-in that must set up a second factor, or a passkey. One transaction uses it up, stores what was set up,
 * and starts the session. The result is undefined if the sign-in no longer holds; then nothing was stored.
 */
export const endEnrolment = (
  deps: SessionServices & OfferedWays & Pick<Services, 'pendingSignIns'>,
  context: RequestContext,
  pending: PendingSignIn,
  { facts, proof, store, returnTo }: Enrolment,
): Promise<HttpResponse | undefined> => {
  const grant = { ...deps.pendingSignIns.grantFor(pending), ...authenticatedBy(pending, { proof }, 'set_up') }
  stayNoLonger(deps, context)
  return startSession(deps, context, { grant, returnTo, facts, also: store, browser: pending.browser })
}
