import type { CustomFetch } from 'openid-client'
import { AppError } from '../../lib/errors.ts'
import { isLoopbackUrl, mayLeadHere } from '../../lib/origin.ts'
import { signInProblem } from '../errors.ts'

/** No answer of an honest provider comes near. */
const MAX_ANSWER_BYTES = 1024 * 1024

/** A provider sent more than anybody needs. */
class AnswerTooLarge extends Error {
  constructor() {
    super(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`)
  }
}

const readBounded = async (response: Response): Promise<Uint8Array<ArrayBuffer>> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    // Counted as it is unpacked: a small answer can unfold into a huge one.
    if (bytes > MAX_ANSWER_BYTES) throw new AnswerTooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/**
 * TypeError for an address that a provider names and that must not be asked: one that can be read or changed on the way,
 * and one on this machine unless the provider itself is on it. What listens on loopback trusts every caller, and
 * this service would reach it for a provider elsewhere (server-side request forgery).
 */
export const requireAddressOf = (issuer: string, url: string): void => {
  if (mayLeadHere(url) && !mayLeadHere(issuer)) {
    throw new TypeError(`an address of the provider is on this machine, and the provider is not: ${url.slice(0, 200)}`)
  }
  if (url.startsWith('https:') || isLoopbackUrl(url)) return
  throw new TypeError(`an address of the provider is missing, or without TLS: ${url.slice(0, 200)}`)
}

/** Statuses that a `Response` must have no body with. */
const WITHOUT_BODY = [101, 204, 205, 304]

/**
 * `fetch` for what is asked of one provider: the answer is read whole, up to 1 MiB, within the deadline of the request's
 * signal; no redirect is followed, and secrets leave this machine over TLS only.
 */
export const createProviderFetch =
  (issuer: string): CustomFetch =>
  async (url, { body: sent, ...options }) => {
    requireAddressOf(issuer, url)
    const response = await fetch(url, { ...options, body: sent ?? null, redirect: 'manual' })
    const body = await readBounded(response)
    const { status, headers } = response
    return new Response(WITHOUT_BODY.includes(status) || status < 200 ? null : body, { status, headers })
  }

/** Failures that say nothing about the person, only that the provider does not answer properly. */
const AWAY = [
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
  'OAUTH_MISSING_SERVER_METADATA',
  'OAUTH_INVALID_SERVER_METADATA',
]

/** `error` of an authorization response (RFC 6749 section 4.1.2.1; Apple's own word for it). */
const CANCELLED = ['access_denied', 'user_cancelled_authorize']
const BUSY = ['server_error', 'temporarily_unavailable']

const isBusy = (status: unknown): boolean => typeof status === 'number' && (status >= 500 || status === 429)

/** What the library, or `fetch`, threw, as one of our problems. */
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
  return signInProblem(isFromLibrary && !AWAY.includes(code) ? 'unverifiable' : 'unreachable', error)
}
