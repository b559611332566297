import type { AuthenticatedSession, SignInGrant } from '../../sessions/sessions.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { PageDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { HttpResponse } from '../../http/response.ts'
import { confirmPath, isForAccount, type StepUp, targetOf } from '../../http/step-up.ts'
import { startSession } from '../sign-in/start-session.ts'
import { askToConfirm } from './ask-to-confirm.ts'

interface Confirmation {
  session: AuthenticatedSession
  /** What the provider has proved. */
  grant: SignInGrant
  stepUp: StepUp
  facts: EventFacts
}

/**
 * Ends a confirmation by a provider with a session in place of that of the request. Where more is asked for than the
 * provider has proved, the page of confirmation leads on. Undefined when the grant is no longer valid.
 */
export const confirmByProvider = async (
  deps: PageDeps,
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
  { sessions }: PageDeps,
  { userId, authenticatedAtMs, amr, provider }: SignInGrant,
  stepUp: StepUp,
): boolean =>
  isForAccount(stepUp) && sessions.isRecentlyTrusted({ userId, authenticatedAtMs, amr, provider, readAtMs: undefined })
