import type { CustomFetch } from 'openid-client'
import { AppError } from '../../lib/errors.ts'
import { isLoopbackUrl, mayReachThisMachine } from '../../lib/url.ts'
import { signInProblem } from '../errors.ts'

/** Sends one request to a provider. */
export type ProviderFetch = CustomFetch

/** No provider's response needs nearly as much. */
const MAX_RESPONSE_BYTES = 1024 * 1024

class ResponseTooLarge extends Error {
  constructor() {
    super(`the response is larger than ${MAX_RESPONSE_BYTES} bytes`)
  }
}

const readBounded = async (response: Response): Promise<Uint8Array<ArrayBuffer>> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    // The bytes are counted after decompression: a small response can decompress to a huge one.
    if (bytes > MAX_RESPONSE_BYTES) throw new ResponseTooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/**
 * Throws a TypeError for an address that a provider names and svc must not call: one without TLS, and one on this
 * machine unless the provider itself runs there. Services on loopback often trust every caller, and a provider
 * elsewhere could reach them through svc (server-side request forgery).
 */
export const requireAddressOf = (issuer: string, url: string): void => {
  if (mayReachThisMachine(url) && !mayReachThisMachine(issuer)) {
    throw new TypeError(`an address of the provider is on this machine, and the provider is not: ${url.slice(0, 200)}`)
  }
  if (url.startsWith('https:') || isLoopbackUrl(url)) return
  throw new TypeError(`an address of the provider is missing, or without TLS: ${url.slice(0, 200)}`)
}

/** A `Response` with one of these statuses must not have a body. */
const WITHOUT_BODY = [101, 204, 205, 304]

/**
 * Sends requests to one provider: a response has at most 1 MiB and must arrive within the deadline of the request's
 * signal; redirects are not followed, and secrets leave this machine over TLS only.
 */
export const createProviderFetch =
  (issuer: string): ProviderFetch =>
  async (url, { body: sent, ...options }) => {
    requireAddressOf(issuer, url)
    const response = await fetch(url, { ...options, body: sent ?? null, redirect: 'manual' })
    const body = await readBounded(response)
    const { status, headers } = response
    return new Response(WITHOUT_BODY.includes(status) || status < 200 ? null : body, { status, headers })
  }

/** The library has these codes for a provider that does not answer, or does not answer as the standards say. */
const UNREACHABLE = [
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
  'OAUTH_MISSING_SERVER_METADATA',
  'OAUTH_INVALID_SERVER_METADATA',
]

/** These are values of `error` of an authorization response (RFC 6749 section 4.1.2.1), and Apple's own code. */
const CANCELLED = ['access_denied', 'user_cancelled_authorize']
const BUSY = ['server_error', 'temporarily_unavailable']

const isBusy = (status: unknown): boolean => typeof status === 'number' && (status >= 500 || status === 429)

/** Turns the errors of the library or of `fetch` into a sign-in problem. */
export const toProblem = (error: unknown): unknown => {
  if (error instanceof AppError) return error
  if (!(error instanceof Error)) return signInProblem('unreachable', error)
  const { code, error: word, status } = error as { code?: unknown; error?: unknown; status?: unknown }
  if (code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR') {
    if (CANCELLED.includes(String(word))) return signInProblem('cancelled', error)
    return signInProblem(BUSY.includes(String(word)) ? 'unreachable' : 'refused', error)
  }
  if (code === 'OAUTH_RESPONSE_BODY_ERROR') {
    return signInProblem(isBusy(status) ? 'unreachable' : 'refused', error)
  }
  const isFromLibrary = typeof code === 'string' && code.startsWith('OAUTH_')
  return signInProblem(isFromLibrary && !UNREACHABLE.includes(code) ? 'unverifiable' : 'unreachable', error)
}
