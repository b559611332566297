import type { ServerResponse } from 'node:http'
import { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Pages } from '../pages/pages.ts'
import type { CookieTable } from './cookies.ts'
import { CSRF_FIELD } from './csrf.ts'
import { statusOf, toAppError, toErrorJson } from './errors.ts'
import { type HttpResponse, json, page } from './request-context.ts'
import { createRequestLog, SENDER_GONE } from './request-log.ts'
import type { RequestMetrics } from './request-metrics.ts'
import { findReturnTo } from './return-to.ts'
import type { Destination, ResponseKind } from './route.ts'
import type { SecurityHeaders } from './security-headers.ts'
import type { IncomingRequest } from './transport/incoming-request.ts'

interface ResponderDeps {
  baseUrl: string
  log: Log
  pages: Pages
  securityHeaders: SecurityHeaders
  isStopping: () => boolean
  cookieTable: CookieTable
  requestMetrics?: RequestMetrics | undefined
}

/** Name, value, name, value: what Node takes with the least ado. */
type Headers = string[]

/**
 * Writes answers and errors, each with its headers and its line in the log, and has them counted.
 */
export const createResponder = (deps: ResponderDeps) => {
  const { baseUrl, log, pages, securityHeaders, isStopping, requestMetrics } = deps
  const challenge = challengeOf(deps.cookieTable)
  const note = createRequestLog({ log, requestMetrics })

  const securityHeadersOf = (context: IncomingRequest, responseKind: ResponseKind): readonly string[] => {
    if (responseKind === 'json') return securityHeaders.data
    return responseKind === 'html' ? securityHeaders.page(context.hosts) : securityHeaders.asset
  }

  const headersOf = (
    context: IncomingRequest,
    responseKind: ResponseKind,
    cacheSeconds = 0,
    more: Headers = [],
  ): Headers => {
    const headers = ['x-request-id', context.requestId, ...securityHeadersOf(context, responseKind), ...more]
    pushCaching(headers, cacheSeconds, context.cookiesToSet)
    if (isStopping()) headers.push('connection', 'close')
    return headers
  }

  const write = (
    response: ServerResponse,
    context: IncomingRequest,
    answer: HttpResponse,
    to: Destination,
    more?: Headers,
  ): number => {
    const headers = headersOf(context, to.responseKind, 'redirect' in answer ? 0 : answer.cacheSeconds, more)
    if ('redirect' in answer) {
      headers.push('location', answer.redirect, 'content-length', '0')
      response.writeHead(303, headers).end()
      return 303
    }
    const { status, body, contentType, retryAfterSeconds } = answer
    if (contentType) headers.push('content-type', contentType)
    if (retryAfterSeconds) headers.push('retry-after', String(retryAfterSeconds))
    if (status === 401) headers.push('www-authenticate', challenge)
    // What is ASCII needs no encoder, and its length is known.
    const isAscii = ASCII.test(body)
    headers.push('content-length', String(isAscii ? body.length : Buffer.byteLength(body)))
    response.writeHead(status, headers).end(body, isAscii ? 'latin1' : 'utf8')
    return status
  }

  const toAnswer = (error: AppError, context: IncomingRequest, responseKind: ResponseKind): HttpResponse => {
    const { message, retryAfterSeconds } = error
    const status = statusOf(error.code)
    if (givesCsrfToken(error, context, responseKind)) context.giveCsrfToken()
    if (responseKind === 'json') return { ...json(status, toErrorJson(error, context.requestId)), retryAfterSeconds }
    // The page is older than a login in another tab, say: the login page sends on who is signed in.
    const returnTo = error.field === CSRF_FIELD ? findReturnTo(context.form, baseUrl) : undefined
    const view = { status, message, requestId: context.requestId, retryAfterSeconds, returnTo }
    return page(status, pages.error(view), retryAfterSeconds)
  }

  return {
    send(response: ServerResponse, context: IncomingRequest, to: Destination, answer: HttpResponse): void {
      note(to, context, response.destroyed ? SENDER_GONE : write(response, context, answer, to))
    },
    /** Says what went wrong in the kind of response that the route has; the cause and further facts go to the log only. */
    sendError(
      response: ServerResponse,
      context: IncomingRequest,
      to: Destination,
      thrown: unknown,
      { headers, facts }: { headers?: Headers; facts?: object | undefined } = {},
    ): void {
      const error = toAppError(thrown)
      const destination: Destination = { ...to, responseKind: to.responseKind === 'json' ? 'json' : 'html' }
      const status = response.destroyed
        ? SENDER_GONE
        : write(response, context, toAnswer(error, context, destination.responseKind), destination, headers)
      note(destination, context, status, error, facts)
    },
  }
}

/**
 * Every page under /auth gives a browser its CSRF token, errors included, and so does what refuses a token: the next try
 * has a good one. A form that another site sends comes without cookies, and tells nothing of those that there are.
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

const ASCII = /^\p{ASCII}*$/u

/** RFC 9110 section 11.6.1 wants a challenge with every 401; there is no registered scheme for cookies. */
const challengeOf = ({ access }: CookieTable): string =>
  `Cookie realm="svc", form-action="/auth/login", cookie-name=${access.name}`

/**
 * The one place that writes `Set-Cookie`: never on an answer that may be stored, since a cache in front would hand the
 * cookie to every other visitor (RFC 9111 section 7.3).
 */
const pushCaching = (headers: Headers, cacheSeconds: number, cookies: readonly string[]): void => {
  headers.push('cache-control', cacheSeconds > 0 ? cacheControl(cacheSeconds) : 'no-store')
  if (cacheSeconds === 0) for (const cookie of cookies) headers.push('set-cookie', cookie)
}

const cacheControl = (seconds: number): string =>
  seconds > 86_400 ? `public, max-age=${seconds}, immutable` : `public, max-age=${seconds}`
