import type { AuditEvent, AuditType } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import type { Email } from '../lib/email-address.ts'
import { USER_CHANGES, type UserChange } from '../lib/user-change.ts'
import type { AccountNotice } from './account-notice.ts'
import type { SecurityEvent } from './security-events.ts'
import type { UserRecord } from './user-store.ts'

/** The new values, which were checked before. A value that is undefined stays. */
export interface Changes {
  email?: Email | undefined
  /** `true`: the address is known to be the user's. A new address is not verified unless this says so. */
  emailVerified?: boolean | undefined
  /** The address was verified at this time, before this change. */
  verifiedAtMs?: number | undefined
  username?: string | undefined
  /** `null` takes the name away. */
  name?: string | null | undefined
  language?: string | null | undefined
  roles?: string[] | undefined
  disabled?: boolean | undefined
  /** `null` takes the password away. */
  passwordHash?: string | null | undefined
  /** `true`: an operator makes the account one that waits for its user. Otherwise a password ends that. */
  invited?: boolean | undefined
}

export interface Consequences {
  /** This record comes before those of the changes. */
  first?: Pick<AuditEvent, 'type' | 'details'>
  /** This event is applied whatever has changed. */
  event?: SecurityEvent
  /** This event is applied to another address. The address that the account leaves can undo the change then. */
  emailEvent?: SecurityEvent
  /** This record tells of a password; without it, the first record does. */
  password?: AuditType
  passwordEvent?: SecurityEvent
  /** The user gets these notices by mail: `names` of username and name; `reclaim` says that the account is theirs now. */
  mailed: readonly ('names' | 'email' | 'password' | 'reclaim')[]
}

const RECLAIM = { event: 'taken_over', first: { type: 'identity.taken_over' } } as const

/**
 * THE table of causes: what each kind of change leads to. Whatever the cause, the record of each change of
 * `USER_CHANGES` is written, the application is told of all of them in one event, cached sessions of the user are
 * forgotten, and an account that is disabled has the security event `disabled`.
 */
// biome-ignore format: a table is read by its columns
export const CAUSES = {
  /** The user is signed in. */
  user:         { password: 'password.changed', passwordEvent: 'password_changed', mailed: ['names', 'password'] },
  /** An operator on the command line changes the user, or the application's backend. */
  operator:     { password: 'password.set',     passwordEvent: 'password_set',     mailed: ['names', 'email', 'password'], emailEvent: 'email_changed' },
  /** An operator changes the address, and the others may be a thief's: none of them gets a link. */
  theft:        { mailed: ['names', 'email'], event: 'email_taken_back', first: { type: 'email.change_cancelled', details: { reason: 'stolen' } } },
  /** The user has followed a link to the new address. */
  confirmation: { mailed: ['email'], emailEvent: 'email_changed' },
  /** The user has followed a link to the address that the account had before. */
  undo:         { password: 'password.reset',   mailed: ['email', 'password'], event: 'email_undone', first: { type: 'email.change_undone' } },
  /** The user has proved the account and its address, each by itself. */
  proof:        { mailed: [] },
  /** The user has followed a link for a new password. */
  reset:        { password: 'password.reset',   passwordEvent: 'password_reset',   mailed: ['password'] },
  /** The link of a notice takes the password away. Its event `not_me` was applied before. */
  not_me:       { mailed: [] },
  /** An operator invites the user again, who has not entered the account. */
  invitation:   { mailed: [] },
  /** The user enters an account to which they were invited. */
  entry:        { mailed: [], event: 'taken_over', first: { type: 'signup', details: { method: 'invitation' } } },
  /** The owner of the address is the first to prove it: by a provider, or because an operator invites them. */
  reclaim:                 { ...RECLAIM, mailed: [] },
  /** The owner has followed a link for a new password. */
  reclaim_by_reset:        { ...RECLAIM, password: 'password.reset', mailed: ['password'] },
  /** The owner has followed a link that verifies the address. */
  reclaim_by_verification: { ...RECLAIM, password: 'password.reset', mailed: ['reclaim'] },
  /** The owner has signed in by a code or a link in a message. */
  reclaim_by_sign_in:      { ...RECLAIM, mailed: ['reclaim'] },
} as const satisfies Record<string, Consequences>

/** Why a user changes. */
export interface Cause {
  by: keyof typeof CAUSES
  /** Left out for an operator on the command line. */
  caller?: Caller | undefined
  /** The session of the request stays. */
  sessionId?: string | undefined
  /** This has proved the address, for the first record: `link`, `invitation`, or the provider's name. */
  method?: string | undefined
  /** The link has set this, for the record of the password: `password`, or the provider's name. */
  signsInWith?: string | undefined
  /** The new address was asked for at this time; undefined means now. */
  askedAtMs?: number | undefined
  /** The change that is undone was asked for at this time. */
  sinceMs?: number | undefined
  /** Clients of the OAuth server have lost their access, by an event that was applied before. */
  applicationsEnded?: boolean | undefined
  /** An operator keeps the providers that a new password would disconnect. */
  keepsConnections?: boolean | undefined
}

export interface Moved {
  before: UserRecord
  after: UserRecord
}

export const changedUser = (before: UserRecord, changes: Changes, nowMs: number): UserRecord => {
  const { email = { shown: before.email, lower: before.emailLower }, passwordHash, invited } = changes
  const hasMoved = email.lower !== before.emailLower
  const formerAtMs = hasMoved ? undefined : before.emailVerifiedAtMs
  const verified = changes.emailVerified ?? formerAtMs !== undefined
  return {
    ...before,
    email: email.shown,
    emailLower: email.lower,
    // The first verification counts.
    emailVerifiedAtMs: verified ? (formerAtMs ?? changes.verifiedAtMs ?? nowMs) : undefined,
    username: changes.username ?? before.username,
    name: changes.name === undefined ? before.name : changes.name,
    language: changes.language === undefined ? before.language : changes.language,
    roles: changes.roles ?? before.roles,
    disabled: changes.disabled ?? before.disabled,
    passwordHash: passwordHash === undefined ? before.passwordHash : passwordHash,
    isSelfMade: before.isSelfMade && !invited,
    invitedAtMs: invited ? nowMs : passwordHash === undefined ? before.invitedAtMs : undefined,
  }
}

/** Finds what has really changed, as applications are told of it. */
export const changesOf = ({ before, after }: Moved): UserChange[] => {
  const isSame: Record<UserChange, boolean> = {
    email: before.email === after.email,
    username: before.username === after.username,
    name: before.name === after.name,
    language: before.language === after.language,
    roles: JSON.stringify(before.roles) === JSON.stringify(after.roles),
    disabled: before.disabled === after.disabled,
    email_verified: isVerified(before) === isVerified(after),
  }
  return USER_CHANGES.filter((each) => !isSame[each])
}

const isVerified = ({ emailVerifiedAtMs }: UserRecord): boolean => emailVerifiedAtMs !== undefined

/** Tells whether the address is another one, and not the same in other letters. */
export const hasMoved = ({ before, after }: Moved): boolean => before.emailLower !== after.emailLower

/** Makes the record that comes first, before those of what the event of the cause ends. */
export const firstRecord = ({ by, method }: Cause): AuditEvent | undefined => {
  const { first }: Consequences = CAUSES[by]
  return first && { ...first, details: first.details ?? (method === undefined ? undefined : { method }) }
}

/** Makes the records of the changes, in their order. */
export const recordsOf = (moved: Moved, changes: Changes, cause: Cause): AuditEvent[] => {
  const password = passwordRecord(moved, changes, cause)
  // The first record of an undone change tells of the address.
  return [...(cause.by === 'undo' ? [] : changeRecords(moved)), ...(password ? [password] : [])]
}

const changeRecords = (moved: Moved): AuditEvent[] => {
  const { after } = moved
  const changed = changesOf(moved)
  const records: Record<UserChange, AuditEvent> = {
    email: { type: 'email.changed' },
    // A new address is verified or not: that is part of its change.
    email_verified: { type: isVerified(after) ? 'email.verified' : 'email.unverified' },
    username: { type: 'username.changed' },
    name: { type: 'name.changed' },
    language: { type: 'language.changed' },
    roles: { type: 'user.roles_changed', details: { roles: after.roles } },
    disabled: { type: after.disabled ? 'user.disabled' : 'user.enabled' },
  }
  const told = changed.filter((each) => each !== 'email_verified' || !changed.includes('email'))
  const order = Object.keys(records)
  return told.toSorted((one, other) => order.indexOf(one) - order.indexOf(other)).map((each) => records[each])
}

const passwordRecord = (
  { before }: Moved,
  { passwordHash }: Changes,
  { by, signsInWith }: Cause,
): AuditEvent | undefined => {
  const { password }: Consequences = CAUSES[by]
  if (password === undefined || passwordHash === undefined) return undefined
  const isFirst = password === 'password.changed' && before.passwordHash === null
  const details = signsInWith === undefined ? undefined : { method: signsInWith }
  return { type: isFirst ? 'password.set' : password, details }
}

/** Makes the notices of a new username and a new name, which go to the address that the account had before. */
export const nameNoticesOf = ({ before, after }: Moved, { by }: Cause): AccountNotice[] => {
  const { mailed }: Consequences = CAUSES[by]
  if (!mailed.includes('names')) return []
  const { username: oldUsername } = before
  const { username: newUsername } = after
  return [
    ...(oldUsername === newUsername ? [] : [{ kind: 'username_changed', oldUsername, newUsername } as const]),
    ...(before.name === after.name ? [] : [{ kind: 'name_changed' } as const]),
  ]
}

/** Makes the other notices of a change, once all that it ends has ended. */
export const noticesOf = (
  moved: Moved,
  { passwordHash }: Changes,
  { by, applicationsEnded = false }: Cause,
): AccountNotice[] => {
  const { mailed, password }: Consequences = CAUSES[by]
  const { before, after } = moved
  const notices: AccountNotice[] = []
  if (mailed.includes('email') && hasMoved(moved))
    notices.push({ kind: 'email_changed', oldEmail: before.email, newEmail: after.email })
  // A provider or a passkey in place of the password has a notice of its own.
  if (mailed.includes('password') && typeof passwordHash === 'string') {
    const set = before.passwordHash === null ? 'set' : 'changed'
    notices.push({ kind: 'password_changed', how: password === 'password.reset' ? 'reset' : set, applicationsEnded })
  }
  if (mailed.includes('reclaim')) notices.push({ kind: 'account_taken_over', applicationsEnded })
  return notices
}
