import type { RequestListener, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { createServer } from '../../lib/node-http.ts'

/** A whole request must arrive within this time: a slower client would occupy a connection. */
const REQUEST_TIMEOUT_MS = 20_000
const HEADERS_TIMEOUT_MS = 10_000
/**
 * This is how often both are looked at. Node's 30 s would let slow connections stay four times as long, and end all at
 * once.
 */
const CHECK_EVERY_MS = 1000
/**
 * This is above the 60 s after which proxies close a connection that they keep: the side that sends requests closes
 * first.
 */
const KEEP_ALIVE_TIMEOUT_MS = 72_000

interface HttpServerDeps {
  onRequest: RequestListener
  /** Responds to requests that Node cannot read. */
  onClientError: (error: Error, socket: Duplex) => void
}

/** Creates the HTTP/1.1 server, which does not listen yet. */
export const createHttpServer = ({ onRequest, onClientError }: HttpServerDeps): Server => {
  const server = createServer(
    {
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_EVERY_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      // The service checks the header itself: Node's response has no request id and no line in the log.
      requireHostHeader: false,
      // A request that has no body, as most have none, gets no stream to be ended and dropped.
      optimizeEmptyRequests: true,
    },
    onRequest,
  )
  server.on('clientError', onClientError)
  return server
}
