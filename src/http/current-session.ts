import type { AuthenticatedSession, Sessions } from '../sessions/sessions.ts'
import { setRefreshCookies } from './refresh-cookies.ts'
import type { RecordRefresh } from './refresh-log.ts'
import type { RequestContext } from './request-context.ts'

/** The session of the browser that sent a request; undefined where the user is not signed in. */
export type FindCurrentSession = (context: RequestContext) => Promise<AuthenticatedSession | undefined>

interface FindCurrentSessionDeps {
  sessions: Sessions
  recordRefresh: RecordRefresh
}

/**
 * Finds the session by the access token. Where that has expired, a valid refresh token renews the session on the way:
 * an application needs nothing but a redirect to the login page.
 */
export const createFindCurrentSession = ({ sessions, recordRefresh }: FindCurrentSessionDeps): FindCurrentSession => {
  const find = async (context: RequestContext): Promise<AuthenticatedSession | undefined> => {
    const { access, refresh } = context.cookies
    context.session = access ? await sessions.authenticate(access) : undefined
    // HEAD changes nothing (RFC 9110 section 9.3.2), and its sender may ignore the cookies of the response.
    if (context.session || !refresh || context.method === 'HEAD') return context.session
    const result = await sessions.refresh(refresh, context.device)
    recordRefresh(context, result)
    setRefreshCookies(context, result)
    context.session = 'tokens' in result ? result.session : undefined
    context.isRenewed = context.session !== undefined
    return context.session
  }

  // Several parts of a handler ask for the session of one request. A second refresh with the token that the first one
  // has replaced would count as theft once the grace window is over, and revoke the session. A weak map: the result is
  // dropped together with its request.
  const sessionsByRequest = new WeakMap<RequestContext, Promise<AuthenticatedSession | undefined>>()

  return (context) => {
    const finding = sessionsByRequest.get(context) ?? find(context)
    sessionsByRequest.set(context, finding)
    return finding
  }
}
