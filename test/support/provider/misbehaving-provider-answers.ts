import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'

/** The response of a provider without a fault. */
export type Answer = { status?: number; type?: string; body: string; headers?: Record<string, string> }

type Spoil = (exchange: { request: IncomingMessage; response: ServerResponse; good: Answer }) => void

const MEBIBYTE = 1024 * 1024
const JSON_TYPE = { 'content-type': 'application/json' }

/** The path below which every endpoint exists a second time, without faults: redirects lead there. */
export const ELSEWHERE = '/elsewhere'

const answers =
  (status: number, type: string, body: string): Spoil =>
  ({ response }) =>
    void response.writeHead(status, { 'content-type': type }).end(body)

const redirects =
  (status: number): Spoil =>
  ({ request, response }) =>
    void response.writeHead(status, { location: `${ELSEWHERE}${request.url}` }).end()

// Whitespace before a JSON value is part of it: a client that reads to the end gets the valid answer.
const whitespace = Buffer.alloc(MEBIBYTE, ' ')

const trickle: Spoil = ({ response }) => {
  response.writeHead(200, JSON_TYPE)
  const drip = setInterval(() => response.write(' '), 20)
  response.once('close', () => clearInterval(drip))
}

const endless: Spoil = ({ response }) => {
  const pour = () => {
    while (!response.destroyed && response.write(whitespace));
  }
  response.on('drain', pour).writeHead(200, JSON_TYPE)
  pour()
}

const huge: Spoil = ({ response, good }) => {
  response.writeHead(200, JSON_TYPE)
  for (let sent = 0; sent < 20; sent += 1) response.write(whitespace)
  response.end(good.body)
}

/** 64 MiB in about 64 KB: a compressed stream may consist of many members. */
const gzipBomb: Spoil = ({ response, good }) => {
  const member = gzipSync(whitespace)
  response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' })
  response.end(Buffer.concat([...Array.from({ length: 64 }, () => member), gzipSync(good.body)]))
}

const SPOILED = {
  'status-500': answers(500, 'application/json', '{"error":"server_error"}'),
  'status-503-html': answers(503, 'text/html', '<!doctype html><title>Down</title><h1>Down for maintenance</h1>'),
  'status-429': answers(429, 'application/json', '{"error":"slow_down"}'),
  'status-404': answers(404, 'application/json', '{"message":"Not Found"}'),
  /** The status is 200, but the body is an error. */
  'error-200': answers(200, 'application/json', '{"error":"bad_code","error_description":"The code is not good"}'),
  html: answers(200, 'text/html', '<!doctype html><title>Welcome</title><h1>Welcome</h1>'),
  'html-as-json': answers(200, 'application/json', '<!doctype html><title>Welcome</title><h1>Welcome</h1>'),
  empty: answers(200, 'application/json', ''),
  array: ({ response, good }) => void response.writeHead(200, JSON_TYPE).end(`[${good.body}]`),
  null: answers(200, 'application/json', 'null'),
  /** Form-encoded, so that a JSON parser's error message quotes the tokens. */
  'form-encoded': ({ response, good }) => {
    const fields: Record<string, string> = JSON.parse(good.body)
    response.writeHead(200, { 'content-type': 'application/x-www-form-urlencoded' })
    response.end(new URLSearchParams(fields).toString())
  },
  /** 302: a client that follows it turns a POST into a GET. */
  redirect: redirects(302),
  /** 307: a client that follows it repeats the POST with its body, secrets included. */
  'redirect-kept': redirects(307),
  hanging: () => {},
  trickle,
  endless,
  huge,
  'gzip-bomb': gzipBomb,
  /** The connection breaks. */
  reset: ({ request }) => void request.socket.resetAndDestroy(),
} satisfies Record<string, Spoil>

/** A wrong response of an endpoint, whatever the request. */
export type BadAnswer = keyof typeof SPOILED

/** Whether a fault concerns the response as a whole, not its content. */
export const isBadAnswer = (fault: string | undefined): fault is BadAnswer =>
  fault !== undefined && Object.hasOwn(SPOILED, fault)

/** Sends the response, or what the fault makes of it. */
export const send = (exchange: Parameters<Spoil>[0] & { fault?: string | undefined }): void => {
  const { request, response, good, fault } = exchange
  // The target of a redirect works: a client that follows it gets a valid answer.
  if (isBadAnswer(fault) && !request.url?.startsWith(ELSEWHERE)) return SPOILED[fault](exchange)
  const { status = 200, type = 'application/json', body, headers = {} } = good
  response.writeHead(status, { 'content-type': type, ...headers }).end(body)
}
