import { signInProblem } from '../../oauth/errors.ts'
import type { ProviderView } from '../../pages/site/providers.ts'
import type { AuthenticatedSession } from '../../sessions/session.ts'
import type { PageDeps, RouteDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'

/** What the routes of one provider are made from. */
export interface ProviderRoute {
  provider: ProviderView
}

/** What their handlers are given. */
export interface ProviderRouteDeps extends PageDeps, ProviderRoute {}

/** The current session; `unauthorized` when there is none, or it has ended while the user was at the provider. */
export const requireSignedIn = async (
  { findCurrentSession }: Pick<RouteDeps, 'findCurrentSession'>,
  context: RequestContext,
): Promise<AuthenticatedSession> => {
  const session = await findCurrentSession(context)
  if (!session) throw signInProblem('logged_out')
  return session
}
