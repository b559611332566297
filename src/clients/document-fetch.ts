import type { LookupAddress } from 'node:dns'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { isLoopbackHost, isPublicAddress } from '../lib/network.ts'
import type { ClientMetadata } from './client-metadata.ts'

/** Finds all addresses of a name. */
export type Lookup = (host: string) => Promise<LookupAddress[]>

export interface FetchedDocument {
  document: ClientMetadata
  headers: Readonly<Record<string, string | undefined>>
}

/** A document was not fetched. The message is for the client's developer. */
export class FetchProblem extends Error {
  /** The host has failed, and a document that was good may still be. */
  readonly isOfHost: boolean

  constructor(message: string, isOfHost: boolean) {
    super(message)
    this.name = 'FetchProblem'
    this.isOfHost = isOfHost
  }
}

export interface FetchOptions {
  /** svc itself is on this machine, and so may be the document. */
  allowsLoopback: boolean
  lookup?: Lookup | undefined
  timeoutMs?: number
}

const MAX_BYTES = 5 * 1024
const TIMEOUT_MS = 3000

const JSON_TYPE = /^application\/(?:[a-z0-9!#$&^_.-]+\+)?json[ \t]*(?:;|$)/i

const ofDocument = (message: string): FetchProblem => new FetchProblem(message, false)
const ofHost = (message: string): FetchProblem => new FetchProblem(message, true)

/**
 * Fetches a metadata document, and trusts its host with nothing: the name is resolved once, the connection is made to
 * an address that was found then, which is a public one, no redirect is followed, and little is read. Throws
 * `FetchProblem`.
 */
export const fetchDocument = async (url: string, options: FetchOptions): Promise<FetchedDocument> => {
  const { lookup = lookupAll, timeoutMs = TIMEOUT_MS } = options
  const late = ofHost(`its host has not answered within ${timeoutMs / 1000} s`)
  const signal = AbortSignal.timeout(timeoutMs)
  const timedOut = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(late), { once: true })
  })
  const fetching = fetchFrom(url, { signal, lookup, allowsLoopback: options.allowsLoopback })
  return Promise.race([fetching, timedOut])
}

const lookupAll: Lookup = (host) => process.getBuiltinModule('node:dns').promises.lookup(host, { all: true })

const fetchFrom = async (
  url: string,
  { signal, lookup, allowsLoopback }: { signal: AbortSignal; lookup: Lookup; allowsLoopback: boolean },
): Promise<FetchedDocument> => {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  const found = await findAddresses(host, lookup)
  const isAllowed = ({ address }: LookupAddress) =>
    isPublicAddress(address) || (allowsLoopback && isLoopbackHost(address))
  if (!found.every(isAllowed)) throw ofDocument(`its host ${host} has an address that is not public`)
  signal.throwIfAborted()
  const response = await request(url, found, signal)
  try {
    requireGood(response)
    return { document: parse(await readBounded(response)), headers: response.headers as FetchedDocument['headers'] }
  } finally {
    response.destroy()
  }
}

const findAddresses = async (host: string, lookup: Lookup): Promise<LookupAddress[]> => {
  const family = isIP(host)
  if (family !== 0) return [{ address: host, family }]
  const found = await lookup(host).catch((error: NodeJS.ErrnoException) => {
    throw ofHost(`its host ${host} was not found (${error.code ?? 'error'})`)
  })
  if (found.length === 0) throw ofHost(`its host ${host} has no address`)
  return found
}

/** Connects to one of the addresses: nothing is looked up again, so that a name cannot lead elsewhere by then. */
const request = (url: string, found: LookupAddress[], signal: AbortSignal): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const headers = { Accept: 'application/json', 'Accept-Encoding': 'identity', 'User-Agent': 'svc' }
    const outgoing = process.getBuiltinModule('node:https').request(url, {
      headers,
      agent: false,
      signal,
      lookup: (_host, { all }, done) => {
        const [first] = found
        if (all || !first) done(null, found)
        else done(null, first.address, first.family)
      },
    })
    outgoing.on('response', resolve)
    outgoing.on('upgrade', (_, socket) => socket.destroy())
    outgoing.on('error', (error: NodeJS.ErrnoException) =>
      reject(ofHost(`its host cannot be reached (${error.code ?? error.message})`)),
    )
    outgoing.on('close', () => reject(ofHost('its host has closed the connection')))
    outgoing.end()
  })

/** These say that the host cannot answer now (RFC 9110 section 15). */
const isBusy = (status: number): boolean => status >= 500 || status === 408 || status === 429

const requireGood = ({ statusCode = 0, headers }: IncomingMessage): void => {
  if (isBusy(statusCode)) throw ofHost(`its host has answered ${statusCode}`)
  if (statusCode >= 300 && statusCode < 400) throw ofDocument(`it must not be a redirect, and is ${statusCode}`)
  if (statusCode !== 200) throw ofDocument(`it must be answered with 200, and is ${statusCode}`)
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers
  if (!JSON_TYPE.test(type)) throw ofDocument('its Content-Type must be application/json, or end in +json')
  if (encoding.toLowerCase() !== 'identity') throw ofDocument('it must be sent without a Content-Encoding')
}

const readBounded = async (response: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > MAX_BYTES) break
      chunks.push(chunk)
    }
  } catch (error) {
    throw ofHost(`its host has broken off the answer (${(error as NodeJS.ErrnoException).code ?? 'error'})`)
  }
  if (bytes > MAX_BYTES) throw ofDocument(`it must have at most ${MAX_BYTES} bytes`)
  return Buffer.concat(chunks)
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const parse = (body: Buffer): ClientMetadata => {
  try {
    const value: unknown = JSON.parse(utf8.decode(body))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as ClientMetadata
  } catch {
    // The parser's own message repeats a part of the body.
  }
  throw ofDocument('it must be a JSON object in UTF-8')
}
