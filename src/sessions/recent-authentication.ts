import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import { currentTimeMs } from './lifetime.ts'
import type { SessionWithUser } from './session.ts'

/** How long an authentication counts as recent: short enough that the same person is still there. */
const RECENT_MS = 10 * 60_000

/** When the user of a session last authenticated, and the time by which that is judged. */
type AuthenticationTime = Pick<SessionWithUser, 'authenticatedAtMs' | 'readAtMs'>

export interface RecentAuthentication {
  /** Whether the user has authenticated within the last ten minutes. */
  isRecentlyAuthenticated(session: AuthenticationTime): boolean
  /** `forbidden` unless that is so (OWASP ASVS 5, 7.5.1). */
  requireRecentAuthentication(session: AuthenticationTime): void
}

export const createRecentAuthentication = (clock: Clock): RecentAuthentication => {
  const isRecentlyAuthenticated = (session: AuthenticationTime): boolean => {
    const { authenticatedAtMs } = session
    return authenticatedAtMs !== undefined && currentTimeMs(session, clock) - authenticatedAtMs < RECENT_MS
  }

  return {
    isRecentlyAuthenticated,
    requireRecentAuthentication(session) {
      if (isRecentlyAuthenticated(session)) return
      throw new AppError('forbidden', 'Sign in again first, to confirm that it is you.', { reason: 'confirm_first' })
    },
  }
}
