import type { Email } from '../../lib/email-address.ts'
import { AppError, checkAll } from '../../lib/errors.ts'
import { isUuid } from '../../lib/uuid.ts'
import { type NewUserRules, requireNewUser } from '../registration.ts'
import { booleanOf, countOf, objectOf, stringListOf, stringOf, type UserFields, wrong } from './fields.ts'
import { type ImportedIdentity, requireIdentities } from './imported-identity.ts'

/** One user of a file was checked. All of it can be written as JSON. */
export interface ImportedUser {
  /** The id of the file is kept when it is a UUID, and otherwise only told together with the id that the user gets. */
  sourceId: string | undefined
  email: Email
  /** Undefined: svc makes one from the email. */
  username: string | undefined
  name: string | null
  language: string | null
  roles: string[]
  /** It has its normal form, and is hashed before the user is inserted. */
  password: string | undefined
  passwordHash: string | undefined
  emailVerified: boolean
  disabled: boolean
  /** Undefined: the account is created when it is imported. */
  createdAtMs: number | undefined
  identities: ImportedIdentity[]
  /** The file names these and does not hold them. */
  lost: ('second factors' | 'passkeys' | 'names')[]
}

export interface ImportRules extends NewUserRules {
  /** `unprocessable` for a hash that nobody could log in with. */
  parsePasswordHash: (text: string) => unknown
  /** The issuer of a configured provider whose users all have the same. */
  issuerOf: (provider: string) => string | undefined
  nowMs: number
  /** The hashes of the file do not count. */
  withoutHashes: boolean
  /** Another system has written the file: a name that svc does not accept is left out. */
  isForeign?: boolean | undefined
}

const NAMES = [
  'id',
  'email',
  'username',
  'name',
  'language',
  'roles',
  'password',
  'password_hash',
  'email_verified',
  'disabled',
  'created_at',
  'identities',
  'second_factors',
  'passkeys',
  'invite',
]

const MAX_ID_LENGTH = 255
/** A clock that is ahead is no reason to refuse a user. */
const MAX_AHEAD_MS = 24 * 3_600_000

/** Reads the id of an imported user, if it is kept. */
export const keptId = (sourceId: string | undefined): string | undefined => {
  const lower = sourceId?.toLowerCase()
  return isUuid(lower) ? lower : undefined
}

/** Checks one line of a file; `unprocessable` with a field, and with the other fields that break a rule in `others`. */
export const requireImportedUser = async (value: unknown, rules: ImportRules): Promise<ImportedUser> => {
  const fields = objectOf(value, 'A user is a JSON object such as {"email":"ada@example.com"}.')
  const { unknown: _unknown, invite: _invite, name, ...user } = checkAll(checksOf(fields, rules))
  const losesName = name !== undefined && leavesOut(name, rules)
  const named = { name: losesName ? undefined : name, isNamedLater: true }
  const lost: ImportedUser['lost'] = [...user.lost, ...(losesName ? (['names'] as const) : [])]
  return { ...user, lost, ...(await requireNewUser({ ...user, ...named }, rules)) }
}

const leavesOut = (name: string, { names, isForeign }: ImportRules): boolean =>
  (isForeign || names.mode === 'off') && names.accept(name) === null

const checksOf = (fields: UserFields, rules: ImportRules) => ({
  unknown: () => requireKnownNames(fields),
  sourceId: () => requireSourceId(fields),
  email: () => stringOf(fields, 'email') ?? '',
  username: () => stringOf(fields, 'username'),
  name: () => stringOf(fields, 'name') || undefined,
  language: () => stringOf(fields, 'language') || undefined,
  roles: () => stringListOf(fields, 'roles'),
  password: () => stringOf(fields, 'password'),
  passwordHash: () => requireHash(fields, rules),
  emailVerified: () => booleanOf(fields, 'email_verified') ?? false,
  disabled: () => booleanOf(fields, 'disabled') ?? false,
  createdAtMs: () => requireTime(fields, rules.nowMs),
  identities: () => requireIdentities(fields.identities, rules.issuerOf),
  lost: () => readLost(fields),
  invite: () => {
    if (booleanOf(fields, 'invite')) {
      throw wrong('invite', 'An import invites nobody. Leave it out, and use svc users invite for this address.')
    }
  },
})

const readLost = (fields: UserFields): ImportedUser['lost'] => [
  ...(stringListOf(fields, 'second_factors')?.length ? (['second factors'] as const) : []),
  ...(countOf(fields, 'passkeys') ? (['passkeys'] as const) : []),
]

const requireKnownNames = (fields: UserFields): void => {
  const unknown = Object.keys(fields).filter((name) => !NAMES.includes(name))
  const [first] = unknown
  if (first === undefined) return
  throw wrong(first.slice(0, 40), `There is no such field. A user has ${NAMES.slice(0, -1).join(', ')}.`)
}

const requireSourceId = (fields: UserFields): string | undefined => {
  const id = stringOf(fields, 'id')
  if (id === undefined) return undefined
  if (id !== '' && id.length <= MAX_ID_LENGTH && !/\p{Cc}/u.test(id)) return id
  throw wrong('id', `An id has 1 to ${MAX_ID_LENGTH} characters, and no control characters.`)
}

const requireHash = (fields: UserFields, { parsePasswordHash, withoutHashes }: ImportRules): string | undefined => {
  const hash = stringOf(fields, 'password_hash')
  if (hash === undefined || withoutHashes) return undefined
  if (stringOf(fields, 'password') !== undefined)
    throw wrong('password_hash', 'Give password or password_hash, not both.')
  parsePasswordHash(hash)
  return hash
}

/** RFC 3339 section 5.6: without an offset, the time would depend on where the command runs. */
const TIMESTAMP = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d(?::?\d\d)?)$/

const requireTime = (fields: UserFields, nowMs: number): number | undefined => {
  const text = stringOf(fields, 'created_at')
  if (text === undefined) return undefined
  const timeMs = TIMESTAMP.test(text) ? Date.parse(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00')) : Number.NaN
  if (timeMs >= 0 && timeMs <= nowMs + MAX_AHEAD_MS) return timeMs
  throw new AppError(
    'unprocessable',
    'A time is written like 2026-11-21T10:47:00.123Z, from 1970 on and not in the future.',
    { field: 'created_at' },
  )
}
