import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Awaitable } from '../lib/awaitable.ts'
import { once } from '../lib/on-demand.ts'
import { createTurns } from '../lib/turns.ts'
import { createAccountLog } from '../audit/account-log.ts'
import { createCookieWriter } from './cookie-writer.ts'
import { createCookieReader } from './cookie-reader.ts'
import { createCookieTable } from './cookies.ts'
import { createCsrfTokens } from './csrf-token.ts'
import { createFindCurrentSession } from './current-session.ts'
import type { RouteDeps, ServerDeps } from './services.ts'
import { createFinishRefresh } from './finish-refresh.ts'
import { createGuards } from './guards.ts'
import { createNoRoute } from './no-route.ts'
import { createOwnRequestCheck } from './csrf.ts'
import { createPageLanguage } from './page-language.ts'
import { createProbeAnswers, PROBE_DESTINATION } from './probe-answer.ts'
import { createResponder } from './responder.ts'
import { type HttpResponse, noContent } from './response.ts'
import type { KeylessRoute, KeyRoute, ResponseKind, Route } from './route.ts'
import { createRouteLookup } from './route-lookup.ts'
import { createSecurityHeaders } from './security-headers.ts'
import { readBody } from './body/body.ts'
import { limitConnections } from './transport/connection-limit.ts'
import { readForm } from './body/form.ts'
import { readJson } from './body/json.ts'
import { createHttpServer } from './transport/http-server.ts'
import { IncomingRequest } from './transport/incoming-request.ts'
import { createMalformedRequests } from './transport/malformed-requests.ts'
import { createProxyCheck } from './transport/proxy-check.ts'
import { createRequestIds } from './transport/request-ids.ts'
import { inLanguage } from '../languages/language.ts'
import { AppError } from '../lib/errors.ts'

const MAX_BODY_KIB = 16

/**
 * This many forms begin in one turn of the event loop. When hundreds of people log in at once, the first hashes end
 * before the last form has begun, and wait for no more than these. All other requests wait no longer either.
 */
const FORMS_A_TURN = 4

/** The code that knows the routes gives this to the kernel. */
export interface Application {
  createRoutes: (deps: RouteDeps) => Route[]
  /** This is loaded with the first request that brings an API key. */
  loadKeyRequests: (deps: RouteDeps) => Promise<KeyRequests>
}

/** Handles a request for a row with the guard `api_key`, after the checks of its own. */
interface KeyRequests {
  handle: (route: KeyRoute, context: IncomingRequest, incoming: IncomingMessage) => Awaitable<HttpResponse>
}

interface HttpSide {
  server: Server
  /**
   * Loads what the start has left out, once nothing is asked for: the first request for a page does not wait for it, and
   * a service whose files are replaced for an update runs on with its own.
   */
  preload: () => Promise<void>
}

/** Makes the HTTP side of the service, ready to listen: it applies the table of routes. */
export const createServer = (given: ServerDeps, application: Application): HttpSide => {
  const deps = createRouteDeps(given)
  const routes = application.createRoutes(deps)
  const routeLookup = createRouteLookup(routes)
  const noRoute = createNoRoute(routeLookup)
  const securityHeaders = createSecurityHeaders({ ...given, contentSecurityPolicy: given.frame.contentSecurityPolicy })
  const responder = createResponder({ ...deps, securityHeaders })
  const loadForms = once(async () => (await import('./form-runner.ts')).createFormRunner(deps))
  const loadKeyRequests = once(() => application.loadKeyRequests(deps))
  const guards = createGuards({ ...deps, loadForms })
  const refuseForeign = createOwnRequestCheck(deps)
  const checkProxy = createProxyCheck(given)
  const answerProbe = createProbeAnswers(deps)
  const newRequestId = createRequestIds()
  const pageLanguage = createPageLanguage(given.languages)
  const formTurns = createTurns(FORMS_A_TURN)
  const requestDeps = { ...deps, ...createCookieChecks(deps), newRequestId }

  /**
   * Handles a form, or the JSON of a page's script. The checks that the contract puts before its handler run first, in
   * this order.
   */
  const handleForm = async (route: KeylessRoute, context: IncomingRequest, incoming: IncomingMessage) => {
    const body = await readBody(incoming, MAX_BODY_KIB)
    if (route.responseKind === 'html') await formTurns.join()
    requireOneHost(context)
    guards.requireRefreshCookie(route, context)
    const { 'content-type': type, 'content-encoding': encoding } = context.headers
    if (!takesJson(route)) context.form = readForm(body, type, TAKES_FORM.has(route.responseKind))
    if (route.responseKind === 'html') pageLanguage.followForm(context)
    const refused = route.method === 'POST' && route.csrf === 'token' ? refuseForeign(context) : undefined
    if (refused) return (await loadForms()).refuse(route, context, refused)
    if (takesJson(route) && body.length > 0) context.json = readJson(body, type, encoding)
    return guards.handle(route, context)
  }

  const handle = (route: Route, context: IncomingRequest, incoming: IncomingMessage): Awaitable<HttpResponse> => {
    if (route.responseKind === 'oauth') {
      context.ignoreCookies()
      requireOneAuthorization(context)
    }
    if (route.guard === 'api_key') {
      requireOneHost(context)
      return loadKeyRequests().then(({ handle }) => handle(route, context, incoming))
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
      inLanguage(pageLanguage.find(context), () =>
        responder.sendError(outgoing, context, to, error, { headers, facts }),
      )
      return
    }
    // Proxies announce the body of the visitor and send none: the bytes that follow on the connection would pass for
    // it.
    if (route.method === 'ANY' && announcesBody(incoming)) outgoing.shouldKeepAlive = false
    checkProxy(incoming)
    if (needsLanguage(route)) inLanguage(pageLanguage.find(context), () => answer(route, context, incoming, outgoing))
    else answer(route, context, incoming, outgoing)
  }

  const answer = (
    route: Route,
    context: IncomingRequest,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): void => {
    const send = (response: HttpResponse): void => responder.send(outgoing, context, route, response)
    const sendError = (error: unknown): void =>
      needsLanguage(route)
        ? responder.sendError(outgoing, context, route, error)
        : inLanguage(pageLanguage.find(context), () => responder.sendError(outgoing, context, route, error))
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

  return {
    server,
    preload: async () => {
      await Promise.all([loadForms(), loadKeyRequests(), ...routes.filter(isPreloaded).map(({ module }) => module())])
    },
  }
}

/**
 * The library of passkeys and the OpenAPI documents wait for their first request: a process that has loaded them answers
 * `GET /auth/api/v1/user` a tenth more slowly.
 */
const isPreloaded = (route: Route): boolean => !('takesJson' in route) && !route.path.endsWith('/openapi.json')

/** Makes once what handlers share. */
const createRouteDeps = (given: ServerDeps): RouteDeps => {
  const cookieTable = createCookieTable(given)
  const cookieWriter = createCookieWriter({ ...given, cookieTable })
  const finishRefresh = createFinishRefresh(given)
  return {
    ...given,
    cookieTable,
    cookieWriter,
    finishRefresh,
    findCurrentSession: createFindCurrentSession({ ...given, finishRefresh }),
    accountLog: createAccountLog(given),
  }
}

/** If there is a cookie prefix, a refresh token counts only if the CSRF cookie is one of the same session. */
const createCookieChecks = ({ cookieTable, cookiePrefix, rootSecret }: RouteDeps) => {
  const csrfTokens = createCsrfTokens(rootSecret)
  const isConfirmed = cookiePrefix ? csrfTokens.confirmsRefresh : undefined
  return { csrfTokens, readCookies: createCookieReader({ cookieTable, isConfirmed }) }
}

/** Data have no language, and what is asked for with each request of an application does without: only its errors have. */
const needsLanguage = (route: Route): boolean =>
  route.responseKind === 'html' || (route.method === 'POST' && route.csrf === 'token')

const takesJson = (route: KeylessRoute): boolean => 'takesJson' in route && route.takesJson

/** A body of another type is ignored elsewhere. */
const TAKES_FORM: ReadonlySet<ResponseKind> = new Set(['html', 'oauth'])

/** Node has ended a request whose headers announce no body, except where they say that it has no bytes. */
const announcesBody = ({ readableEnded, headers }: IncomingMessage): boolean =>
  !readableEnded && headers['content-length'] !== '0'

/**
 * The router of Next.js fetches a page in parts for a link (header `RSC`). The pages here have none, and an empty
 * answer has the browser load the page instead. After a redirect back to the page that the user came from, the router
 * would show nothing: it believes that it has that page.
 */
const wantsPartOfPage = ({ responseKind }: Route, { rsc }: IncomingHttpHeaders): boolean =>
  responseKind === 'html' && rsc !== undefined

/** Node shows the first of several, and another server may look at the last. */
const requireOneAuthorization = (context: IncomingRequest): void => {
  if (context.countHeaders('authorization') <= 1) return
  throw new AppError('invalid_request', 'The header Authorization came more than once.', { field: 'Authorization' })
}

/** RFC 9112 section 3.2 wants exactly one; HTTP/1.0 may leave it out. */
const requireOneHost = (context: IncomingRequest): void => {
  const hostCount = context.countHeaders('host')
  if (hostCount === 1 || (hostCount === 0 && context.isHttp10)) return
  throw new AppError('invalid_request', 'The header Host must be there, once.', { field: 'Host' })
}
