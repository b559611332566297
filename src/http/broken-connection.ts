import type { Socket } from 'node:net'
import { toErrorJson } from './errors.ts'
import { AppError } from '../lib/errors.ts'

const REASONS: Record<string, [status: string, error: AppError]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [
    '408 Request Timeout',
    new AppError('request_timeout', 'The request did not come to its end in time.'),
  ],
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    new AppError('invalid_request', 'The headers are larger than 16 KiB.'),
  ],
}
const UNREADABLE: [string, AppError] = [
  '400 Bad Request',
  new AppError('invalid_request', 'The request is not readable as HTTP/1.1.'),
]

/** Answers what never became a request, in plain HTTP, and closes the connection. */
export const refuseBrokenConnection = (error: NodeJS.ErrnoException, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const [status, reason] = REASONS[error.code ?? ''] ?? UNREADABLE
  const body = toErrorJson(reason, '-')
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `Connection: close\r\nX-Request-Id: -\r\n\r\n${body}`,
  )
}
