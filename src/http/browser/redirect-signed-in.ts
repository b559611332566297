import { type MonotonicClock, monotonicClock } from '../../lib/time.ts'
import type { SignedIn } from '../../sessions/sessions.ts'
import type { RouteParts } from '../deps.ts'
import { type Answer, page, redirect, type Visit } from '../request-context.ts'
import { createRedirectLoops } from './redirect-loops.ts'
import { targetOf } from './start-session.ts'

/** Sends a visitor who is signed in on to the target, and shows everybody else the page. */
export type SendOnOr = (visit: Visit, show: (target: string) => Answer) => Promise<Answer>

type Deps = Pick<RouteParts, 'recognize' | 'baseUrl' | 'log' | 'pages' | 'clock'>

/**
 * Makes what the pages of login and signup share: who is signed in goes on to the target, or sees a page (409) where
 * the application there sends them back without end.
 */
export const createSendOnOr = (
  { recognize, baseUrl, log, pages, clock }: Deps,
  monotonic: MonotonicClock = monotonicClock,
): SendOnOr => {
  const noteReturn = createRedirectLoops(monotonic)

  const explain = (visit: Visit, { email }: SignedIn, target: string): Answer =>
    page(409, pages.redirectLoop({ email, target, issuer: baseUrl, nowMs: clock.now(), requestId: visit.requestId }))

  const report = (visit: Visit, { sessionId, userId }: SignedIn, target: string): void =>
    log.warn(
      {
        request_id: visit.requestId,
        session_id: sessionId,
        user_id: userId,
        client: visit.device.address,
        // The query may hold what is nobody's business.
        return_to: target.replace(/[?#].*/s, ''),
      },
      'redirect loop: the application does not accept the session and redirects to the login page',
    )

  return async (visit, show) => {
    const askedMs = monotonic.elapsedMs()
    const target = targetOf(visit, baseUrl)
    const signedIn = await recognize(visit)
    if (!signedIn) return show(target)
    // What the application has refused was an old access token, and with the new one it may be content.
    if (visit.isRenewed) return redirect(target)
    const outcome = noteReturn(signedIn.sessionId, target, askedMs)
    if (outcome === 'return') return redirect(target)
    if (outcome === 'loop') report(visit, signedIn, target)
    return explain(visit, signedIn, target)
  }
}
