import type { IncomingHttpHeaders } from 'node:http'
import { request as requestByHttp } from '../../lib/node-http.ts'

/** What the doctor asks, as it goes over the wire. */
export interface Exchange {
  /** The public origin. */
  origin: string
  /** With its query, sent as it is. */
  path: string
  headers?: Record<string, string>
  /** Certificates of further authorities, PEM. */
  ca?: string | undefined
}

export interface WireAnswer {
  status: number
  headers: IncomingHttpHeaders
  body: string
  /** Both ends of the connection. */
  ends: { localAddress: string; localPort: number; remoteAddress: string }
}

const TIMEOUT_MS = 10_000
const MAX_BODY_CHARACTERS = 65_536

/** Sends one request over a connection of its own, and follows no redirect. Rejects with what Node says. */
export const exchange = ({ origin, path, headers = {}, ca }: Exchange): Promise<WireAnswer> => {
  const { promise, resolve, reject } = Promise.withResolvers<WireAnswer>()
  const url = new URL(origin)
  const options = { path, headers, agent: false, signal: AbortSignal.timeout(TIMEOUT_MS) } as const
  const isHttps = url.protocol === 'https:'
  const { request: requestByHttps } = process.getBuiltinModule('node:https')
  const request = isHttps ? requestByHttps(url, { ...options, ...trusted(ca) }) : requestByHttp(url, options)
  request.on('error', reject).on('response', (response) => {
    let body = ''
    const { localAddress = '', localPort = 0, remoteAddress = '' } = response.socket
    const ends = { localAddress, localPort, remoteAddress }
    response.setEncoding('utf8')
    response.on('data', (text: string) => {
      body += body.length < MAX_BODY_CHARACTERS ? text : ''
    })
    response.on('error', reject)
    response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body, ends }))
  })
  request.end()
  return promise
}

/** The given authorities count besides those that Node trusts. */
const trusted = (ca: string | undefined) => {
  if (ca === undefined) return {}
  const { getCACertificates } = process.getBuiltinModule('node:tls')
  return { ca: [...getCACertificates('default'), ca] }
}
