import { toTimestamp } from '../lib/time.ts'
import type { LinkedIdentity } from '../oauth/oauth.ts'
import type { AccountFactors } from '../second-factor/second-factors.ts'
import type { User } from '../accounts/accounts.ts'
import type { Core } from './command/with-core.ts'
import type { Column } from './terminal/table.ts'
import { countText, safeText, timestampOrNull, toMinute } from './terminal/text.ts'

/** A user looks as in the API, with some fields that only operators see. */
export const userToJson = (user: User) => ({
  id: user.id,
  email: user.email,
  username: user.username,
  name: user.name,
  language: user.language,
  roles: user.roles,
  disabled: user.disabled,
  created_at: toTimestamp(user.createdAtMs),
  email_verified: user.emailVerifiedAtMs !== undefined,
  self_made: user.isSelfMade,
  invited: user.invitedAtMs !== undefined,
})

const disabledText = ({ disabled }: User): string => (disabled ? 'yes' : 'no')

export const USER_COLUMNS: Column<User>[] = [
  // Ids begin with the time of creation, so the end tells them apart.
  { title: 'id', value: ({ id }) => id, minWidth: 9, keeps: 'end' },
  { title: 'email', value: ({ email }) => email, minWidth: 16 },
  { title: 'username', value: ({ username }) => username, minWidth: 8 },
  { title: 'roles', value: ({ roles }) => roles.join(' '), minWidth: 6, optional: true },
  {
    title: 'disabled',
    value: disabledText,
    tone: ({ disabled }) => (disabled ? 'red' : undefined),
    optional: true,
  },
  { title: 'created (UTC)', value: ({ createdAtMs }) => toMinute(createdAtMs), optional: true },
]

/** Finds the names of a user's passkeys; none where there are no passkeys (`SVC_PASSKEYS`). */
export const passkeyNamesOf = async ({ passkeys }: Core, userId: string): Promise<string[]> =>
  passkeys.isOn ? (await passkeys.list(userId)).map(({ name }) => safeText(name)) : []

export const passkeysText = (names: string[]): string => `${countText(names.length, 'passkey')} (${names.join(', ')})`

export interface AccountDetails {
  sessions: number
  password: boolean
  identities: LinkedIdentity[]
  passkeyNames: string[]
  factors: AccountFactors
}

export const shownToJson = (user: User, { factors, ...details }: AccountDetails) => ({
  ...userToJson(user),
  second_factors: factors.codes ? ['totp'] : [],
  recovery_codes: factors.recoveryCodes,
  passkeys: factors.passkeys,
  email_verified_at: timestampOrNull(user.emailVerifiedAtMs),
  invited_at: timestampOrNull(user.invitedAtMs),
  has_password: details.password,
  identities: details.identities.map(({ provider, email }) => ({ provider, email: email ?? null })),
  passkey_names: details.passkeyNames,
  sessions: details.sessions,
})

const verifiedText = ({ emailVerifiedAtMs, isSelfMade }: User): string => {
  if (emailVerifiedAtMs !== undefined) return `since ${toMinute(emailVerifiedAtMs)} UTC`
  return isSelfMade ? 'no: the person who created the account may not own it' : 'no'
}

const originText = ({ isSelfMade, invitedAtMs }: User): string => {
  if (invitedAtMs !== undefined) return `an invitation of ${toMinute(invitedAtMs)} UTC; nobody has entered it yet`
  return isSelfMade ? 'its user' : 'an operator'
}

/** `google (ada@example.com)` */
export const providerText = ({ provider, email }: Pick<LinkedIdentity, 'provider' | 'email'>): string =>
  email === undefined ? provider : `${provider} (${email})`

const signInText = ({ password, identities, passkeyNames }: AccountDetails): string =>
  [
    ...(password ? ['password'] : []),
    ...identities.map(providerText),
    ...(passkeyNames.length > 0 ? [passkeysText(passkeyNames)] : []),
  ].join(', ') || '(nothing)'

const secondFactorText = ({ codes, passkeys, recoveryCodes }: AccountFactors): string =>
  [
    ...(codes ? ['one-time codes'] : []),
    ...(codes || passkeys > 0 ? [`${countText(recoveryCodes, 'recovery code')} left`] : []),
  ].join(', ') || '(none)'

export const userRecord = (user: User, details: AccountDetails): (readonly [string, string])[] => [
  ['id', user.id],
  ['email', user.email],
  ['email verified', verifiedText(user)],
  ['username', user.username],
  ...(user.name === null ? [] : [['name', safeText(user.name)] as const]),
  ...(user.language === null ? [] : [['language', user.language] as const]),
  ['roles', user.roles.join(' ') || '(none)'],
  ['disabled', disabledText(user)],
  ['created (UTC)', toMinute(user.createdAtMs)],
  ['made by', originText(user)],
  ['signs in with', signInText(details)],
  ['second factor', secondFactorText(details.factors)],
  ['sessions', String(details.sessions)],
]
