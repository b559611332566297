import { hashToken, type Link } from '../../links/link.ts'
import { newToken } from '../../http/cookies.ts'
import type { RouteDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'

/** The secret by which this browser is told from others; it is set again, so that it lasts as long as what it is for. */
export const holdBrowserSecret = (
  { cookieWriter, recovery }: Pick<RouteDeps, 'cookieWriter' | 'recovery'>,
  context: RequestContext,
  atLeastMs = 0,
): string => {
  const secret = context.cookies.link ?? newToken()
  context.setCookies([cookieWriter.link(secret, Math.max(recovery.askingBrowserMs, atLeastMs))])
  return secret
}

/**
 * Marks the browser that asks for a link, and returns the hash by which it is recognised, for the link's details. A
 * browser keeps its secret, so that an earlier link still finds it.
 */
export const markAskingBrowser = (
  deps: Pick<RouteDeps, 'cookieWriter' | 'recovery'>,
  context: RequestContext,
): string => hashToken(holdBrowserSecret(deps, context))

/** Whether this browser asked for the link. Anybody can open a link, and in any browser. */
export const isAskingBrowser = ({ cookies }: RequestContext, { details }: Pick<Link, 'details'>): boolean =>
  details.browser !== undefined && cookies.link !== undefined && hashToken(cookies.link) === details.browser

/**
 * Where a user goes who came by the link. Only the browser that asked for it may say, elsewhere it is the home page. For
 * a link that no browser has asked for, an operator has said it.
 */
export const returnToOf = (
  { homeUrl }: Pick<RouteDeps, 'homeUrl'>,
  context: RequestContext,
  link: Pick<Link, 'details'>,
): string =>
  ((link.details.browser === undefined || isAskingBrowser(context, link)) && link.details.returnTo) || homeUrl
