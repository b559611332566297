import { type Awaitable, after } from '../lib/awaitable.ts'
import type { AuthenticatedSession, Sessions } from '../sessions/sessions.ts'
import type { Languages } from '../languages/languages.ts'
import type { FinishRefresh } from './finish-refresh.ts'
import { speakToUser } from './page-language.ts'
import type { RequestContext } from './request-context.ts'

/** Finds the session of the browser that sent a request. It is undefined if the user is not signed in. */
export type FindCurrentSession = (context: RequestContext) => Awaitable<AuthenticatedSession | undefined>

interface FindCurrentSessionDeps {
  sessions: Sessions
  finishRefresh: FinishRefresh
  languages: Pick<Languages, 'get' | 'suiting'>
}

/**
 * Finds the session by the access token. If that has expired, a valid refresh token renews the session on the way: an
 * application needs nothing but a redirect to the login page.
 */
export const createFindCurrentSession = ({
  sessions,
  finishRefresh,
  languages,
}: FindCurrentSessionDeps): FindCurrentSession => {
  const renew = async (context: RequestContext, refresh: string): Promise<AuthenticatedSession | undefined> => {
    const result = await sessions.refresh(refresh, context)
    finishRefresh(context, result)
    context.session = 'tokens' in result ? result.session : undefined
    context.isRenewed = context.session !== undefined
    speakToUser(languages, context.session?.language)
    return context.session
  }

  const find = (context: RequestContext): Awaitable<AuthenticatedSession | undefined> => {
    const { access, refresh } = context.cookies
    return after(access && sessions.authenticate(access), (session) => {
      context.session = session || undefined
      // The page is for the user from here on.
      speakToUser(languages, context.session?.language)
      // HEAD changes nothing (RFC 9110 section 9.3.2), and its sender may ignore the cookies of the response.
      return context.session || !refresh || context.method === 'HEAD' ? context.session : renew(context, refresh)
    })
  }

  // Several parts of a handler ask for the session of one request. A second refresh with the token that the first one
  // has replaced would count as theft once the grace window is over, and revoke the session. A weak map: the result is
  // dropped together with its request.
  const sessionsByRequest = new WeakMap<RequestContext, Awaitable<AuthenticatedSession | undefined>>()

  return (context) => {
    const { access, refresh } = context.cookies
    if (!access && !refresh) return undefined
    const finding = sessionsByRequest.get(context) ?? find(context)
    sessionsByRequest.set(context, finding)
    return finding
  }
}
