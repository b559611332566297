import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { SvcUnavailableError } from '../svc-unavailable-error.ts'
import type { AuthSettings } from './settings.ts'

/** What an access token says. The session that it belongs to may have ended since. */
export interface AccessTokenClaims extends JWTPayload {
  iss: string
  /** The ID of the user. */
  sub: string
  aud: string
  /** The ID of the session. */
  sid: string
  roles: string[]
  email_verified: boolean
  /** When the user last authenticated, in seconds since 1970; missing where svc does not know. */
  auth_time?: number
  /** What they proved then (RFC 8176), such as `['pwd', 'otp', 'mfa']`; missing where svc does not know. */
  amr?: string[]
  iat: number
  exp: number
  jti: string
}

/** The token is expired, forged, of another audience or issuer, or no token at all; `cause` says which. */
export class AccessTokenError extends Error {
  override name = 'AccessTokenError'
}

/** How long keys may be kept: the `max-age` that svc gives them. */
const KEEP_KEYS_MS = 60_000
/** Tokens with made-up keys cause no more requests than this. */
const ASK_AGAIN_AFTER_MS = 5000

const REQUIRED_CLAIMS = ['sub', 'aud', 'sid', 'roles', 'iat', 'exp', 'jti']

/** Keys from svc. A failure to fetch them says nothing about the token. */
const createKeys = ({ requireUrl, timeoutMs }: AuthSettings): JWTVerifyGetKey => {
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

/** Verifies access tokens without asking svc each time; the keys are fetched at the first one and then cached. */
export const createVerifier = (settings: AuthSettings): ((token: string) => Promise<AccessTokenClaims>) => {
  let keys: JWTVerifyGetKey | undefined
  return async (token) => {
    const issuer = settings.requireIssuer()
    keys ??= createKeys(settings)
    const { audience } = settings
    const expected = { issuer, audience, algorithms: ['ES256'], typ: 'at+jwt', requiredClaims: REQUIRED_CLAIMS }
    try {
      const { payload } = await jwtVerify<AccessTokenClaims>(token, keys, expected)
      return payload
    } catch (cause) {
      if (cause instanceof SvcUnavailableError) throw cause
      throw new AccessTokenError('The access token is not valid.', { cause })
    }
  }
}
