import { createCheckMailPage } from './check-mail-page.ts'
import type { ScreenServices } from '../site/frame.ts'
import { hashToken, type Link } from '../../links/link.ts'
import { newToken } from '../../http/cookies.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { AskingBrowser } from '../../links/verification.ts'
import { type HttpResponse, page } from '../../http/response.ts'
import { afterSignup, returnToParameter } from '../../http/return-to.ts'
import { type NewSession, resolveReturnTo } from './start-session.ts'

/**
 * Holds the secret by which this browser is told from others. It is set again, so that it lasts as long as what it is
 * for.
 */
export const holdBrowserSecret = (
  { cookieWriter, links }: Pick<Services, 'cookieWriter' | 'links'>,
  context: RequestContext,
  atLeastMs = 0,
): string => {
  const secret = context.cookies.link ?? newToken()
  context.setCookies([cookieWriter.link(secret, Math.max(links.askingBrowserMs, atLeastMs))])
  return secret
}

/**
 * Marks the browser that asks for a link, and returns the hash by which it is recognised, for the link's details. A
 * browser keeps its secret, so that an earlier link still finds it.
 */
export const markAskingBrowser = (deps: Pick<Services, 'cookieWriter' | 'links'>, context: RequestContext): string =>
  hashToken(holdBrowserSecret(deps, context))

/** Tells whether this browser asked for the link. Anybody can open a link, and in any browser. */
export const isAskingBrowser = ({ cookies }: RequestContext, { details }: Pick<Link, 'details'>): boolean =>
  details.browser !== undefined && cookies.link !== undefined && hashToken(cookies.link) === details.browser

/**
 * Finds the page for a user who came by the link. The browser that asked for the link may name it; in another browser
 * it is the home page. If no browser asked for the link, an operator has named the page.
 */
export const returnToOf = (
  { homeUrl }: Pick<Services, 'homeUrl'>,
  context: RequestContext,
  link: Pick<Link, 'details'>,
): string =>
  ((link.details.browser === undefined || isAskingBrowser(context, link)) && link.details.returnTo) || homeUrl

/** Does the same for the link of an account. A user who enters by an invitation, or in place of it, is new. */
export const returnToOfEntry = async (
  deps: Pick<Services, 'afterSignupUrl' | 'homeUrl' | 'links'>,
  context: RequestContext,
  link: Link,
): Promise<string> => {
  const returnTo = returnToOf(deps, context, link)
  const { invitedAtMs } = await deps.links.entry.requireAccount(link)
  return invitedAtMs === undefined ? returnTo : afterSignup(deps, returnTo)
}

/** Makes what a link remembers of the browser that asks for it. */
export const askingBrowserOf = (
  deps: Pick<Services, 'cookieWriter' | 'links'>,
  context: RequestContext,
  returnTo?: string,
): AskingBrowser => ({
  hash: markAskingBrowser(deps, context),
  network: context.network,
  userAgent: context.device.userAgent,
  returnTo,
})

/**
 * If `SVC_EMAIL_VERIFICATION=required`, an account that has never proved its email gets a message in place of a
 * session. The result is undefined if a session may start. It must be called with a grant: nobody else learns that the
 * account exists.
 */
export const askToProveEmail = async (
  deps: Pick<ScreenServices, 'cookieWriter' | 'homeUrl' | 'limits' | 'layout' | 'links'>,
  context: RequestContext,
  { grant, facts, ...session }: NewSession,
): Promise<HttpResponse | undefined> => {
  const { verification } = deps.links
  const user = await verification.findUnproved(grant.userId)
  if (!user) return undefined
  const returnTo = await resolveReturnTo(session.returnTo)
  Object.assign(facts, { userId: user.id, reason: 'email_unverified' })
  // The message has cost a hash, as a successful login does.
  await deps.limits.attempt([['successfulLogin', { userId: user.id, network: context.network }]], () =>
    verification.sendAgain(user.id, askingBrowserOf(deps, context, returnTo)),
  )
  const view = { email: user.email, after: 'login' as const, returnTo: returnToParameter(returnTo, deps) }
  return page(200, createCheckMailPage(deps.layout)(view))
}
