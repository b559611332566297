import type { AuthenticatedSession, IdentifiedSession, SignInGrant, StartOptions } from '../../sessions/sessions.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { Services } from '../../http/services.ts'
import { AppError } from '../../lib/errors.ts'
import { doneOnAccount } from '../site/done.ts'
import { type BrowserRecognition, createRecognition } from '../../http/recognise-browser.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, redirect } from '../../http/response.ts'
import { type ReturnTargets, readReturnTo } from '../../http/return-to.ts'

/** Reads the page to go to afterwards: `return_to`, else the home page. */
export const requestedReturnTo = (context: RequestContext, targets: ReturnTargets): string =>
  readReturnTo(context, targets, targets.homeUrl)

/** Identifies sessions by either cookie: the access token may have expired. */
export const identifySessions = async (
  { sessions }: Pick<Services, 'sessions'>,
  { cookies: { access, refresh } }: RequestContext,
): Promise<IdentifiedSession[]> => {
  const session = access && (await sessions.authenticate(access))
  const identified = refresh && (await sessions.identify(refresh))
  const found = [...(session ? [{ session, isReused: false }] : []), ...(identified ? [identified] : [])]
  const byId = new Map(found.map((each) => [each.session.sessionId, each]))
  return [...byId.values()]
}

/**
 * Finds the sessions of this browser. A refresh token that is used again past its grace may be a thief's, and shows
 * none.
 */
export const findBrowserSessions = async (
  deps: Pick<Services, 'sessions'>,
  context: RequestContext,
): Promise<AuthenticatedSession[]> =>
  (await identifySessions(deps, context)).filter(({ isReused }) => !isReused).map(({ session }) => session)

/** Users prove this when they change how they sign in: a fresh session replaces theirs. */
const PROVED: Partial<Record<EventFacts['event'], string>> = { password_change: 'password', second_factor_add: 'code' }

/**
 * Says how the start of the session is recorded. Every start is, even that of a new account, whose row comes before it.
 */
const loginOf = ({ event, method = PROVED[event] ?? 'link' }: EventFacts): StartOptions['login'] => ({
  method: method === 'email' ? 'link' : method,
})

/** The login page marks the way by which a browser has come last; codes and links by mail have one button. */
const shownWayOf = (method: string): string => (method.startsWith('email_') ? 'email' : method)

/** A session that starts with one of these has signed in; one that only confirms or changes something has not. */
const SIGN_INS: ReadonlySet<EventFacts['event']> = new Set([
  'login',
  'signup',
  'invitation_accept',
  'password_reset',
  'email_undo',
])

export interface NewSession {
  grant: SignInGrant
  /** A function is called after the commit. */
  returnTo: string | (() => Promise<string>)
  /** The facts are completed with the user and the new session. */
  facts: EventFacts
  /** This runs in the transaction that starts the session. */
  also?: StartOptions['also']
  mayStart?: StartOptions['mayStart']
  browser?: BrowserRecognition
  /** The authentication of this session stays, if it has `mfa`. */
  keepsMfaOf?: string | undefined
  /** This tells whether the browser is trusted from now on, which needs a right code. */
  trusts?: boolean
}

/** Such a sign-in is no successful login yet: it counts as one at its end. */
class NotStarted extends Error {}

const undefinedWhereNotStarted = (thrown: unknown): undefined => {
  if (!(thrown instanceof NotStarted)) throw thrown
}

/** Finds the page that the browser goes to, once everything is committed. */
export const resolveReturnTo = async (returnTo: NewSession['returnTo']): Promise<string> =>
  typeof returnTo === 'string' ? returnTo : returnTo()

/**
 * Starts a session in place of the sessions that this browser had, sets its cookies with a new CSRF token, and
 * redirects to `returnTo`. The result is undefined when the grant is no longer valid, or `mayStart` says no.
 * `rate_limited` is thrown when this user has signed in too often from this network, in whatever way.
 */
export const startSession = async (
  deps: Pick<Services, 'sessions' | 'limits' | 'knownBrowsers' | 'notify' | 'cookieWriter' | 'users'>,
  context: RequestContext,
  { grant, returnTo, facts, also, mayStart, browser = 'announced', keepsMfaOf, trusts = false }: NewSession,
): Promise<HttpResponse | undefined> => {
  const { userId } = grant
  facts.userId = userId
  const earlier = await identifySessions(deps, context)
  const replaces = earlier.map(({ session, isReused }) => ({ ...session, isReused }))
  const own = earlier.find(({ session, isReused }) => session.userId === userId && !isReused)?.session
  const { recognise, isKnown, setCookie } = createRecognition(deps, context, {
    userId,
    browser: own && browser === 'announced' ? 'silent' : browser,
    trusts,
    sessionBrowser: grant.amr?.includes('mfa') ? undefined : own?.deviceHash,
  })
  // This needs a grant: before the password is checked, 429 would tell an attacker that the account exists. It runs
  // while the transaction begins, so that it costs no round trip; the transaction waits before it stores anything.
  const started = deps.limits.attemptAtOnce(
    [['successfulLogin', { userId, network: context.network }]],
    async (admitted) => {
      const login = loginOf(facts)
      const options = { replaces, also, mayStart, recogniseBrowser: recognise, keepsMfaOf, admitted, login }
      const tokens = await deps.sessions.start(grant, context, options)
      if (tokens) return tokens
      throw new NotStarted()
    },
  )
  const tokens = await started.catch(undefinedWhereNotStarted)
  if (!tokens) return undefined
  facts.sessionId = tokens.sessionId
  context.setSessionCookies(tokens)
  setCookie()
  // Their notice was written before: it has the language that was known.
  if (isKnown() && context.language !== undefined) await deps.users.learnLanguage(userId, context.language, context)
  // A link in place of a password, which names no method, is no way to come back by.
  if (facts.method !== undefined && SIGN_INS.has(facts.event))
    context.setCookies([deps.cookieWriter.lastWay(shownWayOf(facts.method))])
  // Another sign-in that waited here is over: this one has replaced it.
  if (context.cookies.pending) context.setCookies([deps.cookieWriter.pending()])
  if (facts.event === 'reauthentication') doneOnAccount(deps, context, userId, 'confirmed')
  return redirect(await resolveReturnTo(returnTo))
}

/** The account was deleted while its user changed how they sign in: no session can start. */
export const accountGone = (): AppError =>
  new AppError('unauthorized', 'This account is gone. Nothing was changed.', { reason: 'account_gone' })
