import { toTimestamp } from '../../lib/time.ts'
import type { Session } from '../../sessions/sessions.ts'

/** A session as the server API shows it. */
export const toSessionJson = (session: Session) => ({
  id: session.id,
  user_id: session.userId,
  created_at: toTimestamp(session.createdAtMs),
  last_seen_at: toTimestamp(session.lastSeenAtMs),
  expires_at: toTimestamp(session.expiresAtMs),
  user_agent: session.userAgent,
  address: session.address,
})
