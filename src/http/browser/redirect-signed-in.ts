import { type MonotonicClock, monotonicClock } from '../../lib/time.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { RouteDeps } from '../deps.ts'
import { type HttpResponse, page, type RequestContext, redirect } from '../request-context.ts'
import { createRedirectLoops } from './redirect-loops.ts'
import { requestedReturnTo } from './start-session.ts'

/** Sends a visitor who is signed in on to the target, and shows everybody else the page. */
export type RedirectSignedIn = (
  context: RequestContext,
  show: (target: string) => HttpResponse,
) => Promise<HttpResponse>

type Deps = Pick<RouteDeps, 'findCurrentSession' | 'baseUrl' | 'log' | 'pages' | 'clock'>

/**
 * Makes what the pages of login and signup share: who is signed in goes on to the target, or sees a page (409) where
 * the application there sends them back without end.
 */
export const createRedirectSignedIn = (
  { findCurrentSession, baseUrl, log, pages, clock }: Deps,
  monotonic: MonotonicClock = monotonicClock,
): RedirectSignedIn => {
  const noteReturn = createRedirectLoops(monotonic)

  const explain = (context: RequestContext, { email }: AuthenticatedSession, target: string): HttpResponse =>
    page(
      409,
      pages.redirectLoop({
        email,
        returnTo: target,
        issuer: baseUrl,
        nowMs: clock.now(),
        requestId: context.requestId,
      }),
    )

  const report = (context: RequestContext, { sessionId, userId }: AuthenticatedSession, target: string): void =>
    log.warn(
      {
        request_id: context.requestId,
        session_id: sessionId,
        user_id: userId,
        client: context.device.address,
        // The query may hold what is nobody's business.
        return_to: target.replace(/[?#].*/s, ''),
      },
      'redirect loop: the application does not accept the session and redirects to the login page',
    )

  return async (context, show) => {
    const askedMs = monotonic.elapsedMs()
    const target = requestedReturnTo(context, baseUrl)
    const signedIn = await findCurrentSession(context)
    if (!signedIn) return show(target)
    // What the application has refused was an old access token, and with the new one it may be content.
    if (context.isRenewed) return redirect(target)
    const outcome = noteReturn(signedIn.sessionId, target, askedMs)
    if (outcome === 'return') return redirect(target)
    if (outcome === 'loop') report(context, signedIn, target)
    return explain(context, signedIn, target)
  }
}
