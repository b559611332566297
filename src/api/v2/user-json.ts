import type { DirectoryUser } from '../../accounts/directory/directory.ts'
import { toTimestamp } from '../../lib/time.ts'

/** A user of the server API (CONTRACT.md 10.5). */
export const directoryUserToJson = (user: DirectoryUser) => ({
  id: user.id,
  email: user.email,
  username: user.username,
  roles: user.roles,
  disabled: user.disabled,
  created_at: toTimestamp(user.createdAtMs),
  email_verified: user.emailVerifiedAtMs !== undefined,
  updated_at: toTimestamp(user.updatedAtMs),
  last_seen_at: user.lastSeenAtMs === undefined ? null : toTimestamp(user.lastSeenAtMs),
  has_password: user.hasPassword,
  identities: user.identities.map(({ provider, issuer, subject, email = null }) => ({
    provider,
    issuer,
    subject,
    email,
  })),
  second_factors: user.hasCodes ? ['totp'] : [],
  passkeys: user.passkeys,
})
