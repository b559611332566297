import type { WayIn } from '../../../second-factor/entry-policy.ts'
import type { PageDeps } from '../../deps.ts'
import type { RequestContext } from '../../request-context.ts'
import type { HttpResponse } from '../../response.ts'
import { askToProveEmail } from '../recovery/check-mail.ts'
import { type NewSession, startSession } from '../start-session.ts'

/** A sign-in whose user has proved what the grant says. */
export interface SignIn extends NewSession {
  way: WayIn
  /** Whether an account whose address must be verified, and is not, gets a message in place of a session. */
  provesEmail?: boolean
}

/**
 * THE end of every way to sign in, but for those that prove everything at once, as a passkey does. Answers with what the
 * user must do first, or starts the session. Undefined when the grant is no longer valid; `rate_limited` as
 * `startSession`.
 */
export const completeSignIn = async (
  deps: PageDeps,
  context: RequestContext,
  { provesEmail = false, ...session }: SignIn,
): Promise<HttpResponse | undefined> => {
  const mailed = provesEmail ? await askToProveEmail(deps, context, session) : undefined
  return mailed ?? startSession(deps, context, session)
}
