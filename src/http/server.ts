import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { AppError } from '../lib/errors.ts'
import { createAccountLog } from './account-log.ts'
import { createCookieWriter } from './cookie-writer.ts'
import { createCookieReader, createCookieTable } from './cookies.ts'
import { requireOwnRequest } from './csrf.ts'
import { createCsrfTokens } from './csrf-token.ts'
import { createFindCurrentSession } from './current-session.ts'
import type { RouteDeps, ServerDeps } from './deps.ts'
import { createGuards } from './guards.ts'
import { createNoRoute } from './no-route.ts'
import { createRefreshLog } from './refresh-log.ts'
import { createResponder } from './responder.ts'
import type { Route } from './route.ts'
import { createRouteLookup } from './route-lookup.ts'
import { createRoutes } from './routes.ts'
import { createSecurityHeaders } from './security-headers.ts'
import { readBody } from './transport/body.ts'
import { requestOrigins } from './transport/client-address.ts'
import { limitConnections } from './transport/connection-limit.ts'
import { readForm } from './transport/form.ts'
import { createHttpServer } from './transport/http-server.ts'
import { IncomingRequest } from './transport/incoming-request.ts'
import { createMalformedRequests } from './transport/malformed-requests.ts'
import { createProxyCheck } from './transport/proxy-check.ts'
import { createRequestIds } from './transport/request-ids.ts'

/** The HTTP side of the service, ready to listen: applies the table of routes. */
export const createServer = (given: ServerDeps): Server => {
  const cookieTable = createCookieTable(given)
  const cookieWriter = createCookieWriter(cookieTable, given)
  const noteRefresh = createRefreshLog(given)
  const findCurrentSession = createFindCurrentSession({ ...given, recordRefresh: noteRefresh })
  const accountLog = createAccountLog(given)
  const deps: RouteDeps = {
    ...given,
    cookieTable,
    cookieWriter,
    recordRefresh: noteRefresh,
    findCurrentSession,
    accountLog,
  }
  const routes = createRoutes(deps)
  const findRoute = createRouteLookup(routes)
  const noRoute = createNoRoute(routes)
  const securityHeaders = createSecurityHeaders({ ...given, contentSecurityPolicy: given.pages.contentSecurityPolicy })
  const responder = createResponder({ ...deps, securityHeaders })
  const guards = createGuards(deps)
  const checkArrival = createProxyCheck(given)

  const csrfTokens = createCsrfTokens(given.rootSecret)
  const newRequestId = createRequestIds()
  const requestDeps = {
    ...deps,
    newRequestId,
    readCookies: createCookieReader(cookieTable, given.cookiePrefix ? csrfTokens.confirmsRefresh : undefined),
    csrfTokens,
  }
  /** Where the base URL was set, only that is ours: any host can be named in a request. */
  const ownOrigins = (context: IncomingRequest): string[] =>
    deps.isBaseUrlSet
      ? [deps.baseUrl]
      : [...new Set([deps.baseUrl, ...requestOrigins(context.headers, deps.isTrustedProxy(context.peer))])]

  const requireOwn = (context: IncomingRequest): void => {
    requireOwnRequest({
      headers: context.headers,
      cookies: context.cookies,
      cookieName: cookieTable.csrf.name,
      formToken: context.form.get('csrf_token'),
      isGoodToken: (token) => context.isCsrfToken(token),
      baseUrl: deps.baseUrl,
      ownOrigins: () => ownOrigins(context),
    })
  }

  const handle = async (route: Route, context: IncomingRequest, raw: IncomingMessage) => {
    const body = route.method === 'POST' ? await readBody(raw) : undefined
    requireOneHost(context)
    guards.requireRefreshCookie(route, context)
    if (body) context.form = readForm(body, context.headers['content-type'], route.responseKind === 'html')
    if (route.method === 'POST' && route.csrf === 'token') requireOwn(context)
    return guards.handle(route, context)
  }

  const onRequest = (raw: IncomingMessage, response: ServerResponse): void => {
    const context = new IncomingRequest(raw, response, requestDeps)
    const route = findRoute(context.method, context.path)
    if (route === undefined) {
      const { to, error, headers, facts } = noRoute.refuse(context.method, context.path)
      responder.sendError(response, context, to, error, { headers, facts })
      return
    }
    checkArrival(raw)
    handle(route, context, raw)
      .then((result) => responder.send(response, context, route, result))
      .catch((error: unknown) => responder.sendError(response, context, route, error))
  }

  const malformedRequests = createMalformedRequests({ ...given, newRequestId, noRoute, securityHeaders })
  const server = createHttpServer(onRequest, malformedRequests.onClientError)
  malformedRequests.watch(server)
  limitConnections({ ...given, server })
  return server
}

/** RFC 9112 section 3.2: exactly one, but for HTTP/1.0. */
const requireOneHost = ({ hostCount, isHttp10 }: IncomingRequest): void => {
  if (hostCount === 1 || (hostCount === 0 && isHttp10)) return
  throw new AppError('invalid_request', 'The header Host must be there, once.', { field: 'Host' })
}
