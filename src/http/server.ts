import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Awaitable } from '../lib/awaitable.ts'
import { onDemand } from '../lib/on-demand.ts'
import { createTurns } from '../lib/turns.ts'
import { createAccountLog } from './account-log.ts'
import { createCookieWriter } from './cookie-writer.ts'
import { createCookieReader } from './cookie-reader.ts'
import { createCookieTable } from './cookies.ts'
import { createCsrfTokens } from './csrf-token.ts'
import { createFindCurrentSession } from './current-session.ts'
import type { RouteDeps, ServerDeps } from './deps.ts'
import { createFinishRefresh } from './finish-refresh.ts'
import { createGuards } from './guards.ts'
import { createNoRoute } from './no-route.ts'
import { createOutdatedForms } from './outdated-form.ts'
import { createOwnRequestCheck } from './own-request.ts'
import { wantsPartOfPage } from './part-of-page.ts'
import { createProbeAnswers, PROBE_DESTINATION } from './probe-answer.ts'
import { createRefreshLog } from './refresh-log.ts'
import { requireOneHost } from './require-one-host.ts'
import { createResponder } from './responder.ts'
import { type HttpResponse, noContent } from './response.ts'
import type { KeylessRoute, Route } from './route.ts'
import { createRouteLookup } from './route-lookup.ts'
import { createRoutes } from './routes.ts'
import { createSecurityHeaders } from './security-headers.ts'
import { readBody } from './transport/body.ts'
import { limitConnections } from './transport/connection-limit.ts'
import { readForm } from './transport/form.ts'
import { readJson } from './transport/json.ts'
import { createHttpServer } from './transport/http-server.ts'
import { IncomingRequest } from './transport/incoming-request.ts'
import { createMalformedRequests } from './transport/malformed-requests.ts'
import { createProxyCheck } from './transport/proxy-check.ts'
import { createRequestIds } from './transport/request-ids.ts'

const MAX_BODY_KIB = 16

/**
 * How many forms begin in one turn of the event loop. When hundreds of people log in at once, the first hashes end
 * before the last form has begun, and wait for no more than these; so do all other requests.
 */
const FORMS_A_TURN = 4

/** The HTTP side of the service, ready to listen: applies the table of routes. */
export const createServer = (given: ServerDeps): Server => {
  const deps = createRouteDeps(given)
  const routes = createRoutes(deps)
  const routeLookup = createRouteLookup(routes)
  const noRoute = createNoRoute(routeLookup)
  const securityHeaders = createSecurityHeaders({ ...given, contentSecurityPolicy: given.frame.contentSecurityPolicy })
  const responder = createResponder({ ...deps, securityHeaders })
  const guards = createGuards(deps)
  const apiRequests = onDemand(async () => (await import('./api-requests.ts')).createApiRequests(deps), 'handle')
  const refuseForeign = createOwnRequestCheck(deps)
  const showOutdatedForm = createOutdatedForms(deps)
  const checkProxy = createProxyCheck(given)
  const answerProbe = createProbeAnswers(deps)
  const newRequestId = createRequestIds()
  const formTurns = createTurns(FORMS_A_TURN)
  const requestDeps = { ...deps, ...createCookieChecks(deps), newRequestId }

  /** A form, or the JSON of a page's script, after the checks that the contract puts before its handler, in this order. */
  const handleForm = async (route: KeylessRoute, context: IncomingRequest, incoming: IncomingMessage) => {
    const body = await readBody(incoming, MAX_BODY_KIB)
    if (route.responseKind === 'html') await formTurns.join()
    requireOneHost(context)
    guards.requireRefreshCookie(route, context)
    const { 'content-type': type, 'content-encoding': encoding } = context.headers
    if (!takesJson(route)) context.form = readForm(body, type, route.responseKind === 'html')
    const refused = route.method === 'POST' && route.csrf === 'token' ? refuseForeign(context) : undefined
    if (refused) return showOutdatedForm(route, context, refused)
    if (takesJson(route) && body.length > 0) context.json = readJson(body, type, encoding)
    return guards.handle(route, context)
  }

  const handle = (route: Route, context: IncomingRequest, incoming: IncomingMessage): Awaitable<HttpResponse> => {
    if (route.guard === 'api_key') {
      requireOneHost(context)
      return apiRequests.handle(route, context, incoming)
    }
    if (route.method === 'POST') return handleForm(route, context, incoming)
    requireOneHost(context)
    return wantsPartOfPage(route, context.headers) ? noContent : guards.handle(route, context)
  }

  const onRequest = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    if (!malformedRequests.noteResponse(outgoing)) return
    const context = new IncomingRequest(incoming, outgoing, requestDeps)
    const probed = answerProbe(context, incoming.url ?? '')
    if (probed) return responder.send(outgoing, context, PROBE_DESTINATION, probed)
    const route = routeLookup.find(context.method, context.path)
    if (route === undefined) {
      const { to, error, headers, facts } = noRoute.refuse(context.method, context.path)
      responder.sendError(outgoing, context, to, error, { headers, facts })
      return
    }
    // Proxies announce the body of the visitor and send none: what follows on the connection would pass for it.
    if (route.method === 'ANY' && announcesBody(incoming)) outgoing.shouldKeepAlive = false
    checkProxy(incoming)
    const send = (response: HttpResponse): void => responder.send(outgoing, context, route, response)
    const sendError = (error: unknown): void => responder.sendError(outgoing, context, route, error)
    try {
      const response = handle(route, context, incoming)
      if (response instanceof Promise) response.then(send).catch(sendError)
      else send(response)
    } catch (error) {
      sendError(error)
    }
  }

  const malformedRequests = createMalformedRequests({ ...given, newRequestId, noRoute, securityHeaders })
  const server = createHttpServer({ onRequest, onClientError: malformedRequests.onClientError })
  malformedRequests.attach(server)
  limitConnections({ ...given, server })
  return server
}

/** What handlers share, made once. */
const createRouteDeps = (given: ServerDeps): RouteDeps => {
  const cookieTable = createCookieTable(given)
  const cookieWriter = createCookieWriter({ ...given, cookieTable })
  const recordRefresh = createRefreshLog(given)
  const finishRefresh = createFinishRefresh(recordRefresh)
  return {
    ...given,
    cookieTable,
    cookieWriter,
    recordRefresh,
    finishRefresh,
    findCurrentSession: createFindCurrentSession({ ...given, finishRefresh }),
    accountLog: createAccountLog(given),
  }
}

/** With a cookie prefix, a refresh token counts only if the CSRF cookie is one of the same session. */
const createCookieChecks = ({ cookieTable, cookiePrefix, rootSecret }: RouteDeps) => {
  const csrfTokens = createCsrfTokens(rootSecret)
  const isConfirmed = cookiePrefix ? csrfTokens.confirmsRefresh : undefined
  return { csrfTokens, readCookies: createCookieReader({ cookieTable, isConfirmed }) }
}

const takesJson = (route: KeylessRoute): boolean => route.responseKind === 'json' && route.takesJson === true

/** Node has ended a request whose headers announce no body, except where they say that it has no bytes. */
const announcesBody = ({ readableEnded, headers }: IncomingMessage): boolean =>
  !readableEnded && headers['content-length'] !== '0'
