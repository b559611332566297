import type { OfferedWays, Services, ProviderView } from '../../http/services.ts'
import { signInProblem } from '../../oauth/errors.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { ShowAgain } from '../../http/route.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { SignInServices } from '../sign-in/complete-sign-in.ts'

/** The handlers of one provider are given these services. */
export type ProviderServices = SignInServices &
  OfferedWays &
  Pick<Services, 'accountLog' | 'baseUrl' | 'findCurrentSession' | 'log' | 'signup' | 'users'> & {
    provider: ProviderView
    /** These pages of links ask for a second factor before the browser goes to the provider. */
    linkPages: Record<'reset' | 'undo', { showAgain: ShowAgain }>
  }

/**
 * Finds the current session. It throws `unauthorized` when there is none, or it has ended while the user was at the
 * provider.
 */
export const requireSignedIn = async (
  { findCurrentSession }: Pick<Services, 'findCurrentSession'>,
  context: RequestContext,
): Promise<AuthenticatedSession> => {
  const session = await findCurrentSession(context)
  if (!session) throw signInProblem('logged_out')
  return session
}
