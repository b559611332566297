import type { Services, SessionServices } from '../../http/services.ts'
import type { AuthenticatedSession, SignInGrant } from '../../sessions/sessions.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { HttpResponse } from '../../http/response.ts'
import { confirmPath, isForAccount, type StepUp, targetOf } from '../../http/step-up.ts'
import { startSession } from '../sign-in/start-session.ts'
import { goOnAt } from '../sign-in/pending.ts'

interface Confirmation {
  session: AuthenticatedSession
  /** The provider has proved this. */
  grant: SignInGrant
  stepUp: StepUp
  facts: EventFacts
}

/**
 * Ends a confirmation by a provider with a session in place of the session of the request. If more is asked for than
 * the provider has proved, the page of confirmation leads on. The result is undefined when the grant is no longer
 * valid.
 */
export const confirmByProvider = async (
  deps: SessionServices & Pick<Services, 'homeUrl' | 'pendingSignIns' | 'links' | 'requestMetrics' | 'secondFactors'>,
  context: RequestContext,
  { session, grant, stepUp, facts }: Confirmation,
): Promise<HttpResponse | undefined> => {
  const isMissing = stepUp.acr === 'mfa' && !grant.amr.includes('mfa') && !isTrusted(deps, grant, stepUp)
  const { codes, recoveryCodes, passkeys } = await deps.secondFactors.find(session.userId)
  if (isMissing && (codes || recoveryCodes > 0 || passkeys > 0))
    return askToConfirm(deps, context, { session, grant, returnTo: targetOf(stepUp), facts })
  const returnTo = isMissing ? confirmPath(stepUp) : targetOf(stepUp)
  return startSession(deps, context, { grant, returnTo, facts })
}

const isTrusted = (
  { sessions }: Pick<Services, 'sessions'>,
  { userId, authenticatedAtMs, amr, provider }: SignInGrant,
  stepUp: StepUp,
): boolean =>
  isForAccount(stepUp) && sessions.isRecentlyTrusted({ userId, authenticatedAtMs, amr, provider, readAtMs: undefined })

interface HalfConfirmation {
  session: AuthenticatedSession
  /** The provider has proved this. */
  grant: SignInGrant
  returnTo: string
  facts: EventFacts
}

/**
 * Leads to the page that asks for a code, after a signed-in user has confirmed by a provider and a code is missing. The
 * result is undefined if the grant is no longer valid.
 */
const askToConfirm = async (
  deps: Pick<Services, 'cookieWriter' | 'homeUrl' | 'pendingSignIns' | 'links' | 'requestMetrics'>,
  context: RequestContext,
  { session, grant, returnTo, facts }: HalfConfirmation,
): Promise<HttpResponse | undefined> => {
  const { userId, amr, authenticatedAtMs, provider, identityId } = grant
  const pending = await deps.pendingSignIns.beginWith(grant, {
    userId,
    amr,
    authenticatedAtMs,
    provider,
    identityId,
    returnTo,
    way: 'provider',
    method: facts.method,
    browser: 'silent',
    connect: undefined,
    confirms: session.sessionId,
  })
  if (!pending) return undefined
  facts.event = 'second_factor_request'
  deps.requestMetrics?.countAskedFactor('code')
  return goOnAt(deps, context, 'ask', pending)
}
