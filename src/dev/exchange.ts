import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { readBody } from '../http/body/body.ts'
import { statusOf, toAppError } from '../http/errors.ts'
import { type ContentResponse, type HttpResponse, json, page } from '../http/response.ts'
import { AppError } from '../lib/errors.ts'
import type { Layout } from '../web/site/layout.ts'
import { problemPage } from './pages/problem-page.ts'

/** A request for a route of `svc dev`. */
export interface DevRequest {
  headers: IncomingHttpHeaders
  query: URLSearchParams
  /** The segments of the path for which the route has `{name}`. */
  parameters: Readonly<Record<string, string>>
  /** The body of a `POST` as it came. */
  body: Buffer
  device: { userAgent: string; address: string }
}

/**
 * Nothing else may load these pages, and they load nothing else. A message is shown in a frame that has a policy of its
 * own.
 */
const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; frame-src 'self'; " +
  "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"

const SECURITY = new Map(
  Object.entries({
    'cache-control': 'no-store',
    'content-security-policy': POLICY,
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  }),
)

/** Sends a response, whose headers replace those of every response. */
export const send = (outgoing: ServerResponse, response: HttpResponse): void => {
  if (outgoing.destroyed) return
  outgoing.setHeaders(SECURITY)
  if ('redirect' in response) {
    outgoing.writeHead(303, { location: response.redirect, 'content-length': 0 }).end()
    return
  }
  const { status, contentType, headers = [] } = response
  for (let index = 0; index < headers.length; index += 2) {
    const [name = '', value = ''] = headers.slice(index, index + 2)
    if (SECURITY.has(name)) outgoing.setHeader(name, value)
    else outgoing.appendHeader(name, value)
  }
  if (contentType) outgoing.setHeader('content-type', contentType)
  outgoing.statusCode = status
  if ('parts' in response) pipeline(response.parts, outgoing).catch(() => outgoing.destroy())
  else outgoing.end(response.body)
}

export const jsonOf = (value: unknown, status = 200): ContentResponse => json(status, JSON.stringify(value))

/** A person gets a page, and a program JSON. */
export const toErrorResponse = (
  thrown: unknown,
  { headers }: Pick<DevRequest, 'headers'>,
  layout: Layout,
): HttpResponse => {
  const { code, message, field } = toAppError(thrown)
  const status = statusOf(code)
  if (!wantsPage(headers)) return jsonOf({ error: { code, message, field } }, status)
  return page(status, problemPage(layout, { status, message }))
}

export const wantsPage = ({ accept }: IncomingHttpHeaders): boolean => accept?.includes('text/html') === true

const MOST_KIB = 1024

/** Reads the body of a request that changes something. Throws `forbidden` for anything but JSON, as forms send. */
export const readJsonBytes = async (incoming: IncomingMessage): Promise<Buffer> => {
  if (incoming.method === 'GET' || incoming.method === 'HEAD') return Buffer.alloc(0)
  const { 'content-type': type } = incoming.headers
  const isJson = /^application\/json\s*(?:;|$)/i.test(type ?? '')
  if (!isJson && (type !== undefined || hasBody(incoming)))
    throw new AppError('forbidden', 'A body is JSON here: send the header Content-Type: application/json.', {
      field: 'Content-Type',
    })
  return readBody(incoming, MOST_KIB)
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
