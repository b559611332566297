import { toTimestamp } from '../lib/time.ts'
import type { SessionOfUser } from './session-store.ts'

/** Who is signed in, in which session. */
export interface AuthenticatedSession {
  sessionId: string
  userId: string
  email: string
  username: string
  createdAtMs: number
  /** When he was last seen to prove who he is; undefined when that was not said. */
  authenticatedAtMs: number | undefined
  /** When the session ends if nothing happens. */
  expiresAtMs: number
  /** The time of the database's server as that was read; undefined where there is no server. */
  readAtMs: number | undefined
  /** The user as JSON, ready to be sent (`GET /auth/api/v1/user`). */
  userJson: string
}

export const toAuthenticatedSession = ({
  id,
  userId,
  authenticatedAtMs,
  expiresAtMs,
  readAtMs,
  user,
}: SessionOfUser): AuthenticatedSession => ({
  sessionId: id,
  userId,
  email: user.email,
  username: user.username,
  createdAtMs: user.createdAtMs,
  authenticatedAtMs,
  expiresAtMs,
  readAtMs,
  userJson: JSON.stringify({
    id: userId,
    email: user.email,
    username: user.username,
    roles: user.roles,
    disabled: user.disabled,
    created_at: toTimestamp(user.createdAtMs),
  }),
})
