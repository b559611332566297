import type { AuthenticatedSession, SignInGrant, StartOptions } from '../../sessions/sessions.ts'
import type { EventInProgress } from '../account-log.ts'
import type { RouteDeps } from '../deps.ts'
import { type HttpResponse, type RequestContext, redirect } from '../request-context.ts'
import { readReturnTo } from '../return-to.ts'

/** Where a person wants to go after login or signup: from the form, else from the query; `/` when it is not said. */
export const requestedReturnTo = (context: RequestContext, baseUrl: string): string =>
  readReturnTo(context.form.get('return_to') ?? context.query.get('return_to'), baseUrl)

/** The sessions that this browser can show, by either cookie: the access token may have run out. */
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
  /** The event that it is part of. */
  found: EventInProgress
  /** More to be done in the transaction of the start. */
  also?: StartOptions['also']
}

/**
 * Starts a session in place of the one that this browser had, and sends the browser to the target; undefined when the
 * grant is no longer valid, `rate_limited` when this user has signed in too often from this network, in whatever way. The CSRF token
 * changes with who somebody is.
 */
export const startSession = async (
  deps: Pick<RouteDeps, 'sessions' | 'limits'>,
  context: RequestContext,
  { grant, returnTo: target, found, also }: NewSession,
): Promise<HttpResponse | undefined> => {
  const { userId } = grant
  found.userId = userId
  const replaces = (await findBrowserSessions(deps, context)).map(({ sessionId }) => sessionId)
  // Only after the proof: before it, 429 would tell a neighbour that there is such an account.
  const tokens = await deps.limits.attempt([['successfulLogin', `${userId} ${context.network}`]], () =>
    deps.sessions.start(grant, context.device, { replaces, also }),
  )
  if (!tokens) return undefined
  found.sessionId = tokens.sessionId
  context.setSessionCookies(tokens)
  return redirect(target)
}
