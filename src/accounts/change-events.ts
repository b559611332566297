import type { AuditEvent } from '../audit/audit-event.ts'
import type { Email } from '../lib/email-address.ts'
import type { UserChange } from '../lib/user-change.ts'
import type { UserRecord } from './user-store.ts'

/** What has changed of an email: it, and whether it is verified. */
export const changesOf = (before: UserRecord, email: Email, isVerified: boolean): UserChange[] => [
  ...(before.email === email.shown ? [] : ['email' as const]),
  ...((before.emailVerifiedAtMs !== undefined) === isVerified ? [] : ['email_verified' as const]),
]

interface ChangedUser {
  emailVerified?: boolean | undefined
  roles?: readonly string[] | undefined
  disabled?: boolean | undefined
}

/** The records of what has changed of a user; `user` says what is so now. */
export const changeEvents = (userId: string, changed: readonly UserChange[], user: ChangedUser = {}): AuditEvent[] => {
  const events: Record<UserChange, Pick<AuditEvent, 'type' | 'details'>> = {
    email: { type: 'email.changed' },
    username: { type: 'username.changed' },
    roles: { type: 'user.roles_changed', details: { roles: user.roles } },
    disabled: { type: user.disabled ? 'user.disabled' : 'user.enabled' },
    email_verified: { type: user.emailVerified === false ? 'email.unverified' : 'email.verified' },
  }
  // A new address is verified or not: that is part of its change.
  const told = changed.includes('email') ? changed.filter((each) => each !== 'email_verified') : changed
  return told.map((change) => ({ ...events[change], userId }))
}
