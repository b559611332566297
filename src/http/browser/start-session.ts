import type { AuthenticatedSession, SignInGrant, StartOptions } from '../../sessions/sessions.ts'
import type { EventFacts } from '../account-log.ts'
import type { RouteDeps } from '../deps.ts'
import type { RequestContext } from '../request-context.ts'
import { type HttpResponse, redirect } from '../response.ts'
import { type ReturnTargets, readReturnTo } from '../return-to.ts'

/** Where to go afterwards: `return_to` of the form, else of the query, else the home address. */
export const requestedReturnTo = (context: RequestContext, targets: ReturnTargets): string =>
  readReturnTo(context.form.get('return_to') ?? context.query.get('return_to'), targets)

/** The sessions of this browser, found by either cookie: the access token may have expired. */
export const findBrowserSessions = async (
  { sessions }: Pick<RouteDeps, 'sessions'>,
  context: RequestContext,
): Promise<AuthenticatedSession[]> => {
  const { access, refresh } = context.cookies
  const found = [access && (await sessions.authenticate(access)), refresh && (await sessions.identify(refresh))]
  const sessionsById = new Map(found.flatMap((session) => (session ? [[session.sessionId, session]] : [])))
  return [...sessionsById.values()]
}

interface NewSession {
  grant: SignInGrant
  returnTo: string
  /** Completed with the user and the new session. */
  facts: EventFacts
  /** Runs in the transaction that starts the session. */
  also?: StartOptions['also']
}

/**
 * Starts a session in place of those that this browser had, sets its cookies with a new CSRF token, and redirects to
 * `returnTo`. Undefined when the grant is no longer valid; `rate_limited` when this user has signed in too often from
 * this network, in whatever way.
 */
export const startSession = async (
  deps: Pick<RouteDeps, 'sessions' | 'limits'>,
  context: RequestContext,
  { grant, returnTo, facts, also }: NewSession,
): Promise<HttpResponse | undefined> => {
  const { userId } = grant
  facts.userId = userId
  const replaces = (await findBrowserSessions(deps, context)).map(({ sessionId }) => sessionId)
  // Only with a grant: before the password is checked, 429 would tell an attacker that the account exists.
  const tokens = await deps.limits.attempt([['successfulLogin', `${userId} ${context.network}`]], () =>
    deps.sessions.start(grant, context.device, { replaces, also }),
  )
  if (!tokens) return undefined
  facts.sessionId = tokens.sessionId
  context.setSessionCookies(tokens)
  return redirect(returnTo)
}
