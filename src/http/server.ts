import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
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
import { createRoutes } from './routes.ts'
import { createSecurityHeaders } from './security-headers.ts'
import { requestOrigins } from './transport/client-address.ts'
import { limitConnections } from './transport/connection-limit.ts'
import { readForm } from './transport/form.ts'
import { createFramework } from './transport/framework.ts'
import { IncomingRequest } from './transport/incoming-request.ts'
import { createMalformedRequests } from './transport/malformed-requests.ts'
import { createProxyCheck } from './transport/proxy-check.ts'
import { createRequestIds } from './transport/request-ids.ts'

/** The HTTP side of the service, ready to listen: applies the table of routes. */
export const createServer = (given: ServerDeps): FastifyInstance => {
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
  const noRoute = createNoRoute(routes)
  const securityHeaders = createSecurityHeaders({ ...given, contentSecurityPolicy: given.pages.contentSecurityPolicy })
  const responder = createResponder({ ...deps, securityHeaders })
  const guards = createGuards(deps)
  const checkArrival = createProxyCheck(given)

  const csrfTokens = createCsrfTokens(given.rootSecret)
  const requestDeps = {
    ...deps,
    readCookies: createCookieReader(cookieTable, given.cookiePrefix ? csrfTokens.confirmsRefresh : undefined),
    csrfTokens,
  }
  const contextOf = (request: FastifyRequest, reply: FastifyReply) => new IncomingRequest(request, reply, requestDeps)

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

  const handle = async (route: Route, context: IncomingRequest, body: unknown) => {
    requireOneHost(context)
    guards.requireRefreshCookie(route, context)
    if (route.method === 'POST') {
      context.form = readForm(body, context.headers['content-type'], route.responseKind === 'html')
      if (route.csrf === 'token') requireOwn(context)
    }
    return guards.handle(route, context)
  }

  const notFound = (request: FastifyRequest, reply: FastifyReply): void => {
    const context = contextOf(request, reply)
    const { to, error, headers, facts } = noRoute.refuse(request.method, context.path)
    responder.sendError(reply, context, to, error, { headers, facts })
  }

  const newRequestId = createRequestIds()
  const brokenConnections = createMalformedRequests({ ...given, newRequestId, noRoute, securityHeaders })
  const app = createFramework({ newRequestId, notFound, onClientError: brokenConnections.onClientError })
  brokenConnections.watch(app.server)
  limitConnections({ ...given, server: app.server })
  app.setErrorHandler((error, request, reply) => {
    const context = contextOf(request, reply)
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const route = routes.find((each) => each.path === context.path && each.method === method)
    // The web framework has reasons of its own to refuse a method that no route has, before it looks for one.
    if (route) responder.sendError(reply, context, route, error)
    else notFound(request, reply)
  })

  for (const route of routes) {
    app.route({
      method: route.method,
      url: route.path,
      exposeHeadRoute: route.method === 'GET' && route.isSafe !== false,
      handler(request, reply) {
        checkArrival(request.raw)
        // The router decodes what it compares; a proxy in front may not, and decide otherwise than we do.
        if (!isExactly(route.path, request.raw.url)) return notFound(request, reply)
        const context = contextOf(request, reply)
        handle(route, context, request.body)
          .then((response) => responder.send(reply, context, route, response))
          .catch((error: unknown) => responder.sendError(reply, context, route, error))
      },
    })
  }
  return app
}

/** RFC 9112 section 3.2: exactly one, but for HTTP/1.0. */
const requireOneHost = ({ hostCount, isHttp10 }: IncomingRequest): void => {
  if (hostCount === 1 || (hostCount === 0 && isHttp10)) return
  throw new AppError('invalid_request', 'The header Host must be there, once.', { field: 'Host' })
}

const isExactly = (path: string, url = ''): boolean =>
  url.startsWith(path) && (url.length === path.length || url[path.length] === '?')
