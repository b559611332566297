import { toTimestamp } from '../lib/time.ts'
import type { AuthenticationMethod } from './sign-in-grant.ts'
import type { RefreshToken } from './tokens/refresh-token.ts'

/*
 * One session has four forms, each made of the one before it:
 *
 * - `Session`: the row.
 * - `SessionWithUser`: the row with what requests need of its user.
 * - `AuthenticatedSession`: what handlers are told about who is signed in; no secret of the row is in it.
 * - `CachedSession`: the second and the third together, remembered for the next request, with the refresh token that
 *   was made for the session.
 */

/** The row says that a user is signed in with one browser. Times are in milliseconds since 1970. */
export interface Session {
  /** It is a UUID of version 7, so that ids are in order of creation. */
  id: string
  userId: string
  /** The refresh tokens of this session are made with it, beside a key. */
  salt: string
  /** It is the number of the refresh token that is good now. */
  generation: number
  /** The tokens before `generation` were replaced at these times, the latest last. */
  replacedAtMs: number[]
  createdAtMs: number
  lastSeenAtMs: number
  /** The session ends at this time unless it is refreshed. */
  expiresAtMs: number
  /** The session ends at this time even if it is refreshed. */
  absoluteExpiresAtMs: number
  userAgent: string
  address: string
  /** The user last authenticated at this time, as far as it is known. */
  authenticatedAtMs: number | undefined
  /** They proved this then; it is empty if it is not known. */
  amr: readonly AuthenticationMethod[]
  /** They authenticated by this provider, as the settings name it. */
  provider: string | undefined
  /** It is the hash of the secret in the browser's cookie. */
  deviceHash: string
}

export interface SessionWithUser extends Session {
  user: {
    email: string
    username: string
    /** It is undefined if there are no names here (`SVC_NAMES`). */
    name: string | null | undefined
    /** It is null until it is known. */
    language: string | null
    roles: string[]
    disabled: boolean
    createdAtMs: number
    /** It tells whether it was ever proved that the email is the user's. */
    emailVerified: boolean
  }
  /** It is the newest signing key, read with the row: it tells whether the keys have changed. */
  newestKeyId: string
  /** It is the time of the database's server as the row was read; it is undefined if there is no server. */
  readAtMs: number | undefined
}

/** It says when and how the user of a session last authenticated, and gives the time by which that is judged. */
export type SessionAuthentication = Pick<
  SessionWithUser,
  'userId' | 'authenticatedAtMs' | 'amr' | 'provider' | 'readAtMs'
>

/** A user is signed in, in this session. */
export interface AuthenticatedSession
  extends SessionAuthentication,
    Pick<Session, 'deviceHash' | 'expiresAtMs'>,
    Omit<SessionWithUser['user'], 'disabled'> {
  sessionId: string
  /** It is the user as JSON, ready to be sent (`GET /auth/api/v1/user`). */
  userJson: string
}

export interface CachedSession {
  session: SessionWithUser
  authenticated: AuthenticatedSession
  /** It is the refresh token of this generation, if this process has made it. */
  refreshToken: RefreshToken | undefined
}

/** Prepares the data for handlers once for each reading of the row, and not for each request. */
export const toCachedSession = (session: SessionWithUser): CachedSession => ({
  session,
  authenticated: toAuthenticatedSession(session),
  refreshToken: undefined,
})

const toAuthenticatedSession = (session: SessionWithUser): AuthenticatedSession => {
  const { id, userId, authenticatedAtMs, amr, provider, deviceHash, expiresAtMs, readAtMs, user } = session
  const { email, emailVerified, username, name, language, roles, disabled, createdAtMs } = user
  const userJson = JSON.stringify({
    id: userId,
    email,
    username,
    name,
    roles,
    disabled,
    created_at: toTimestamp(createdAtMs),
  })
  return {
    sessionId: id,
    userId,
    email,
    emailVerified,
    username,
    name,
    language,
    roles,
    createdAtMs,
    authenticatedAtMs,
    amr,
    provider,
    expiresAtMs,
    readAtMs,
    deviceHash,
    userJson,
  }
}
