import type { PageRequest } from '../../../directory/directory.ts'
import { readEmail } from '../../../lib/email-address.ts'
import { AppError } from '../../../lib/errors.ts'
import { isUuid } from '../../../lib/uuid.ts'
import type { Documentation } from '../../route.ts'
import type { Fields } from '../../transport/url-encoded.ts'

const MAX_IDS = 100
const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1000
const MAX_SEARCH = 254

/** RFC 3339 section 5.6, to the millisecond. */
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** Reads the query of `GET /auth/api/v2/users`; `invalid_request` with the field for a value that is not accepted. */
export const readUserQuery = (query: Fields): PageRequest => {
  const read = <Value>(name: string, parse: (text: string) => Value | undefined, expected: string) => {
    const text = query.get(name)
    if (text === undefined) return undefined
    const value = parse(text)
    if (value === undefined) throw refusal(name, expected)
    return value
  }
  return {
    ids: readIds(query.all('id')),
    emailLower: read('email', (text) => readEmail(text)?.lower, 'an email address'),
    username: read('username', matching(/^[a-z0-9_-]{3,30}$/i), 'a username')?.toLowerCase(),
    role: read('role', matching(/^[a-z0-9_:.-]{1,64}$/), 'one role'),
    disabled: read('disabled', readFlag, 'true or false'),
    search: read('search', readSearch, `1 to ${MAX_SEARCH} characters`),
    updatedSinceMs: read('updated_since', readTime, 'a time such as 2026-11-22T20:15:00Z; + is %2B in a query'),
    limit: read('limit', readLimit, `a number from 1 to ${MAX_LIMIT}`) ?? DEFAULT_LIMIT,
    cursor: query.get('cursor'),
  }
}

const refusal = (field: string, expected: string): AppError =>
  new AppError('invalid_request', `The query parameter "${field}" must be ${expected}.`, { field })

const readIds = (entered: string[]): string[] | undefined => {
  if (entered.length === 0) return undefined
  const ids = entered.map((id) => id.toLowerCase())
  if (ids.length > MAX_IDS || !ids.every(isUuid))
    throw refusal('id', `the id of a user, a UUID, at most ${MAX_IDS} times`)
  return ids
}

const matching =
  (pattern: RegExp) =>
  (text: string): string | undefined =>
    pattern.test(text) ? text : undefined

const readFlag = (text: string): boolean | undefined => {
  if (text === 'true') return true
  return text === 'false' ? false : undefined
}

/** PostgreSQL stores no NUL, and compares none. */
const readSearch = (text: string): string | undefined =>
  text.length >= 1 && text.length <= MAX_SEARCH && !text.includes('\0') ? text : undefined

const readTime = (text: string): number | undefined => {
  const timeMs = TIMESTAMP.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(timeMs) ? undefined : timeMs
}

const readLimit = (text: string): number | undefined => {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  return limit >= 1 && limit <= MAX_LIMIT ? limit : undefined
}

const parameter = (name: string, description: string, schema: object = { type: 'string' }) =>
  ({ name, in: 'query', required: false, description, schema: { ...schema } }) as const

export const USER_QUERY_PARAMETERS: NonNullable<Documentation['parameters']> = [
  parameter('id', 'Only these users; unknown ids are left out', {
    type: 'array',
    items: { type: 'string', format: 'uuid' },
    maxItems: MAX_IDS,
  }),
  parameter('email', 'Only the user with this email, in any letter case'),
  parameter('username', 'Only the user with this username'),
  parameter('role', 'Only users with this role'),
  parameter('disabled', 'Only users who are disabled, or who are not', { type: 'boolean' }),
  parameter('search', 'Only users with this text in email or username, in any letter case'),
  parameter('updated_since', 'Only users who were made or changed at this time or later', {
    type: 'string',
    format: 'date-time',
  }),
  parameter('limit', 'How many users a page holds at most', {
    type: 'integer',
    minimum: 1,
    maximum: MAX_LIMIT,
    default: DEFAULT_LIMIT,
  }),
  parameter('cursor', '`next_cursor` of the page before, with the same other parameters'),
]
