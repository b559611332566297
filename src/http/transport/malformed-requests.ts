import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Log } from '../../lib/log.ts'
import { ignoreSocketErrors, STATUS_CODES } from '../../lib/node-http.ts'
import { toErrorJson } from '../errors.ts'
import type { NoRoute } from '../no-route.ts'
import type { RequestMetrics } from '../request-metrics.ts'
import type { SecurityHeaders } from '../security-headers.ts'
import { clientAddress } from './client-address.ts'
import { EXPECTATION, explainMalformed, type MalformedRefusal, refuseConnect } from './explain-malformed.ts'
import { createResponseOrder } from './response-order.ts'

/** A refused client may take this long to read its response and close the connection. */
const LINGER_MS = 2000

/** This many late requests are refused in one turn of the event loop: it is about a millisecond's work. */
const LATE_AT_ONCE = 20

interface MalformedRequestsDeps {
  log: Log
  newRequestId: () => string
  isTrustedProxy: (address: string) => boolean
  noRoute: NoRoute
  securityHeaders: SecurityHeaders
  requestMetrics?: RequestMetrics | undefined
}

/** Responds to bytes that Node cannot hand over as a request, and closes the connection. */
interface MalformedRequests {
  /**
   * This is called for every request: a refusal comes after its response. If it returns false, the request must not be
   * processed.
   */
  noteResponse: (response: ServerResponse) => boolean
  onClientError: (error: NodeJS.ErrnoException, socket: Duplex) => void
  /** Takes over from Node the events of the server that it would respond to by itself, without a request id. */
  attach: (server: Server) => void
}

export const createMalformedRequests = ({
  log,
  newRequestId,
  isTrustedProxy,
  noRoute,
  securityHeaders,
  requestMetrics,
}: MalformedRequestsDeps): MalformedRequests => {
  const refused = new WeakSet<Duplex>()
  const order = createResponseOrder()

  const record = (requestId: string, socket: Duplex, refusal: MalformedRefusal, request?: IncomingMessage): void => {
    const { status, error, facts } = refusal
    const peer = socket instanceof Socket ? socket.remoteAddress : undefined
    const client = clientAddress(peer ?? '', request?.headers['x-forwarded-for'], isTrustedProxy)
    requestMetrics?.countUnreadable(status)
    log.info({ request_id: requestId, status, client, code: error.code, problem: error.message, ...facts }, 'request')
  }

  const send = (socket: Duplex, refusal: MalformedRefusal, isAnswered: boolean, request?: IncomingMessage): void => {
    const requestId = newRequestId()
    record(requestId, socket, refusal, request)
    if (!socket.writable) {
      socket.destroy()
      return
    }
    if (isAnswered) socket.end()
    else socket.end(toResponse(requestId, securityHeaders.data, refusal))
    closeSoon(socket)
  }

  const refuse = (socket: Duplex, refusal: MalformedRefusal, request?: IncomingMessage): void => {
    // The bytes that follow an unreadable part cause further errors, but need no second response.
    if (refused.has(socket)) return
    refused.add(socket)
    order.afterEarlier(socket, (isAnswered) => send(socket, refusal, isAnswered, request))
  }

  const refuseError = (error: Error, socket: Duplex): void => refuse(socket, explainMalformed(error, noRoute))
  const endLate = createLateEnds(refuseError)

  return {
    noteResponse: order.note,
    onClientError(error, socket) {
      if (error.code === 'ECONNRESET' || socket.destroyed) socket.destroy()
      else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') endLate(error, socket)
      else refuseError(error, socket)
    },
    attach(server) {
      ignoreSocketErrors(server)
      server.on('connection', dropUnknownPeer)
      server.on('connect', (request: IncomingMessage, socket: Duplex) => {
        const [path = ''] = (request.url ?? '').split('?', 1)
        refuse(socket, refuseConnect(path, noRoute), request)
      })
      server.on('checkExpectation', (request: IncomingMessage, _response: ServerResponse) =>
        refuse(request.socket, EXPECTATION, request),
      )
    },
  }
}

/**
 * Ends connections whose requests are late. The requests of a crowd are late in the same second: after a few of them,
 * others get their turn. A connection that has brought nothing, as browsers open ahead of time, is closed without a
 * response or a line in the log.
 */
const createLateEnds = (refuse: (error: Error, socket: Duplex) => void) => {
  const late: (() => void)[] = []
  const endSome = (): void => {
    for (const end of late.splice(0, LATE_AT_ONCE)) end()
    if (late.length > 0) setImmediate(endSome)
  }
  return (error: Error, socket: Duplex): void => {
    // Bytes that come from now on must not become a request, which would get a second response.
    socket.pause()
    const isSilent = socket instanceof Socket && socket.bytesRead === 0
    late.push(() => (isSilent ? socket.destroy() : refuse(error, socket)))
    if (late.length === 1) setImmediate(endSome)
  }
}

/**
 * Drops a client that has already closed the connection. Node looks the client's address up on first use, and keeps it.
 * If it is read here, limits and the log still know it after the client has closed the connection. A client that has
 * closed it already has no address: all such clients would share one limit, so their connections are dropped.
 */
const dropUnknownPeer = (socket: Socket): void => {
  if (socket.remoteAddress === undefined) socket.destroy()
}

const toResponse = (requestId: string, security: readonly string[], refusal: MalformedRefusal): string => {
  const { status, error, headers = [] } = refusal
  const body = toErrorJson(error, requestId)
  const all = ['x-request-id', requestId, ...security, 'cache-control', 'no-store', ...headers]
  all.push('content-type', 'application/json', 'content-length', String(Buffer.byteLength(body)), 'connection', 'close')
  const lines = all.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('')
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n${body}`
}

/**
 * Lets the client read the response: closing at once would reset the connection of a client that still sends. The time
 * limits of the HTTP server no longer apply to this socket, so a client that never closes it needs a limit here.
 */
const closeSoon = (socket: Duplex): void => {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(timer)).resume()
}
