import type { PendingSignIn } from '../../sign-in/pending-sign-ins.ts'
import type { StartOptions } from '../../sessions/sessions.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { PageDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { HttpResponse } from '../../http/response.ts'
import { type NewSession, startSession } from './start-session.ts'
import { stayNoLonger } from './stay-at-login.ts'
import { authenticatedBy, type Proof } from '../../sign-in/amr.ts'

/** What a user has set up on the way in. */
export interface Enrolment {
  facts: EventFacts
  proof: Proof
  /** Stores it, and ends what the table of events says. */
  store: NonNullable<StartOptions['also']>
  /** Called after the commit. */
  returnTo: NewSession['returnTo']
}

/**
 * Ends a sign-in that must set up a second factor, or a passkey: one transaction uses it up, stores what was set up, and starts the session. Undefined where the
 * sign-in no longer holds; then nothing was stored.
 */
export const endEnrolment = (
  deps: PageDeps,
  context: RequestContext,
  pending: PendingSignIn,
  { facts, proof, store, returnTo }: Enrolment,
): Promise<HttpResponse | undefined> => {
  const grant = { ...deps.pendingSignIns.grantFor(pending), ...authenticatedBy(pending, { proof }, 'set_up') }
  stayNoLonger(deps, context)
  return startSession(deps, context, { grant, returnTo, facts, also: store, browser: pending.browser })
}
