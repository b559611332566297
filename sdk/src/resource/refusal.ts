import type { SvcUnavailableError } from '../svc-unavailable-error.ts'
import type { Answer } from './handler.ts'

/** What the header `WWW-Authenticate` tells a client: where it gets a token, and for what. */
export interface Challenge {
  metadata: URL
  scopes: readonly string[]
}

const refuse = (status: number, headers: Record<string, string>, error: string, description: string): Answer => ({
  status,
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
  body: JSON.stringify({ error, error_description: description }),
})

/** RFC 6750 section 3, with RFC 9728 section 5.1. */
const challenge = ({ metadata, scopes }: Challenge, error?: string): Record<string, string> => {
  const scope = scopes.length > 0 ? `, scope="${scopes.join(' ')}"` : ''
  const problem = error === undefined ? '' : `, error="${error}"`
  return { 'www-authenticate': `Bearer resource_metadata="${metadata}"${scope}${problem}` }
}

/** For a request without a token: it has no error (RFC 6750 section 3.1). */
export const refuseWithoutToken = (needed: Challenge): Answer =>
  refuse(401, challenge(needed), 'unauthorized', 'This needs an access token, in the header Authorization.')

/** For a token that is expired, forged, or for something else. */
export const refuseToken = (needed: Challenge): Answer =>
  refuse(401, challenge(needed, 'invalid_token'), 'invalid_token', 'The access token is not valid here.')

/** For a good token to which the user has allowed less. */
export const refuseScope = (needed: Challenge): Answer =>
  refuse(
    403,
    challenge(needed, 'insufficient_scope'),
    'insufficient_scope',
    `The access token needs the scope ${needed.scopes.join(' ')}.`,
  )

/** While svc cannot be asked. Clients try again, and keep their tokens. */
export const refuseDuringOutage = ({ retryAfter }: SvcUnavailableError): Answer =>
  refuse(
    503,
    { 'retry-after': String(retryAfter) },
    'temporarily_unavailable',
    'The authentication service is not available.',
  )
