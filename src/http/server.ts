import { randomBytes } from 'node:crypto'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { AppError } from '../lib/errors.ts'
import { createAnswers, type Destination } from './answers.ts'
import { createRecognition } from './browser/recognition.ts'
import { isOwnHost } from './client.ts'
import { createBrokenConnections } from './broken-connection.ts'
import { createCookieWriter } from './cookies.ts'
import { requireOwnRequest } from './csrf.ts'
import { readForm } from './form.ts'
import { createGuards } from './guards.ts'
import type { RouteParts, ServerParts } from './parts.ts'
import { createRefreshLog } from './refresh-log.ts'
import { RequestVisit } from './request-visit.ts'
import type { Route } from './route.ts'
import { createRoutes } from './routes.ts'

const MAX_BODY_BYTES = 16 * 1024
/** A whole request must have come by then: who sends slower holds a connection for nothing. */
const REQUEST_TIMEOUT_MS = 20_000
const HEADERS_TIMEOUT_MS = 10_000

/** The HTTP side of the service, ready to listen: applies the table of routes. */
export const createServer = (given: ServerParts): FastifyInstance => {
  const cookieWriter = createCookieWriter(given)
  const noteRefresh = createRefreshLog(given)
  const recognize = createRecognition({ ...given, cookieWriter, noteRefresh })
  const parts: RouteParts = { ...given, cookieWriter, noteRefresh, recognize }
  const routes = createRoutes(parts)
  const answers = createAnswers(given)
  const guards = createGuards(parts)

  const newRequestId = createRequestIds()
  const brokenConnections = createBrokenConnections({ ...given, newRequestId })

  const app = fastify({
    logger: false,
    genReqId: newRequestId,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      // We look for the Host header ourselves: Node's refusal has no id.
      requireHostHeader: false,
      // An `Upgrade` is ignored (RFC 9110 section 7.8). With `SVC_HOST=localhost` the web framework would hand over the
      // connections of the second address, and nothing would ever close them.
      shouldUpgradeCallback: () => false,
    },
    forceCloseConnections: 'idle',
    // Whoever still has a connection while we stop is served, and told to open another one next time.
    return503OnClosing: false,
    clientErrorHandler: brokenConnections.onClientError,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    frameworkErrors: (_error, request, reply) => notFound(request, reply),
  })

  const visitOf = (request: FastifyRequest, reply: FastifyReply) => new RequestVisit(request, reply, parts)

  const requireOwn = (visit: RequestVisit): void => {
    const isFromProxy = parts.isTrustedProxy(visit.peer)
    requireOwnRequest({
      headers: visit.headers,
      cookies: visit.cookies,
      formToken: visit.form.get('csrf_token'),
      baseUrl: parts.baseUrl,
      isOwnOrigin: (origin) => origin === parts.baseUrl || isOwnHost(origin, visit.headers, isFromProxy),
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
    const allowed = routes.filter((route) => route.path === visit.path).map((route) => route.method)
    const to = unknownDestination(visit.path)
    if (allowed.length === 0) {
      answers.sendError(reply, visit, to, new AppError('not_found', 'There is nothing here.'))
      return
    }
    const allow = [...new Set(allowed.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))].join(', ')
    const message = `The method ${request.method} is not allowed here; allowed: ${allow}.`
    answers.sendError(reply, visit, to, new AppError('method_not_allowed', message), ['allow', allow])
  }

  brokenConnections.watch(app.server)
  // Bodies are read as they come: what is done with them is the matter of each route.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.setNotFoundHandler(notFound)
  app.setErrorHandler((error, request, reply) => {
    const visit = visitOf(request, reply)
    const route = routes.find(({ path, method }) => path === visit.path && method === request.method)
    answers.sendError(reply, visit, route ?? unknownDestination(visit.path), error)
  })

  for (const route of routes) {
    app.route({
      method: route.method,
      url: route.path,
      handler(request, reply) {
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

/** Stands in for two compilers that would take a quarter of the start to load, and that no route asks for. */
const noSchemas = () => () => {
  throw new TypeError('No route hands its schema to the web framework.')
}

const isExactly = (path: string, url = ''): boolean =>
  url.startsWith(path) && (url.length === path.length || url[path.length] === '?')

/** What is not in the table speaks JSON where only programs ask, and HTML elsewhere. */
const unknownDestination = (path: string): Destination => ({
  path: undefined,
  speaks: /^\/auth\/(?:api|\.well-known)\//.test(path) ? 'json' : 'html',
})

/** Short ids that differ between processes and, within one, from request to request. */
const createRequestIds = (): (() => string) => {
  const prefix = randomBytes(6).toString('hex')
  let count = 0
  return () => {
    count += 1
    return `${prefix}-${count.toString(36)}`
  }
}
