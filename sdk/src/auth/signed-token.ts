import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { SvcUnavailableError } from '../svc-unavailable-error.ts'
import type { AuthSettings } from './settings.ts'

/** The token is expired, forged, of another audience or issuer, or no token at all; `cause` says which. */
export class AccessTokenError extends Error {
  override name = 'AccessTokenError'
}

/** How long keys may be kept: the `max-age` that svc gives them. */
const KEEP_KEYS_MS = 60_000
/** Tokens with made-up keys cause no more requests than this. */
const ASK_AGAIN_AFTER_MS = 5000

type Source = Pick<AuthSettings, 'requireUrl' | 'timeoutMs'>

/** Keys from svc. A failure to fetch them says nothing about the token. */
const createKeys = ({ requireUrl, timeoutMs }: Source): JWTVerifyGetKey => {
  const url = requireUrl()
  const keys = createRemoteJWKSet(new URL('/auth/.well-known/jwks.json', url), {
    timeoutDuration: timeoutMs,
    cacheMaxAge: KEEP_KEYS_MS,
    cooldownDuration: ASK_AGAIN_AFTER_MS,
  })
  return async (header, token) => {
    try {
      return await keys(header, token)
    } catch (cause) {
      if (cause instanceof errors.JWKSNoMatchingKey) throw cause
      throw new SvcUnavailableError(`the keys of svc cannot be read from ${url}`, { cause })
    }
  }
}

/** What a kind of token must say. */
interface Expected {
  issuer: string
  audience?: string
  requiredClaims: string[]
}

/**
 * Reads access tokens that svc has signed. The keys are fetched at the first one and then cached. Throws
 * `AccessTokenError`, or `SvcUnavailableError` when the keys cannot be fetched.
 */
export const createTokenReader = <Claims extends JWTPayload>(
  source: Source,
): ((token: string, expected: Expected) => Promise<Claims>) => {
  let keys: JWTVerifyGetKey | undefined
  return async (token, expected) => {
    keys ??= createKeys(source)
    try {
      const { payload } = await jwtVerify<Claims>(token, keys, { ...expected, algorithms: ['ES256'], typ: 'at+jwt' })
      return payload
    } catch (cause) {
      if (cause instanceof SvcUnavailableError) throw cause
      throw new AccessTokenError('The access token is not valid.', { cause })
    }
  }
}
