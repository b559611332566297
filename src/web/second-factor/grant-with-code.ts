import type { Clock } from '../../lib/time.ts'
import { type AuthenticatedSession, currentTimeMs, type SignInGrant } from '../../sessions/sessions.ts'

/**
 * For the session that follows one in which the user has entered a code: with both factors in its `amr`, and the time of
 * the first, since nothing that was proved may be older than that. The caller's transaction checks the session.
 */
export const grantWithCode = (session: AuthenticatedSession, clock: Clock): SignInGrant => {
  const { userId, amr, authenticatedAtMs, provider } = session
  const ageMs = authenticatedAtMs === undefined ? undefined : currentTimeMs(session, clock) - authenticatedAtMs
  return {
    userId,
    authenticatedAtMs: ageMs === undefined ? undefined : clock.now() - ageMs,
    // A passkey is more than one factor by itself. Where it is not known what was proved, a code alone is not more.
    amr: amr.length === 0 || amr.includes('mfa') ? amr : [...amr, 'otp', 'mfa'],
    provider,
    isStillValid: async () => true,
  }
}
