import { toTimestamp } from '../lib/time.ts'
import { toMinute } from './terminal/output.ts'
import type { Column } from './terminal/table.ts'
import type { User } from './with-core.ts'

/** A user as the API gives it (specification section 2.1), and whether the address was ever proved to be theirs. */
export const userToJson = (user: User) => ({
  id: user.id,
  email: user.email,
  username: user.username,
  roles: user.roles,
  disabled: user.disabled,
  created_at: toTimestamp(user.createdAtMs),
  email_verified: isEmailProved(user),
})

const isEmailProved = ({ emailVerifiedAtMs }: User): boolean => emailVerifiedAtMs !== undefined

const provedText = ({ emailVerifiedAtMs }: User): string =>
  emailVerifiedAtMs === undefined
    ? 'no: the person who made the account may not own it'
    : `since ${toMinute(emailVerifiedAtMs)} UTC`

const disabledText = ({ disabled }: User): string => (disabled ? 'yes' : 'no')
const disabledTone = ({ disabled }: User) => (disabled ? 'red' : undefined)

export const USER_COLUMNS: Column<User>[] = [
  // Ids begin with the time of creation: what tells them apart is at the end.
  { title: 'id', value: ({ id }) => id, least: 9, keeps: 'end' },
  { title: 'email', value: ({ email }) => email, least: 16 },
  { title: 'username', value: ({ username }) => username, least: 8 },
  { title: 'roles', value: ({ roles }) => roles.join(' '), least: 6, optional: true },
  { title: 'disabled', value: disabledText, tone: disabledTone, optional: true },
  { title: 'created (UTC)', value: ({ createdAtMs }) => toMinute(createdAtMs), optional: true },
]

interface Circumstances {
  sessions: number
  /** `password`, and the names of providers. */
  waysToSignIn: string[]
}

export const userRecord = (user: User, { sessions, waysToSignIn }: Circumstances): (readonly [string, string])[] => [
  ['id', user.id],
  ['email', user.email],
  ['email proved', provedText(user)],
  ['username', user.username],
  ['roles', user.roles.join(' ') || '(none)'],
  ['disabled', disabledText(user)],
  ['created (UTC)', toMinute(user.createdAtMs)],
  ['signs in by', waysToSignIn.join(', ') || '(nothing)'],
  ['sessions', String(sessions)],
]
