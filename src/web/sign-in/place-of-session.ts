import type { CodePlace } from '../../second-factor/second-factors.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { RouteDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'

/**
 * Where a user enters a code to confirm a session. Wrong ones are counted by the browser in which it began: who logs in
 * again, or confirms with a password alone, gets no further tries.
 */
export const placeOfSession = async (
  { knownBrowsers }: Pick<RouteDeps, 'knownBrowsers'>,
  { network }: Pick<RequestContext, 'network'>,
  { userId, deviceHash }: Pick<AuthenticatedSession, 'userId' | 'deviceHash'>,
): Promise<CodePlace> => {
  const known = await knownBrowsers.findByHash(userId, deviceHash)
  return { kind: 'reauthentication', sessionId: `${userId}/${known?.countedAs ?? deviceHash}`, network }
}
