import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import { currentTimeMs } from './lifetime.ts'
import type { SessionWithUser } from './session.ts'

/** How long an authentication counts as recent: short enough that the same person is still there. */
const RECENT_MS = 10 * 60_000

/** When the user of a session last authenticated, and the time by which that is judged. */
export type AuthenticationTime = Pick<SessionWithUser, 'authenticatedAtMs' | 'readAtMs'>

/** Whether the user has authenticated within the last ten minutes. */
export const isRecentlyAuthenticated = (session: AuthenticationTime, clock: Clock): boolean => {
  const { authenticatedAtMs } = session
  return authenticatedAtMs !== undefined && currentTimeMs(session, clock) - authenticatedAtMs < RECENT_MS
}

/** `forbidden` unless the user has authenticated within the last ten minutes (OWASP ASVS 5, 7.5.1). */
export const requireRecentAuthentication = (session: AuthenticationTime, clock: Clock): void => {
  if (isRecentlyAuthenticated(session, clock)) return
  throw new AppError('forbidden', 'Sign in again first, to confirm that it is you.', { reason: 'confirm_first' })
}
