import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { readAbsoluteForm } from '../../lib/request-target.ts'

const MAX_BODY_BYTES = 16 * 1024
/** A whole request must have come by then: who sends slower holds a connection for nothing. */
const REQUEST_TIMEOUT_MS = 20_000
const HEADERS_TIMEOUT_MS = 10_000

interface FrameworkDeps {
  newRequestId: () => string
  onClientError: (error: Error, socket: Duplex) => void
  /** Answers what no route does. */
  notFound: (request: FastifyRequest, reply: FastifyReply) => void
}

/** The web framework without routes, with all that it would do by itself and we do otherwise turned off. */
export const createFramework = ({ newRequestId, onClientError, notFound }: FrameworkDeps): FastifyInstance => {
  const app: FastifyInstance = fastify({
    logger: false,
    genReqId: newRequestId,
    rewriteUrl: toOriginForm,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      // We look for the Host header ourselves: Node's refusal has no id.
      requireHostHeader: false,
    },
    forceCloseConnections: 'idle',
    // Whoever still has a connection while we stop is served, and told to open another one next time.
    return503OnClosing: false,
    clientErrorHandler: onClientError,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    frameworkErrors: (_error, request, reply) => notFound(request, reply),
  })
  // Bodies are read as they come: what is done with them is the matter of each route.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.setNotFoundHandler(notFound)
  return app
}

/** The target as a path. That of an absolute form brings its own host, and the header no longer counts. */
const toOriginForm = ({ url = '', headers }: Pick<IncomingMessage, 'url' | 'headers'>): string => {
  if (url.startsWith('/')) return url
  const absolute = readAbsoluteForm(url)
  if (!absolute) return url
  headers.host = absolute.host
  return absolute.target
}

/** Stands in for two compilers that would take a quarter of the start to load, and that no route asks for. */
const noSchemas = () => () => {
  throw new TypeError('No route hands its schema to the web framework.')
}
