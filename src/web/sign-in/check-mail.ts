import type { AskingBrowser } from '../../links/verification.ts'
import type { PageDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, page } from '../../http/response.ts'
import { returnToParameter } from '../../http/return-to.ts'
import { type NewSession, resolveReturnTo } from './start-session.ts'
import { markAskingBrowser } from './asking-browser.ts'

/** What a link remembers of the browser that asks for it. */
export const askingBrowserOf = (deps: PageDeps, context: RequestContext, returnTo?: string): AskingBrowser => ({
  hash: markAskingBrowser(deps, context),
  network: context.network,
  userAgent: context.device.userAgent,
  returnTo,
})

/**
 * With `SVC_EMAIL_VERIFICATION=required`, an account that has never proved its email gets a message in place of a
 * session. Undefined where a session may start. To be called with a grant: nobody else learns that there is an account.
 */
export const askToProveEmail = async (
  deps: PageDeps,
  context: RequestContext,
  { grant, facts, ...session }: NewSession,
): Promise<HttpResponse | undefined> => {
  const { verification } = deps.recovery
  const user = await verification.findUnproved(grant.userId)
  if (!user) return undefined
  const returnTo = await resolveReturnTo(session.returnTo)
  Object.assign(facts, { userId: user.id, reason: 'email_unverified' })
  // It has cost a hash, as a login that succeeds.
  await deps.limits.attempt([['successfulLogin', { userId: user.id, network: context.network }]], () =>
    verification.sendAgain(user.id, askingBrowserOf(deps, context, returnTo)),
  )
  const view = { email: user.email, after: 'login' as const, returnTo: returnToParameter(returnTo, deps) }
  return page(200, deps.pages.checkMail(view))
}
