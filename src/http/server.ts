import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../lib/errors.ts'
import { createAccountLog } from './account-log.ts'
import { createCookieWriter } from './cookie-writer.ts'
import { createCookieReader, createCookieTable } from './cookies.ts'
import { requireOwnRequest } from './csrf.ts'
import { createCsrfTokens } from './csrf-token.ts'
import { createRecognition } from './current-session.ts'
import type { RouteParts, ServerParts } from './deps.ts'
import { createGuards } from './guards.ts'
import { createNoRoute } from './no-route.ts'
import { createRefreshLog } from './refresh-log.ts'
import { createAnswers } from './responder.ts'
import type { Route } from './route.ts'
import { createRoutes } from './routes.ts'
import { createSecurityHeaders } from './security-headers.ts'
import { requestOrigins } from './transport/client-address.ts'
import { limitConnections } from './transport/connection-limit.ts'
import { readForm } from './transport/form.ts'
import { createFramework } from './transport/framework.ts'
import { RequestVisit } from './transport/incoming-request.ts'
import { createBrokenConnections } from './transport/malformed-requests.ts'
import { createArrivalCheck } from './transport/proxy-check.ts'
import { createRequestIds } from './transport/request-ids.ts'

/** The HTTP side of the service, ready to listen: applies the table of routes. */
export const createServer = (given: ServerParts): FastifyInstance => {
  const cookieTable = createCookieTable(given)
  const cookieWriter = createCookieWriter(cookieTable, given)
  const noteRefresh = createRefreshLog(given)
  const recognize = createRecognition({ ...given, noteRefresh })
  const accountLog = createAccountLog(given)
  const parts: RouteParts = { ...given, cookieTable, cookieWriter, noteRefresh, recognize, accountLog }
  const routes = createRoutes(parts)
  const noRoute = createNoRoute(routes)
  const securityHeaders = createSecurityHeaders({ ...given, contentSecurityPolicy: given.pages.contentSecurityPolicy })
  const answers = createAnswers({ ...parts, securityHeaders })
  const guards = createGuards(parts)
  const checkArrival = createArrivalCheck(given)

  const csrfTokens = createCsrfTokens(given.rootSecret)
  const visitParts = {
    ...parts,
    readCookies: createCookieReader(cookieTable, given.cookiePrefix ? csrfTokens.confirmsRefresh : undefined),
    csrfTokens,
  }
  const visitOf = (request: FastifyRequest, reply: FastifyReply) => new RequestVisit(request, reply, visitParts)

  /** Where the base URL was set, only that is ours: any host can be named in a request. */
  const ownOrigins = (visit: RequestVisit): string[] =>
    parts.isBaseUrlSet
      ? [parts.baseUrl]
      : [...new Set([parts.baseUrl, ...requestOrigins(visit.headers, parts.isTrustedProxy(visit.peer))])]

  const requireOwn = (visit: RequestVisit): void => {
    requireOwnRequest({
      headers: visit.headers,
      cookies: visit.cookies,
      cookieName: cookieTable.csrf.name,
      formToken: visit.form.get('csrf_token'),
      isGoodToken: (token) => visit.isCsrfToken(token),
      baseUrl: parts.baseUrl,
      ownOrigins: () => ownOrigins(visit),
    })
  }

  const answer = async (route: Route, visit: RequestVisit, body: unknown) => {
    requireOneHost(visit)
    guards.precheck(route, visit)
    if (route.method === 'POST') {
      visit.form = readForm(body, visit.headers['content-type'], route.speaks === 'html')
      if (route.csrf === 'token') requireOwn(visit)
    }
    return guards.answer(route, visit)
  }

  const notFound = (request: FastifyRequest, reply: FastifyReply): void => {
    const visit = visitOf(request, reply)
    const { to, error, headers, facts } = noRoute.refuse(request.method, visit.path)
    answers.sendError(reply, visit, to, error, { headers, facts })
  }

  const newRequestId = createRequestIds()
  const brokenConnections = createBrokenConnections({ ...given, newRequestId, noRoute, securityHeaders })
  const app = createFramework({ newRequestId, notFound, onClientError: brokenConnections.onClientError })
  brokenConnections.watch(app.server)
  limitConnections({ ...given, server: app.server })
  app.setErrorHandler((error, request, reply) => {
    const visit = visitOf(request, reply)
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const route = routes.find((each) => each.path === visit.path && each.method === method)
    // The web framework has reasons of its own to refuse a method that no route has, before it looks for one.
    if (route) answers.sendError(reply, visit, route, error)
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
        const visit = visitOf(request, reply)
        answer(route, visit, request.body)
          .then((it) => answers.send(reply, visit, route, it))
          .catch((error: unknown) => answers.sendError(reply, visit, route, error))
      },
    })
  }
  return app
}

/** RFC 9112 section 3.2: exactly one, but for HTTP/1.0. */
const requireOneHost = ({ hostCount, isHttp10 }: RequestVisit): void => {
  if (hostCount === 1 || (hostCount === 0 && isHttp10)) return
  throw new AppError('invalid_request', 'The header Host must be there, once.', { field: 'Host' })
}

const isExactly = (path: string, url = ''): boolean =>
  url.startsWith(path) && (url.length === path.length || url[path.length] === '?')
