import { readAbsoluteForm } from '../../lib/url.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { encodeBytes, parseReturnTo, type ReturnTargets } from '../../http/return-to.ts'

export const FORWARD_PATH = '/auth/check/forward'

/**
 * A proxy says this about the request that it asks about. Any client can say the same: it decides nothing but the
 * address to which this client is sent.
 */
interface OriginalRequest {
  isPage: boolean
  /**
   * The path and query are percent-encoded, and good as `return_to`. This is `/` if they are missing or not accepted.
   */
  returnTo: string
}

export const readOriginalRequest = (context: RequestContext, targets: ReturnTargets): OriginalRequest => {
  const { headers } = context
  const method = textOf(headers['x-forwarded-method']) || textOf(headers['x-original-method']) || context.method
  const target = encodeBytes(targetOf(context))
  // Node joins headers that came twice with a comma and a space; a request target has no space.
  const isGood = !target.includes(' ') && parseReturnTo(target, targets) !== undefined
  return { isPage: isPageRequest(method, headers), returnTo: isGood ? target : '/' }
}

/**
 * Tells whether the proxy passes a whole response on, redirects included: it asks for that by `redirect=1`, or by its
 * choice of path. Throws `invalid_request` for a query that cannot be read.
 */
export const isPassedOn = (context: RequestContext): boolean =>
  isForwarded(context) || context.query.get('redirect') === '1'

/** Another request follows the prefix, and its query means nothing here. */
export const isForwarded = ({ target }: RequestContext): boolean => target.startsWith(FORWARD_PATH)

/** Tells whether a person sees the response: a browser navigates, and the proxy passes the response on. */
export const isShownToPeople = (context: RequestContext): boolean => {
  try {
    return isNavigation(context.headers) && isPassedOn(context)
  } catch {
    return false
  }
}

const targetOf = (context: RequestContext): string => {
  if (isForwarded(context)) return context.target.slice(FORWARD_PATH.length)
  const { headers } = context
  return textOf(headers['x-forwarded-uri']) || textOf(headers['x-original-uri']) || targetOfUrl(headers)
}

const targetOfUrl = ({ 'x-original-url': url }: RequestContext['headers']): string =>
  readAbsoluteForm(textOf(url))?.target ?? ''

const textOf = (header: string | string[] | undefined): string => String(header ?? '')

/** These headers of a request tell whether it asks for a page. */
interface AskingHeaders {
  'sec-fetch-mode'?: string | string[] | undefined
  accept?: string | undefined
}

/**
 * Tells whether a browser shows the response as a page: it says so itself (Fetch Metadata), or, if it does not, it
 * accepts HTML. A script of a page accepts anything, and says `cors` or `same-origin`.
 */
const isNavigation = ({ 'sec-fetch-mode': mode, accept = '' }: AskingHeaders): boolean =>
  mode ? mode === 'navigate' : accept.split(',').some(isHtml)

const isHtml = (range: string): boolean => range.split(';', 1)[0]?.trim().toLowerCase() === 'text/html'

/**
 * Tells whether a request asks for a page, which the login page can lead back to; a form that is sent cannot be sent
 * again.
 */
const isPageRequest = (method: string, headers: AskingHeaders): boolean =>
  (method === 'GET' || method === 'HEAD') && isNavigation(headers)
