import type { AuthenticationMethod } from '../sessions/sign-in-grant.ts'

/** An authorization code is traded for a grant, once, within 60 seconds. Times are in milliseconds since 1970. */
export interface AuthorizationCode {
  clientId: string
  userId: string
  /** It was given in this session; it is undefined once that has ended, and the code is then good for nothing. */
  sessionId: string | undefined
  /** It was traded for this grant. */
  grantId: string | undefined
  redirectUri: string
  /** It is the S256 challenge of RFC 7636. */
  challenge: string
  scopes: readonly string[]
  resource: string | undefined
  nonce: string | undefined
  authenticatedAtMs: number | undefined
  amr: readonly AuthenticationMethod[]
  expiresAtMs: number
  usedAtMs: number | undefined
}

export const CODE_PREFIX = 'svc_ac_'
export const REFRESH_TOKEN_PREFIX = 'svc_rt_'
export const CLIENT_SECRET_PREFIX = 'svc_cs_'
export const CODE_LIFETIME_MS = 60_000
