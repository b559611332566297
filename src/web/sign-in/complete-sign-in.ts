import type { PageDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { HttpResponse } from '../../http/response.ts'
import { askToProveEmail } from './check-mail.ts'
import { type NewSession, startSession } from './start-session.ts'
import { createGate, type GatedSignIn } from './gate.ts'

/** A sign-in whose user has proved what the grant says. */
export interface SignIn extends Omit<NewSession, 'mayStart' | 'trusts'>, Omit<GatedSignIn, 'connect'> {
  /** Whether an account whose address must be verified, and is not, gets a message in place of a session. */
  provesEmail?: boolean
}

/**
 * THE end of every way to sign in, but for those that prove everything at once, as a passkey does. Answers with what the
 * user must do first, or starts the session. What `also` does is done in both cases. Undefined when the grant is no
 * longer valid; `rate_limited` as `startSession`.
 */
export const completeSignIn = async (
  deps: PageDeps,
  context: RequestContext,
  { provesEmail = false, ...signIn }: SignIn,
): Promise<HttpResponse | undefined> => {
  const mailed = provesEmail ? await askToProveEmail(deps, context, signIn) : undefined
  if (mailed) return mailed
  const { mayStart, findNextPage } = createGate(deps, context, signIn)
  return (await startSession(deps, context, { ...signIn, mayStart })) ?? findNextPage()
}
