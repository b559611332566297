import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { readBody } from '../../http/body/body.ts'
import { readForm } from '../../http/body/form.ts'
import { readJson } from '../../http/body/json.ts'
import { statusOf, toAppError } from '../../http/errors.ts'
import { createNoRoute } from '../../http/no-route.ts'
import { type ContentResponse, type HttpResponse, json } from '../../http/response.ts'
import { limitConnections } from '../../http/transport/connection-limit.ts'
import { createHttpServer } from '../../http/transport/http-server.ts'
import { createMalformedRequests } from '../../http/transport/malformed-requests.ts'
import { createRequestIds } from '../../http/transport/request-ids.ts'
import { AppError, type ErrorCode } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { roleFor } from '../policy.ts'
import { AdminRequest } from './admin-request.ts'
import { type Answered, createAdminResponder, type ErrorPage } from './admin-responder.ts'
import type { AdminRoute, AdminForm } from './context.ts'
import type { Door } from './door.ts'
import { isSentTo, requireOwnPage } from './own-page.ts'
import { createRowLookup, type Found } from './row-lookup.ts'

const MAX_BODY_KIB = 16

export interface AdminServerDeps {
  door: Door
  routes: readonly AdminRoute[]
  errorPage: ErrorPage
  log: Log
  hstsMs: number | undefined
  maxConnections: number
  isTrustedProxy: (address: string) => boolean
  isStopping: () => boolean
}

/**
 * Makes the server of the pages, ready to listen. Every request goes through the same checks, in this order: the host,
 * what the browser says of its origin, the row, the session, the role, the CSRF token, and for a form a passkey.
 */
export const createAdminServer = (deps: AdminServerDeps): Server => {
  const { door } = deps
  const findRow = createRowLookup(deps.routes)
  const newRequestId = createRequestIds()
  const responder = createAdminResponder(deps)

  /** Finds who it is, and asks the policy. */
  const admit = async (route: AdminRoute | undefined, request: AdminRequest): Promise<void> => {
    const secret = request.sessionSecret
    request.found = secret === undefined ? undefined : await door.findOperator(secret)
    if (!route || route.does === 'none') return
    if (!request.found) throw new AppError('unauthorized', 'You are not signed in.', { reason: 'signed_out' })
    if (request.may(route.does)) return
    const message = `This needs the role "${roleFor(route.does)}". Yours is "${request.found.role}".`
    throw new AppError('forbidden', message, { reason: 'role' })
  }

  const handle = async ({ route, allow }: Found, request: AdminRequest, incoming: IncomingMessage) => {
    await admit(route, request)
    if (!route) throw refuse(request.method, allow)
    if (route.method === 'GET') return (await route.module()).handle(request)
    const isRead = request.method !== 'POST'
    if (route.method === 'FORM' && isRead) return (await route.module()).show(request)
    await readInput(request, incoming, route.method === 'POST' && route.takesJson === true)
    if (route.method === 'FORM') return actOrShow(await route.module(), request)
    requireCsrfToken(request)
    return (await route.module()).handle(request)
  }

  const onRequest = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    if (!malformed.noteResponse(outgoing)) return
    const answered: Answered = { requestId: newRequestId(), method: incoming.method ?? '' }
    const send = (response: HttpResponse): void => responder.send(outgoing, answered, response)
    const fail = (error: unknown): void => responder.sendError(outgoing, answered, toAppError(error))
    if (door.kind === 'origin' && incoming.url === HEALTH_PATH) return send(HEALTHY)
    if (!isSentTo(incoming, door.host)) return send(misdirected(door.host))
    try {
      const request = new AdminRequest(incoming, { ...deps, requestId: answered.requestId })
      const found = findRow(request.method, request.path)
      Object.assign(answered, { request, path: found.route?.path, allow: found.allow })
      request.parameters = found.parameters
      requireOwnPage(incoming, door.origin)
      handle(found, request, incoming).then(send).catch(fail)
    } catch (error) {
      fail(error)
    }
  }

  /** A form is shown again where its reader can put right what is wrong. */
  const actOrShow = async (form: AdminForm, request: AdminRequest): Promise<HttpResponse> => {
    try {
      requireCsrfToken(request)
      if (request.operator.mustProve) await door.prove(request.operator, request)
      return await form.act(request)
    } catch (error) {
      if (!(error instanceof AppError) || !canBePutRight(error)) throw error
      const { message, field, code } = error
      return form.show(request, { status: statusOf(code), message, field })
    }
  }

  const malformed = createMalformedRequests({
    ...deps,
    newRequestId,
    noRoute: createNoRoute({ at: () => [] }),
    securityHeaders: responder.securityHeaders,
  })
  const server = createHttpServer({ onRequest, onClientError: malformed.onClientError })
  malformed.attach(server)
  limitConnections({ ...deps, server })
  return server
}

const HEALTH_PATH = '/health'
const HEALTHY = json(200, '{"status":"ok"}')

/** RFC 9110 section 15.5.20. */
const misdirected = (host: string): ContentResponse => ({
  status: 421,
  contentType: 'text/plain; charset=utf-8',
  body: `Only requests for ${host} are answered here.\n`,
})

const refuse = (method: string, allow: string | undefined): AppError =>
  allow === undefined
    ? new AppError('not_found', 'There is nothing here.')
    : new AppError('method_not_allowed', `The method ${method} is not allowed here; allowed: ${allow}.`)

const readInput = async (request: AdminRequest, incoming: IncomingMessage, isJson: boolean): Promise<void> => {
  const body = await readBody(incoming, MAX_BODY_KIB)
  const { 'content-type': type, 'content-encoding': encoding } = incoming.headers
  if (!isJson) request.form = readForm(body, type, true)
  else if (body.length > 0) request.json = readJson(body, type, encoding)
}

const requireCsrfToken = (request: AdminRequest): void => {
  if (request.isCsrfToken(request.headers['x-csrf-token'] ?? request.form.get('csrf_token'))) return
  const message = 'This page was too old, and nothing was done. Look at it once more, and send it again.'
  throw new AppError('forbidden', message, { field: 'csrf_token', reason: 'outdated' })
}

const CORRIGIBLE: ReadonlySet<ErrorCode> = new Set(['unprocessable', 'conflict', 'rate_limited'])

const canBePutRight = ({ code, field }: AppError): boolean =>
  CORRIGIBLE.has(code) || field === 'csrf_token' || field === 'passkey_response'
