import { createLogoutPage, type LogoutView } from './logout-page.ts'
import type { ScreenServices } from '../site/frame.ts'
import type { OfferedWays } from '../../http/services.ts'
import { type ReturnTargets, returnToParameter } from '../../http/return-to.ts'
import { prefersJson } from '../../http/negotiation.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, noContent, page, redirect } from '../../http/response.ts'
import type { Refusal } from '../../http/route.ts'
import { readPending } from '../sign-in/pending.ts'
import { identifySessions, requestedReturnTo } from '../sign-in/start-session.ts'
import { stayAtLogin } from '../sign-in/offered-ways.ts'

/** Handles `GET` (a button) and `POST /auth/logout` (CONTRACT.md 4.2). */
export const createLogout = (
  deps: OfferedWays &
    ReturnTargets &
    Pick<
      ScreenServices,
      'accountLog' | 'cookieWriter' | 'findCurrentSession' | 'layout' | 'pendingSignIns' | 'sessions'
    >,
) => {
  const logoutPage = createLogoutPage(deps.layout)
  const view = async (context: RequestContext): Promise<LogoutView> => {
    const returnTo = returnToParameter(requestedReturnTo(context, deps), deps)
    const session = await deps.findCurrentSession(context)
    return { csrfToken: context.csrfToken, returnTo, signedIn: session !== undefined, email: session?.email }
  }

  return {
    show: async (context: RequestContext): Promise<HttpResponse> => page(200, logoutPage(await view(context))),

    /**
     * Shows the button again. If another tab has logged out since, it shows the page that says so. Cookies that came
     * more than once hide whether the user is signed in.
     */
    async showAgain(context: RequestContext, { problem }: Refusal): Promise<string> {
      const shown = await view(context)
      return logoutPage({ ...shown, signedIn: shown.signedIn || context.cookies.repeated.length > 0, problem })
    },

    async act(context: RequestContext): Promise<HttpResponse> {
      const returnTo = requestedReturnTo(context, deps)
      const ended = (await identifySessions(deps, context)).map(({ session }) => session)
      for (const session of ended) await deps.sessions.end(session, 'logout', context)
      // A login in another tab may have replaced this session a moment ago: its new session ends too.
      const { refresh } = context.cookies
      if (refresh) ended.push(...(await deps.sessions.endSuccessor(refresh, context)))
      for (const { userId, sessionId } of ended) deps.accountLog.record(context, { event: 'logout', userId, sessionId })
      const pending = readPending(deps, context)
      if (pending) await deps.pendingSignIns.end(pending)
      if (context.cookies.pending) context.setCookies([deps.cookieWriter.pending()])
      context.signOut()
      stayAtLogin(deps, context)
      return prefersJson(context.headers) ? noContent : redirect(returnTo)
    },
  }
}
