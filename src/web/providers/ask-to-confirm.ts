import type { AuthenticatedSession, SignInGrant } from '../../sessions/sessions.ts'
import type { EventFacts } from '../../audit/account-log.ts'
import type { PageDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { HttpResponse } from '../../http/response.ts'
import { goOnAt } from '../sign-in/pending.ts'

interface HalfConfirmation {
  session: AuthenticatedSession
  /** What the provider has proved. */
  grant: SignInGrant
  returnTo: string
  facts: EventFacts
}

/**
 * A user who is signed in has confirmed by a provider that it is them, and a code is missing: leads to the page that asks
 * for it. Undefined where the grant no longer holds.
 */
export const askToConfirm = async (
  deps: PageDeps,
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
