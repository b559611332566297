import { createRedirectLoopPage } from './redirect-loop-page.ts'
import type { ScreenServices } from '../site/frame.ts'
import { type Awaitable, after } from '../../lib/awaitable.ts'
import { monotonicClock } from '../../lib/time.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page, redirect } from '../../http/response.ts'
import { createRedirectLoops } from './redirect-loops.ts'
import { requestedReturnTo } from './start-session.ts'

/**
 * Redirects a signed-in user to `return_to`, and shows the page to anyone else. In a redirect loop
 * (`redirect-loops.ts`) a page explains it (409).
 */
export type RedirectSignedIn = (
  context: RequestContext,
  show: (returnTo: string) => Awaitable<HttpResponse>,
) => Awaitable<HttpResponse>

type RedirectSignedInDeps = Pick<
  ScreenServices,
  'findCurrentSession' | 'baseUrl' | 'homeUrl' | 'log' | 'layout' | 'clock'
>

export const createRedirectSignedIn = ({
  findCurrentSession,
  baseUrl,
  homeUrl,
  log,
  layout,
  clock,
}: RedirectSignedInDeps): RedirectSignedIn => {
  const countReturn = createRedirectLoops(monotonicClock)

  const explain = ({ requestId }: RequestContext, { email }: AuthenticatedSession, returnTo: string): HttpResponse =>
    page(409, createRedirectLoopPage(layout)({ email, returnTo, issuer: baseUrl, nowMs: clock.now(), requestId }))

  const report = (context: RequestContext, { sessionId, userId }: AuthenticatedSession, returnTo: string): void =>
    log.warn(
      {
        request_id: context.requestId,
        session_id: sessionId,
        user_id: userId,
        client: context.device.address,
        // The query is left out, since it may hold personal data.
        return_to: returnTo.replace(/[?#].*/s, ''),
      },
      'redirect loop: the application does not accept the session and redirects to the login page',
    )

  const returnOrExplain = (
    context: RequestContext,
    session: AuthenticatedSession,
    returnTo: string,
    arrivedMs: number,
  ): HttpResponse => {
    // This is no loop yet: the application has refused the old access token, and may accept the new one.
    if (context.isRenewed) return redirect(returnTo)
    const outcome = countReturn(session.sessionId, returnTo, arrivedMs)
    if (outcome === 'return') return redirect(returnTo)
    if (outcome === 'loop') report(context, session, returnTo)
    return explain(context, session, returnTo)
  }

  return (context, show) => {
    const arrivedMs = monotonicClock.elapsedMs()
    const returnTo = requestedReturnTo(context, { baseUrl, homeUrl })
    return after(findCurrentSession(context), (session) =>
      session ? returnOrExplain(context, session, returnTo, arrivedMs) : show(returnTo),
    )
  }
}
