import type { AuthenticatedSession, RefreshResult, Sessions } from '../sessions/sessions.ts'
import { setRefreshCookies } from './refresh-cookies.ts'
import type { RequestContext } from './request-context.ts'

interface FindCurrentSessionDeps {
  sessions: Sessions
  recordRefresh: (context: RequestContext, result: RefreshResult) => void
}

/**
 * Finds out who visits a page. Who comes with an access token that has run out but a good refresh token is renewed on
 * the way, so that an application needs nothing but a redirect to the login page.
 */
export const createFindCurrentSession = ({ sessions, recordRefresh: noteRefresh }: FindCurrentSessionDeps) => {
  const find = async (context: RequestContext): Promise<AuthenticatedSession | undefined> => {
    const { access, refresh } = context.cookies
    context.session = access ? await sessions.authenticate(access) : undefined
    // A HEAD only looks (RFC 9110 section 9.3.2), and what sends it may drop the cookies of the answer.
    if (context.session || !refresh || context.method === 'HEAD') return context.session
    const result = await sessions.refresh(refresh, context.device)
    noteRefresh(context, result)
    setRefreshCookies(context, result)
    context.session = 'tokens' in result ? result.signedIn : undefined
    context.isRenewed = context.session !== undefined
    return context.session
  }

  const found = new WeakMap<RequestContext, Promise<AuthenticatedSession | undefined>>()

  // Once for each visit: asked again past the grace, the token that this very visit has traded in would look stolen.
  return (context: RequestContext): Promise<AuthenticatedSession | undefined> => {
    const finding = found.get(context) ?? find(context)
    found.set(context, finding)
    return finding
  }
}

export type FindCurrentSession = ReturnType<typeof createFindCurrentSession>
