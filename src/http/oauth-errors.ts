import type { AppError, ErrorCode } from '../lib/errors.ts'
import { statusOf } from './errors.ts'
import type { ClientError } from './request-metrics.ts'
import { type ContentResponse, json } from './response.ts'

/** An error with one of these reasons is told to clients by it (RFC 6749, 6750, 7591, 8707). */
const NAMES: ReadonlySet<ClientError> = new Set<ClientError>([
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unsupported_grant_type',
  'invalid_scope',
  'invalid_target',
  'invalid_token',
  'insufficient_scope',
  'invalid_redirect_uri',
  'invalid_client_metadata',
])

/** Other errors have these names. Clients ask the user again at anything but the first, which says that they should wait. */
const NAMES_OF_CODES: Partial<Record<ErrorCode, ClientError>> = {
  unavailable: 'temporarily_unavailable',
  rate_limited: 'temporarily_unavailable',
  internal_error: 'server_error',
  unauthorized: 'invalid_client',
  forbidden: 'access_denied',
}

/** RFC 6749 section 5.2 has 400 for a request that cannot be read; a size or a method has its own status. */
const BAD_REQUESTS: ReadonlySet<ErrorCode> = new Set(['unsupported_media_type', 'unprocessable'])

/** RFC 6749 section 5.2 allows no other characters. */
const toDescription = (message: string): string => message.replaceAll(/["\\]/g, "'").replaceAll(/[^\x20-\x7e]/g, '?')

/** Gives the name by which a client learns of an error. */
export const oauthNameOf = ({ code, reason }: AppError): ClientError => {
  if (reason === TOKEN_MISSING) return 'invalid_token'
  return NAMES.has(reason as ClientError) ? (reason as ClientError) : (NAMES_OF_CODES[code] ?? 'invalid_request')
}

/** RFC 6750 section 3.1 has no name in the challenge where no token came. */
const TOKEN_MISSING = 'token_missing'

/** Answers an error of a route for clients, as OAuth spells it (RFC 6749 section 5.2). */
export const toOAuthResponse = (error: AppError, authorization: string | undefined): ContentResponse => {
  const { code, message, retryAfterSeconds } = error
  const name = oauthNameOf(error)
  const status = BAD_REQUESTS.has(code) ? 400 : statusOf(code)
  const body = JSON.stringify({ error: name, error_description: toDescription(message) })
  return { ...json(status, body), retryAfterSeconds, headers: challengeOf(name, error, authorization) }
}

/** A browser would ask its user for a name and a password at a challenge that is not for a program. */
const challengeOf = (name: string, { reason, message }: AppError, authorization = ''): string[] => {
  if (reason === TOKEN_MISSING) return ['www-authenticate', 'Bearer realm="svc"']
  if (name === 'invalid_token' || name === 'insufficient_scope') {
    const needed = name === 'insufficient_scope' ? ', scope="openid"' : ''
    const description = `error="${name}", error_description="${toDescription(message)}"`
    return ['www-authenticate', `Bearer realm="svc", ${description}${needed}`]
  }
  if (name !== 'invalid_client') return []
  const scheme = /^(basic|bearer) /i.exec(authorization)?.[1]?.toLowerCase()
  if (scheme === undefined) return []
  return ['www-authenticate', scheme === 'basic' ? 'Basic realm="svc", charset="UTF-8"' : 'Bearer realm="svc"']
}

/** Pages of any origin may read the answers: no cookie is looked at (Fetch standard, 3.2). */
export const ANY_ORIGIN: readonly string[] = Object.entries({
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'WWW-Authenticate, Retry-After',
}).flat()

/** Answers the question that a browser asks before such a request (Fetch standard, 3.2.2). */
export const PREFLIGHT_HEADERS: readonly string[] = Object.entries({
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers': 'Authorization, Content-Type, MCP-Protocol-Version',
  'access-control-max-age': '86400',
}).flat()
