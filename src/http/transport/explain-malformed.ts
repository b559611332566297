import { AppError } from '../../lib/errors.ts'
import { readAbsoluteForm } from '../../lib/url.ts'
import type { NoRoute } from '../no-route.ts'

/** This is the response to bytes that are no readable request. */
export interface MalformedRefusal {
  status: number
  error: AppError
  /** The items are name and value. */
  headers?: string[]
  /** These facts go to the log. */
  facts?: object | undefined
}

/** Node's HTTP parser throws this error. */
interface ParseError extends Error {
  code?: string
  /** This holds the latest bytes of the connection. The request begins here, unless it came in parts. */
  rawPacket?: unknown
}

const refusal = (status: number, code: 'invalid_request' | 'request_timeout', message: string): MalformedRefusal => ({
  status,
  error: new AppError(code, message),
})

const BY_CODE: Record<string, MalformedRefusal> = {
  ERR_HTTP_REQUEST_TIMEOUT: refusal(408, 'request_timeout', 'The request did not come to its end in time.'),
  HPE_HEADER_OVERFLOW: refusal(431, 'invalid_request', 'The headers are larger than 16 KiB.'),
}

const UNREADABLE = refusal(400, 'invalid_request', 'The request is not readable as HTTP/1.1.')

export const EXPECTATION = refusal(
  417,
  'invalid_request',
  'The header Expect asks for something other than 100-continue.',
)

const TLS =
  'TLS came, and this port speaks plain HTTP. Let the proxy end TLS and connect with http:// (nginx: "proxy_pass ' +
  'http://ADDRESS"; HAProxy: server without ssl; Caddy: reverse_proxy without https://).'
const PROXY_PROTOCOL =
  'The PROXY protocol came before the request, and svc does not read it. Turn it off in the proxy (HAProxy: server ' +
  'without send-proxy; nginx: no "proxy_protocol on"), and let it send X-Forwarded-For instead.'
const HTTP2 =
  'HTTP/2 came, and svc speaks HTTP/1.1. Let the proxy use HTTP/1.1 towards it (nginx: "proxy_http_version 1.1"; ' +
  'HAProxy: server without proto h2; Caddy: reverse_proxy without h2c://).'

/** A proxy that is configured for another protocol sends these bytes first. */
const OTHER_PROTOCOLS = new Map([
  // This is a handshake record (RFC 8446 section 5.1).
  ['\x16', refusal(400, 'invalid_request', TLS)],
  ['PROXY TCP', refusal(400, 'invalid_request', PROXY_PROTOCOL)],
  ['PROXY UNKNOWN', refusal(400, 'invalid_request', PROXY_PROTOCOL)],
  ['\r\n\r\n\0\r\nQUIT\n', refusal(400, 'invalid_request', PROXY_PROTOCOL)],
  // This is the connection preface (RFC 9113 section 3.4).
  ['PRI * HTTP/2', refusal(400, 'invalid_request', HTTP2)],
])

const MAX_BEGIN = 4096
const REQUEST_LINE = /^([!#$%&'*+.^`|~\w-]{1,32}) (\S{1,2048}) HTTP\/1\.[01]\r?\n/

/**
 * Refuses a method that Node's parser does not know. It answers 405 if the table has the path, else 404, as for any
 * other method.
 */
const refuseMethod = (begin: string, noRoute: NoRoute): MalformedRefusal => {
  const [, method, target] = REQUEST_LINE.exec(begin) ?? []
  if (method === undefined || target === undefined) return UNREADABLE
  const [path = ''] = (readAbsoluteForm(target)?.target ?? target).split('?', 1)
  return noRoute.refuse(method, path)
}

/** Answers a request that Node's parser refused: it names the protocol or the mistake. */
export const explainMalformed = (error: Error, noRoute: NoRoute): MalformedRefusal => {
  const { code = '', rawPacket } = error as ParseError
  const begin = rawPacket instanceof Buffer ? rawPacket.toString('latin1', 0, MAX_BEGIN) : ''
  for (const [signature, other] of OTHER_PROTOCOLS) if (begin.startsWith(signature)) return other
  return code === 'HPE_INVALID_METHOD' ? refuseMethod(begin, noRoute) : (BY_CODE[code] ?? UNREADABLE)
}

/** `CONNECT` asks for a tunnel (RFC 9110 section 9.3.6). */
export const refuseConnect = (path: string, noRoute: NoRoute): MalformedRefusal => {
  const allow = noRoute.allowAt(path)
  const error = new AppError('method_not_allowed', 'CONNECT is not answered: svc is no proxy.')
  return { status: 405, error, headers: allow === undefined ? [] : ['allow', allow] }
}
