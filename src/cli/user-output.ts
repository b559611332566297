import { toTimestamp } from '../lib/time.ts'
import type { LinkedIdentity } from '../oauth/oauth.ts'
import type { AccountFactors } from '../second-factor/second-factors.ts'
import type { User } from '../accounts/accounts.ts'
import { toMinute } from './terminal/output.ts'
import type { Column } from './terminal/table.ts'

/** A user as in the API, with what only operators see. */
export const userToJson = (user: User) => ({
  id: user.id,
  email: user.email,
  username: user.username,
  roles: user.roles,
  disabled: user.disabled,
  created_at: toTimestamp(user.createdAtMs),
  email_verified: user.emailVerifiedAtMs !== undefined,
  self_made: user.isSelfMade,
  invited: user.invitedAtMs !== undefined,
})

const verifiedText = ({ emailVerifiedAtMs, isSelfMade }: User): string => {
  if (emailVerifiedAtMs !== undefined) return `since ${toMinute(emailVerifiedAtMs)} UTC`
  return isSelfMade ? 'no: the person who created the account may not own it' : 'no'
}

const originText = ({ isSelfMade, invitedAtMs }: User): string => {
  if (invitedAtMs !== undefined) return `an invitation of ${toMinute(invitedAtMs)} UTC; nobody has entered it yet`
  return isSelfMade ? 'its user' : 'an operator'
}

const disabledText = ({ disabled }: User): string => (disabled ? 'yes' : 'no')
const disabledTone = ({ disabled }: User) => (disabled ? 'red' : undefined)

export const USER_COLUMNS: Column<User>[] = [
  // Ids begin with the time of creation, so the end tells them apart.
  { title: 'id', value: ({ id }) => id, minWidth: 9, keeps: 'end' },
  { title: 'email', value: ({ email }) => email, minWidth: 16 },
  { title: 'username', value: ({ username }) => username, minWidth: 8 },
  { title: 'roles', value: ({ roles }) => roles.join(' '), minWidth: 6, optional: true },
  { title: 'disabled', value: disabledText, tone: disabledTone, optional: true },
  { title: 'created (UTC)', value: ({ createdAtMs }) => toMinute(createdAtMs), optional: true },
]

/** What `svc users show` finds about an account. */
export interface AccountDetails {
  sessions: number
  /** Whether the user can sign in with one. */
  password: boolean
  identities: LinkedIdentity[]
  passkeyNames: string[]
  factors: AccountFactors
}

const toTime = (epochMs: number | undefined): string | null => (epochMs === undefined ? null : toTimestamp(epochMs))

const signInText = ({ password, identities, passkeyNames }: AccountDetails): string =>
  [
    ...(password ? ['password'] : []),
    ...identities.map(({ provider, email }) => (email === undefined ? provider : `${provider} (${email})`)),
    ...(passkeyNames.length > 0 ? [passkeysText(passkeyNames)] : []),
  ].join(', ') || '(nothing)'

/** What `svc users show` adds to a user: all that it tells people. */
export const shownToJson = (user: User, { sessions, password, identities, passkeyNames }: AccountDetails) => ({
  email_verified_at: toTime(user.emailVerifiedAtMs),
  invited_at: toTime(user.invitedAtMs),
  has_password: password,
  identities: identities.map(({ provider, email }) => ({ provider, email: email ?? null })),
  passkey_names: passkeyNames,
  sessions,
})

/** What else a user has, as far as the settings allow it. */
export const factorsToJson = ({ codes, recoveryCodes, passkeys }: AccountFactors) => ({
  second_factors: codes ? ['totp'] : [],
  recovery_codes: recoveryCodes,
  passkeys,
})

export const passkeysText = (names: string[]): string =>
  `${names.length === 1 ? '1 passkey' : `${names.length} passkeys`} (${names.join(', ')})`

const recoveryText = ({ recoveryCodes }: AccountFactors): string =>
  recoveryCodes === 1 ? '1 recovery code left' : `${recoveryCodes} recovery codes left`

const secondFactorText = (factors: AccountFactors): string =>
  [
    ...(factors.codes ? ['one-time codes'] : []),
    ...(factors.codes || factors.passkeys > 0 ? [recoveryText(factors)] : []),
  ].join(', ') || '(none)'

export const userRecord = (user: User, details: AccountDetails): (readonly [string, string])[] => [
  ['id', user.id],
  ['email', user.email],
  ['email verified', verifiedText(user)],
  ['username', user.username],
  ['roles', user.roles.join(' ') || '(none)'],
  ['disabled', disabledText(user)],
  ['created (UTC)', toMinute(user.createdAtMs)],
  ['made by', originText(user)],
  ['signs in with', signInText(details)],
  ['second factor', secondFactorText(details.factors)],
  ['sessions', String(details.sessions)],
]
