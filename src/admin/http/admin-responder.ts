import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { statusOf, toErrorJson } from '../../http/errors.ts'
import { prefersJson } from '../../http/negotiation.ts'
import { type ContentResponse, HTML_TYPE, type HttpResponse, json, page } from '../../http/response.ts'
import type { SecurityHeaders } from '../../http/security-headers.ts'
import type { AppError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { AdminRequest } from './admin-request.ts'

/** Makes the page of an error. Without an operator it says how to come in. */
export type ErrorPage = (request: AdminRequest, error: AppError, status: number) => string

interface ResponderDeps {
  errorPage: ErrorPage
  log: Log
  hstsMs: number | undefined
  isStopping: () => boolean
}

/** This is known of the request that is answered. */
export interface Answered {
  requestId: string
  method: string
  request?: AdminRequest | undefined
  /** The path as in the table of routes. */
  path?: string | undefined
  /** The path answers these methods. */
  allow?: string | undefined
}

/** Writes responses and errors, and logs each request. */
export const createAdminResponder = ({ errorPage, log, hstsMs, isStopping }: ResponderDeps) => {
  const hsts = hstsMs === undefined ? [] : ['strict-transport-security', `max-age=${Math.ceil(hstsMs / 1000)}`]
  const common = [...SECURITY, ...hsts]

  const logRequest = ({ request, requestId, method, path }: Answered, status: number, error?: AppError): void => {
    const facts = {
      request_id: requestId,
      of: 'administration',
      method,
      route: path,
      status,
      duration_ms: request && Math.round((performance.now() - request.startedMs) * 100) / 100,
      client: request?.device.address,
      actor: request?.found?.actor,
      ...(error && { code: error.code, problem: error.message }),
      ...(status >= 500 && error && { err: error.cause ?? error }),
    }
    log[status >= 500 ? 'error' : 'info'](facts, 'request')
  }

  const headersOf = ({ request, requestId }: Answered, own: readonly string[] = [], cacheSeconds = 0): string[] => {
    const caching = cacheSeconds > 0 ? `private, max-age=${cacheSeconds}, immutable` : 'no-store'
    const cookies = cacheSeconds > 0 ? [] : (request?.cookiesToSet ?? [])
    const closing = isStopping() ? ['connection', 'close'] : []
    const set = cookies.flatMap((cookie) => ['set-cookie', cookie])
    return ['x-request-id', requestId, ...common, 'cache-control', caching, ...own, ...set, ...closing]
  }

  const write = (outgoing: ServerResponse, answered: Answered, response: HttpResponse): number => {
    if ('redirect' in response) {
      const headers = [...headersOf(answered), 'location', response.redirect, 'content-length', '0']
      outgoing.writeHead(303, headers).end()
      return 303
    }
    const { status, contentType, headers: own } = response
    if ('parts' in response) {
      outgoing.writeHead(status, [...headersOf(answered, own), 'content-type', contentType])
      pipeline(response.parts, outgoing).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE')
          log.error({ request_id: answered.requestId, err: error }, 'a response was broken off')
      })
      return status
    }
    writeContent(outgoing, response, headersOf(answered, own, response.cacheSeconds))
    return status
  }

  const toErrorResponse = ({ request, requestId }: Answered, error: AppError): HttpResponse => {
    const status = statusOf(error.code)
    if (!request || prefersJson(request.headers))
      return { ...json(status, toErrorJson(error, requestId)), headers: reasonOf(error) }
    return page(status, errorPage(request, error, status), error.retryAfterSeconds)
  }

  return {
    securityHeaders: { data: common, asset: common, ownWindow: [], page: () => common } satisfies SecurityHeaders,

    send(outgoing: ServerResponse, answered: Answered, response: HttpResponse): void {
      const refused = 'refused' in response ? response.refused : undefined
      if (!outgoing.destroyed) logRequest(answered, write(outgoing, answered, response), refused)
    },

    sendError(outgoing: ServerResponse, answered: Answered, error: AppError): void {
      if (outgoing.destroyed) return
      const response = toErrorResponse(answered, error)
      const { allow } = answered
      const headers = [
        ...('headers' in response ? (response.headers ?? []) : []),
        ...(error.code === 'method_not_allowed' && allow !== undefined ? ['allow', allow] : []),
      ]
      logRequest(answered, write(outgoing, answered, { ...response, headers }), error)
    },
  }
}

/** The script of passkeys shows a text for it. */
const reasonOf = ({ reason }: AppError): string[] =>
  reason === undefined || !/^[a-z_]+$/.test(reason) ? [] : ['x-svc-reason', reason]

const writeContent = (outgoing: ServerResponse, response: ContentResponse, headers: string[]): void => {
  const { status, body, gzipped, contentType, retryAfterSeconds } = response
  if (retryAfterSeconds) headers.push('retry-after', String(retryAfterSeconds))
  if (status === 401) headers.push('www-authenticate', 'Cookie realm="svc administration"')
  const content = gzipped ?? Buffer.from(body)
  if (gzipped) headers.push('content-encoding', 'gzip')
  headers.push('content-type', contentType || HTML_TYPE, 'content-length', String(content.length))
  outgoing.writeHead(status, headers).end(content)
}

/**
 * All of the origin is the administration: its own files and addresses alone are loaded, asked and sent forms to, and no
 * other site gets hold of its windows.
 */
const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
  "frame-ancestors 'none'; base-uri 'none'"

const SECURITY: readonly string[] = Object.entries({
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'origin-agent-cluster': '?1',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  // With `no-referrer`, browsers send `Origin: null` with our own forms.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}).flat()
