import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { containSocketErrors } from '../lib/socket-errors.ts'
import { toErrorJson } from './errors.ts'
import type { HttpMeter } from './meter.ts'

interface Refusal {
  status: string
  error: AppError
  headers?: string
}

const refusal = (status: string, error: AppError, headers = ''): Refusal => ({ status, error, headers })

const WRONG_METHOD = refusal(
  '405 Method Not Allowed',
  new AppError('method_not_allowed', 'There is no such method here; allowed: GET, HEAD, POST.'),
  'Allow: GET, HEAD, POST\r\n',
)

const REASONS: Record<string, Refusal> = {
  ERR_HTTP_REQUEST_TIMEOUT: refusal(
    '408 Request Timeout',
    new AppError('request_timeout', 'The request did not come to its end in time.'),
  ),
  HPE_HEADER_OVERFLOW: refusal(
    '431 Request Header Fields Too Large',
    new AppError('invalid_request', 'The headers are larger than 16 KiB.'),
  ),
  HPE_INVALID_METHOD: WRONG_METHOD,
}

const UNREADABLE = refusal(
  '400 Bad Request',
  new AppError('invalid_request', 'The request is not readable as HTTP/1.1.'),
)

const EXPECTATION = refusal(
  '417 Expectation Failed',
  new AppError('invalid_request', 'The header Expect asks for something other than 100-continue.'),
)

/** How long a refused client may take to read its answer and close the connection. */
const LINGER_MS = 2000

interface Parts {
  log: Log
  newRequestId: () => string
  meter?: HttpMeter | undefined
}

/** Answers what never became a request that a route could answer, in plain HTTP, and closes the connection. */
export const createBrokenConnections = ({ log, newRequestId, meter }: Parts) => {
  const refused = new WeakSet<Duplex>()

  const refuse = (socket: Duplex, { status, error, headers = '' }: Refusal): void => {
    // What follows the part that could not be read is the same refusal.
    if (refused.has(socket)) return
    refused.add(socket)
    const requestId = newRequestId()
    const body = toErrorJson(error, requestId)
    const code = Number.parseInt(status, 10)
    meter?.countUnreadable(code)
    log.info({ request_id: requestId, status: code, code: error.code, problem: error.message }, 'request')
    if (!socket.writable) {
      socket.destroy()
      return
    }
    socket.end(
      `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
        `${headers}Cache-Control: no-store\r\nConnection: close\r\nX-Request-Id: ${requestId}\r\n\r\n${body}`,
    )
    closeSoon(socket)
  }

  return {
    onClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
      if (error.code === 'ECONNRESET' || socket.destroyed) socket.destroy()
      else refuse(socket, REASONS[error.code ?? ''] ?? UNREADABLE)
    },
    /** What Node would answer by itself, without an id. */
    watch(server: Server): void {
      containSocketErrors(server)
      server.on('connect', (_request: IncomingMessage, socket: Duplex) => refuse(socket, WRONG_METHOD))
      server.on('checkExpectation', ({ socket }: IncomingMessage, _response: ServerResponse) =>
        refuse(socket, EXPECTATION),
      )
    },
  }
}

/**
 * Lets the client read the answer: closing at once would reset the connection of a client that still sends. No time
 * limit of the HTTP server holds here any more, so that a client that never closes would keep the connection.
 */
const closeSoon = (socket: Duplex): void => {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(timer)).resume()
}
