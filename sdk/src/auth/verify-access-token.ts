import type { JWTPayload } from 'jose'
import { createAdmission } from '../revocations/admission.ts'
import type { Feed } from '../revocations/feed.ts'
import { SvcUnavailableError } from '../svc-unavailable-error.ts'
import { findUser } from './find-user.ts'
import type { AuthSettings } from './settings.ts'
import { createTokenReader } from './signed-token.ts'

/** What an access token says. Without the revocation feed, the session that it belongs to may have ended since. */
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

/** Asks svc as the user would. Resolves to the claims that are true now, or to null where the session has ended. */
const createQuestion =
  (settings: AuthSettings) =>
  async (
    token: string,
    { sub, sid, email_verified }: AccessTokenClaims,
  ): Promise<Partial<AccessTokenClaims> | null> => {
    // svc looks for one of the names, by its settings, and at no other.
    const user = await findUser(settings, { headers: { cookie: `svc_access=${token}; __Host-svc_access=${token}` } })
    if (!user) return null
    if (user.id !== sub || user.sid !== sid) throw new SvcUnavailableError('svc answered about another session')
    return { roles: user.roles, email_verified: user.emailVerified ?? email_verified }
  }

/**
 * Verifies the access tokens of cookies without asking svc each time. Those of clients have another issuer, and
 * `requireToken` alone takes them. With the revocation feed, those of ended sessions are refused.
 */
export const createVerifier = (
  settings: AuthSettings,
  requireFeed: () => Feed,
): ((token: string) => Promise<AccessTokenClaims>) => {
  const read = createTokenReader<AccessTokenClaims>(settings)
  const { revocations } = settings
  const admit = revocations && createAdmission({ requireFeed, stale: revocations.stale, ask: createQuestion(settings) })
  return async (token) => {
    const claims = await read(token, {
      issuer: settings.requireIssuer(),
      audience: settings.audience,
      requiredClaims: REQUIRED_CLAIMS,
    })
    return admit ? admit(token, claims) : claims
  }
}
