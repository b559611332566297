import type { FastifyReply } from 'fastify'
import { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Pages } from '../pages/pages.ts'
import { statusOf, toAppError, toErrorJson } from './errors.ts'
import type { RequestVisit } from './request-visit.ts'
import type { Route } from './route.ts'
import { COMMON_HEADERS, createPageHeaders } from './security-headers.ts'
import { type Answer, json, page } from './visit.ts'

interface Parts {
  log: Log
  pages: Pages
  isStopping: () => boolean
}

/** What is known of where a request went. */
export interface Destination {
  /** As the table says it; undefined for what is not in the table. */
  path: string | undefined
  method: string
  speaks: Route['speaks']
  frequent?: boolean | undefined
}

/** Writes answers and errors, each with its headers and its line in the log. */
export const createAnswers = ({ log, pages, isStopping }: Parts) => {
  const pageHeaders = createPageHeaders(pages.contentSecurityPolicy)
  const isDebugging = log.isLevelEnabled('debug')

  const write = (reply: FastifyReply, visit: RequestVisit, answer: Answer, speaks: Route['speaks']): number => {
    if (isStopping()) reply.header('connection', 'close')
    const cookies = visit.cookiesToSet
    if (cookies.length > 0) reply.header('set-cookie', cookies)
    reply.header('x-request-id', visit.requestId)
    reply.headers(speaks === 'html' ? pageHeaders : COMMON_HEADERS)
    if ('redirect' in answer) {
      reply.code(303).header('location', answer.redirect).send()
      return 303
    }
    if (answer.contentType) reply.header('content-type', answer.contentType)
    if (answer.cacheSeconds) reply.header('cache-control', cacheControl(answer.cacheSeconds))
    if (answer.status === 401) reply.header('www-authenticate', CHALLENGE)
    if (answer.retryAfterSeconds) reply.header('retry-after', answer.retryAfterSeconds)
    reply.code(answer.status).send(answer.body || undefined)
    return answer.status
  }

  const note = (to: Destination, visit: RequestVisit, status: number, error?: AppError): void => {
    const isRoutine = to.frequent === true && status < 400
    if (isRoutine && !isDebugging) return
    const facts = {
      request_id: visit.requestId,
      method: to.method,
      route: to.path,
      status,
      duration_ms: Math.round((performance.now() - visit.startedMs) * 100) / 100,
      client: visit.device.address,
      user_id: visit.userId,
      ...(error && { code: error.code, problem: error.message }),
      ...(error && status >= 500 && { err: error.cause ?? error }),
    }
    log[status >= 500 ? 'error' : isRoutine ? 'debug' : 'info'](facts, 'request')
  }

  const toAnswer = (error: AppError, visit: RequestVisit, speaks: Route['speaks']): Answer => {
    const { message, retryAfterSeconds } = error
    const status = statusOf(error.code)
    // Every page gives a browser its CSRF token, this one too.
    if (speaks === 'html') visit.giveCsrfToken()
    if (speaks === 'json') return { ...json(status, toErrorJson(error, visit.requestId)), retryAfterSeconds }
    return page(
      status,
      pages.error({ status, message, requestId: visit.requestId, retryAfterSeconds }),
      retryAfterSeconds,
    )
  }

  return {
    send(reply: FastifyReply, visit: RequestVisit, to: Destination, answer: Answer): void {
      note(to, visit, write(reply, visit, answer, to.speaks))
    },
    /** Says what went wrong as the route speaks; the cause goes to the log only. */
    sendError(reply: FastifyReply, visit: RequestVisit, to: Destination, thrown: unknown): void {
      const error = toAppError(thrown)
      const speaks = to.speaks === 'json' ? 'json' : 'html'
      note(to, visit, write(reply, visit, toAnswer(error, visit, speaks), speaks), error)
    },
  }
}

/** RFC 9110 section 11.6.1 wants a challenge with every 401; there is no registered scheme for cookies. */
const CHALLENGE = 'Cookie realm="svc", form-action="/auth/login", cookie-name=svc_access'

const cacheControl = (seconds: number): string =>
  seconds > 86_400 ? `public, max-age=${seconds}, immutable` : `public, max-age=${seconds}`
