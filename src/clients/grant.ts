import type { SessionWithUser } from '../sessions/session.ts'
import type { AuthenticationMethod } from '../sessions/sign-in-grant.ts'
import type { RefreshToken } from '../sessions/tokens/refresh-token.ts'

/** A grant is a session of a user with a client. Times are in milliseconds since 1970. */
export interface Grant {
  /** It is a UUID of version 7, and the claim `sid` of the tokens. */
  id: string
  userId: string
  clientId: string
  /** It ends with this session of a browser; it is undefined if it lives by itself. */
  sessionId: string | undefined
  salt: string
  generation: number
  replacedAtMs: number[]
  createdAtMs: number
  lastUsedAtMs: number
  expiresAtMs: number
  absoluteExpiresAtMs: number
  scopes: readonly string[]
  /** It is undefined if the tokens are for `userinfo` alone. */
  resource: string | undefined
  authenticatedAtMs: number | undefined
  amr: readonly AuthenticationMethod[]
}

/** The row with what tokens say about its user, and what ends it. */
export interface GrantWithUser extends Grant, Pick<SessionWithUser, 'newestKeyId' | 'readAtMs'> {
  user: Pick<SessionWithUser['user'], 'email' | 'emailVerified' | 'username' | 'roles' | 'disabled'> & {
    updatedAtMs: number
  }
  isClientDisabled: boolean
  /** It is undefined for a grant that lives by itself. */
  sessionExpiresAtMs: number | undefined
}

export interface CachedGrant {
  grant: GrantWithUser
  /** It is the refresh token of this generation, if this process has made it. */
  refreshToken: RefreshToken | undefined
}

export const YEAR_MS = 365 * 86_400_000

/** Tells whether a grant hangs on the session of the browser that has given it, and ends with that. */
export const hangsOnSession = (type: string, scopes: readonly string[]): boolean =>
  type === 'browser' || (scopes.includes('openid') && !scopes.includes('offline_access'))
