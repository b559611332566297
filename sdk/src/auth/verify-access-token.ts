import type { JWTPayload } from 'jose'
import type { AuthSettings } from './settings.ts'
import { createTokenReader } from './signed-token.ts'

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

const REQUIRED_CLAIMS = ['sub', 'aud', 'sid', 'roles', 'iat', 'exp', 'jti']

/**
 * Verifies the access tokens of cookies without asking svc each time. Those of clients have another issuer, and
 * `requireToken` alone takes them.
 */
export const createVerifier = (settings: AuthSettings): ((token: string) => Promise<AccessTokenClaims>) => {
  const read = createTokenReader<AccessTokenClaims>(settings)
  return async (token) =>
    read(token, {
      issuer: settings.requireIssuer(),
      audience: settings.audience,
      requiredClaims: REQUIRED_CLAIMS,
    })
}
