import type { SignedIn } from '../../sessions/sessions.ts'
import type { EventInProgress } from '../account-log.ts'
import type { RouteParts } from '../deps.ts'
import { type Answer, redirect, type Visit } from '../request-context.ts'
import { readReturnTo } from '../return-to.ts'

/** Where a person wants to go after login or signup: from the form, else from the query; `/` when it is not said. */
export const targetOf = (visit: Visit, baseUrl: string): string =>
  readReturnTo(visit.form.get('return_to') ?? visit.query.get('return_to'), baseUrl)

/** The sessions that this browser can show, by either cookie: the access token may have run out. */
export const sessionsOf = async ({ sessions }: Pick<RouteParts, 'sessions'>, visit: Visit): Promise<SignedIn[]> => {
  const { access, refresh } = visit.cookies
  const found = [access && (await sessions.authenticate(access)), refresh && (await sessions.identify(refresh))]
  const sessionsById = new Map(found.flatMap((session) => (session ? [[session.sessionId, session]] : [])))
  return [...sessionsById.values()]
}

/** Who is let in, why, and where they go. */
type Entrance = Omit<Parameters<RouteParts['sessions']['start']>[2], 'replaces'> & {
  userId: string
  target: string
  /** The event that it is part of. */
  found: EventInProgress
}

/**
 * Starts a session in place of the one that this browser had, and sends it to its target; undefined when the proof no
 * longer holds, `rate_limited` when this user has signed in too often from this network, in whatever way. The CSRF token
 * changes with who somebody is.
 */
export const enter = async (
  parts: Pick<RouteParts, 'sessions' | 'limits'>,
  visit: Visit,
  { userId, target, found, ...proof }: Entrance,
): Promise<Answer | undefined> => {
  found.userId = userId
  const replaces = (await sessionsOf(parts, visit)).map(({ sessionId }) => sessionId)
  // Only after the proof: before it, 429 would tell a neighbour that there is such an account.
  const tokens = await parts.limits.attempt([['successfulLogin', `${userId} ${visit.network}`]], () =>
    parts.sessions.start(userId, visit.device, { ...proof, replaces }),
  )
  if (!tokens) return undefined
  found.sessionId = tokens.sessionId
  visit.startSession(tokens)
  return redirect(target)
}
