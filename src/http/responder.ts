import type { ServerResponse } from 'node:http'
import type { AppError } from '../lib/errors.ts'
import type { Languages } from '../languages/languages.ts'
import type { Log } from '../lib/log.ts'
import type { Frame } from './frame.ts'
import { DeadLinkError } from '../links/link.ts'
import type { CookieTable } from './cookies.ts'
import { CSRF_FIELD } from './csrf.ts'
import { needsProof, statusOf, toAppError, toErrorJson } from './errors.ts'
import { isKnownToClient, prefersJson } from './negotiation.ts'
import { createWithPicker, languageHeaders } from './page-language.ts'
import { ANY_ORIGIN, oauthNameOf, toOAuthResponse } from './oauth-errors.ts'
import { createRequestLog, SENDER_GONE } from './request-log.ts'
import type { RequestMetrics } from './request-metrics.ts'
import {
  type ContentResponse,
  HTML_TYPE,
  type HttpResponse,
  json,
  page,
  redirect,
  sendParts,
  type StreamedResponse,
} from './response.ts'
import { findReturnTo, leadsToRequest } from './return-to.ts'
import type { Destination, ResponseKind } from './route.ts'
import type { SecurityHeaders } from './security-headers.ts'
import { proofPathFor, pageOf } from './step-up.ts'
import type { IncomingRequest } from './transport/incoming-request.ts'

interface ResponderDeps {
  baseUrl: string
  homeUrl: string
  hasClients: boolean
  log: Log
  languages: Languages
  frame: Frame
  securityHeaders: SecurityHeaders
  isStopping: () => boolean
  cookieTable: CookieTable
  requestMetrics?: RequestMetrics | undefined
}

/** The items are name, value, name, value: Node writes this form and builds no object first. */
type Headers = string[]

interface ErrorDetails {
  headers?: Headers
  /** These facts go to the log. */
  facts?: object | undefined
}

/** Writes responses and errors, logs each request and counts it. */
export interface Responder {
  send: (outgoing: ServerResponse, context: IncomingRequest, to: Destination, response: HttpResponse) => void
  /**
   * Sends an error in the response kind of the route; its cause goes to the log only. If the user must sign in again
   * first, an HTML route redirects the browser to re-authentication instead. A link that is not good has its own page.
   */
  sendError: (
    outgoing: ServerResponse,
    context: IncomingRequest,
    to: Destination,
    thrown: unknown,
    details?: ErrorDetails,
  ) => void
}

export const createResponder = (deps: ResponderDeps): Responder => {
  const { baseUrl, log, frame, securityHeaders, isStopping, requestMetrics } = deps
  const { host: baseHost } = new URL(baseUrl)
  const challenge = challengeOf(deps.cookieTable)
  const withPicker = createWithPicker(deps)
  const logRequest = createRequestLog({ log, requestMetrics })

  const securityHeadersOf = (context: IncomingRequest, { responseKind, holdsToken }: Destination, isPage: boolean) => {
    const isData = responseKind === 'json' || responseKind === 'oauth'
    if (isData || (responseKind === 'check' && !isPage)) return securityHeaders.data
    if (responseKind === 'asset') return securityHeaders.asset
    return securityHeaders.page(context.isSentTo(baseHost) ? [] : context.hosts, holdsToken || context.isAddressPrivate)
  }

  /** Tells whether the response is on the way of a request that a client has sent, perhaps from a window of its own. */
  const servesClient = ({ target, path, form }: IncomingRequest, leadsTo: string | undefined): boolean =>
    deps.hasClients &&
    (path.startsWith('/auth/oauth2/') ||
      leadsToRequest(target) ||
      form.all('return_to').some(leadsToRequest) ||
      (leadsTo !== undefined && leadsToRequest(leadsTo)))

  const headersOf = (
    context: IncomingRequest,
    to: Destination,
    { headers: own = [], contentType, cacheSeconds }: Partial<ContentResponse>,
    more: Headers = [],
    leadsTo?: string,
  ): Headers => {
    const isPage = contentType === HTML_TYPE
    const security = securityHeadersOf(context, to, isPage)
    const headers = ['x-request-id', context.requestId, ...security, ...own, ...more]
    if ((to.responseKind === 'html' || (to.responseKind === 'check' && isPage)) && !servesClient(context, leadsTo))
      headers.push(...securityHeaders.ownWindow)
    if (isPage) headers.push(...languageHeaders())
    if (to.anyOrigin) headers.push(...ANY_ORIGIN)
    pushCaching(headers, cacheSeconds, SETS_NO_COOKIE.has(to.responseKind) ? [] : context.cookiesToSet)
    if (isStopping()) headers.push('connection', 'close')
    return headers
  }

  const writeParts = (
    outgoing: ServerResponse,
    { requestId }: IncomingRequest,
    response: StreamedResponse,
    headers: Headers,
  ): number => {
    const { status, contentType } = response
    outgoing.writeHead(status, [...headers, 'content-type', contentType])
    sendParts(outgoing, response).catch((error: unknown) => {
      log.error({ request_id: requestId, err: error }, 'a response was broken off')
      outgoing.destroy()
    })
    return status
  }

  const write = (
    outgoing: ServerResponse,
    context: IncomingRequest,
    response: HttpResponse,
    to: Destination,
    more?: Headers,
  ): number => {
    const isRedirect = 'redirect' in response
    const headers = headersOf(context, to, isRedirect ? {} : response, more, isRedirect ? response.redirect : undefined)
    if (isRedirect) {
      headers.push('location', response.redirect, 'content-length', '0')
      outgoing.writeHead(303, headers).end()
      return 303
    }
    if ('parts' in response) return writeParts(outgoing, context, response, headers)
    const { status, gzipped, contentType, retryAfterSeconds, etag } = response
    if (etag !== undefined) headers.push('etag', etag)
    const isKnown = etag !== undefined && isKnownToClient(context.headers['if-none-match'], etag)
    if (isKnown || status === 204) {
      outgoing.writeHead(isKnown ? 304 : 204, headers).end()
      return isKnown ? 304 : 204
    }
    if (contentType) headers.push('content-type', contentType)
    if (retryAfterSeconds) headers.push('retry-after', String(retryAfterSeconds))
    if (status === 401 && to.responseKind !== 'oauth')
      headers.push('www-authenticate', to.guard === 'api_key' ? KEY_CHALLENGE : challenge)
    if (gzipped) headers.push('content-encoding', 'gzip')
    // To count the bytes of a page takes as long as to encode it.
    const isPage = contentType === HTML_TYPE
    const body = isPage ? Buffer.from(withPicker(context, to, response)) : (gzipped ?? response.body)
    const bytes = Buffer.byteLength(body)
    headers.push('content-length', String(bytes))
    // ASCII has a byte for each character, and needs no encoder.
    outgoing.writeHead(status, headers).end(body, bytes === body.length ? 'latin1' : 'utf8')
    return status
  }

  const toResponse = (error: AppError, context: IncomingRequest, responseKind: ResponseKind): HttpResponse => {
    if (responseKind === 'html' && needsProof(error)) return redirect(proofPathFor(error, pageOf(context, deps)))
    const { message, reason, retryAfterSeconds } = error
    if (responseKind === 'oauth') {
      requestMetrics?.countClientError(oauthNameOf(error))
      return toOAuthResponse(error, context.headers.authorization)
    }
    const status = statusOf(error.code)
    if (givesCsrfToken(error, context, responseKind)) context.ensureCsrfCookie()
    if (error instanceof DeadLinkError) return page(status, frame.deadLink(error))
    if (responseKind !== 'html') return { ...json(status, toErrorJson(error, context.requestId)), retryAfterSeconds }
    // The form may be older than a login in another tab. The error page links to the login page, which redirects a
    // signed-in user.
    const returnTo = error.field === CSRF_FIELD ? findReturnTo(context, deps) : undefined
    const view = { status, message, reason, requestId: context.requestId, retryAfterSeconds, returnTo }
    return page(status, frame.error(view), retryAfterSeconds)
  }

  return {
    send(outgoing, context, to, response) {
      const refused = 'refused' in response ? response.refused : undefined
      logRequest(to, context, outgoing.destroyed ? SENDER_GONE : write(outgoing, context, response, to), refused)
    },

    sendError(outgoing, context, to, thrown, { headers, facts } = {}) {
      const error = toAppError(thrown)
      const destination: Destination = { ...to, responseKind: to.responseKind === 'asset' ? 'html' : to.responseKind }
      const response = outgoing.destroyed ? undefined : toResponse(error, context, errorKindOf(context, destination))
      const status = response ? write(outgoing, context, response, destination, headers) : SENDER_GONE
      const isRedirected = response !== undefined && 'redirect' in response
      logRequest(destination, context, status, isRedirected ? undefined : error, facts)
    },
  }
}

/**
 * A proxy shows this error to people only if they navigate and it passes the whole response on; a script is told in
 * JSON.
 */
const errorKindOf = (
  context: IncomingRequest,
  { responseKind, answersScripts, isShownToPeople }: Destination,
): ResponseKind => {
  if (answersScripts && prefersJson(context.headers)) return 'json'
  return isShownToPeople?.(context) ? 'html' : responseKind
}

/**
 * Every page under /auth sets the CSRF cookie, error pages included. A response that refuses a token does too, so that
 * the next try has a good one. A form that another site sends arrives without cookies: a new cookie would replace a
 * good one.
 */
const givesCsrfToken = (
  { field }: AppError,
  { headers, method, path }: IncomingRequest,
  responseKind: ResponseKind,
) => {
  const isOfOtherSite = field === 'Origin' || (method === 'POST' && headers['sec-fetch-site'] === 'cross-site')
  if (isOfOtherSite) return false
  return field === CSRF_FIELD || (responseKind === 'html' && /^\/auth(?:\/|$)/.test(path))
}

/**
 * A proxy asks about a request of the application, and a client of the OAuth server is no browser of the user: no answer
 * to either changes the cookies of the browser.
 */
const SETS_NO_COOKIE: ReadonlySet<ResponseKind> = new Set(['check', 'oauth'])

/** RFC 9110 section 11.6.1 wants a challenge with every 401; there is no registered scheme for cookies. */
const challengeOf = ({ access }: CookieTable): string =>
  `Cookie realm="svc", form-action="/auth/login", cookie-name=${access.name}`

/** RFC 6750 section 3 describes this challenge. */
const KEY_CHALLENGE = 'Bearer realm="svc"'

/**
 * This is the one place that writes `Set-Cookie`. It never does so on a response that may be stored, since a cache in
 * front would hand the cookie to every other visitor (RFC 9111 section 7.3).
 */
const pushCaching = (headers: Headers, cacheSeconds = 0, cookies: readonly string[] = []): void => {
  headers.push('cache-control', cacheSeconds > 0 ? cacheControl(cacheSeconds) : 'no-store')
  if (cacheSeconds === 0) for (const cookie of cookies) headers.push('set-cookie', cookie)
}

const cacheControl = (seconds: number): string =>
  seconds > 86_400 ? `public, max-age=${seconds}, immutable` : `public, max-age=${seconds}`
