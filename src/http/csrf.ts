import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../lib/errors.ts'
import { readOrigin } from '../lib/url.ts'
import type { RequestCookies } from './cookie-reader.ts'
import { isToken } from './cookies.ts'
import type { RouteDeps } from './services.ts'
import { requestOrigins } from './transport/client-address.ts'
import type { IncomingRequest } from './transport/incoming-request.ts'

/** This header carries the token. */
export const CSRF_FIELD = 'X-CSRF-Token'

/** This request changes something. */
interface StateChange {
  headers: IncomingHttpHeaders
  cookies: RequestCookies
  /** The token must equal the cookie of this name. */
  cookieName: string
  /** This is the form field `csrf_token`. */
  formToken: string | undefined
  /** Tells whether a token equals the cookie's, and is valid for the session that the request names. */
  isGoodToken: (token: string) => boolean
  /** Lists the origins that the request may come from. It is called only if the request names one. */
  ownOrigins: () => string[]
  baseUrl: string
}

/**
 * Checks a request that another site may have made the browser send (CONTRACT.md 5.2). It throws `forbidden` if the
 * origin is wrong. It returns the refusal if the token alone is not good, and undefined if all is well.
 */
const refuseForeignRequest = (change: StateChange): AppError | undefined => {
  requireOwnOrigin(change)
  const { headers, formToken, isGoodToken } = change
  const sent = headers['x-csrf-token'] ?? formToken
  if (typeof sent === 'string' && isGoodToken(sent)) return undefined
  return new AppError('forbidden', describeMismatch(sent, change), { field: CSRF_FIELD })
}

/** Checks fetch metadata and `Origin`, if the browser sends them (OWASP CSRF Prevention Cheat Sheet). */
const requireOwnOrigin = ({ headers, ownOrigins, baseUrl }: StateChange): void => {
  const site = headers['sec-fetch-site']
  if (site === 'cross-site' || site === 'same-site') {
    throw new AppError(
      'forbidden',
      `The header Sec-Fetch-Site says "${site}"; expected "same-origin" (the site is ${baseUrl}).`,
      { field: 'Sec-Fetch-Site' },
    )
  }
  const { origin } = headers
  if (origin === undefined) return
  const expected = ownOrigins()
  if (expected.includes(origin)) return
  const shown = expected.map((own) => `"${own}"`).join(' or ')
  const advice = readOrigin(origin) ? ` If users open the site at "${origin}", set SVC_BASE_URL to it.` : ''
  throw new AppError('forbidden', `The header Origin says "${origin}"; expected ${shown}.${advice}`, {
    field: 'Origin',
  })
}

const describeMismatch = (sent: unknown, { cookies, cookieName: name }: StateChange): string => {
  if (cookies.repeated.includes('csrf')) return `The cookie ${name} came more than once. Load the page again.`
  if (!cookies.csrf) return `The cookie ${name} is missing. Load the page again, and allow cookies for this site.`
  if (!isToken(cookies.csrf)) return `The cookie ${name} is none of this service. Load the page again.`
  if (!sent) return 'The CSRF token is missing: send it in the header X-CSRF-Token or the form field csrf_token.'
  if (sent !== cookies.csrf) return `The CSRF token does not match the cookie ${name}. Load the page again.`
  return `The CSRF token is not one of this session; the cookie ${name} has a new one now. Load the page again.`
}

/** Refuses a `POST` that another site may have sent (`csrf.ts`). */
export const createOwnRequestCheck = ({ baseUrl, isBaseUrlSet, isTrustedProxy, cookieTable }: RouteDeps) => {
  /** If the base URL is set, only its origin is ours: a request can name any host. */
  const ownOrigins = (context: IncomingRequest): string[] =>
    isBaseUrlSet ? [baseUrl] : [...new Set([baseUrl, ...requestOrigins(context.headers, isTrustedProxy(context.peer))])]

  return (context: IncomingRequest) =>
    refuseForeignRequest({
      headers: context.headers,
      cookies: context.cookies,
      cookieName: cookieTable.csrf.name,
      formToken: context.form.get('csrf_token'),
      isGoodToken: (token) => context.isCsrfToken(token),
      baseUrl,
      ownOrigins: () => ownOrigins(context),
    })
}
