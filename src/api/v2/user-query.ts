import type { PageRequest } from '../../accounts/directory/directory.ts'
import { readEmail } from '../../lib/email-address.ts'
import { readTimestamp } from '../../lib/time.ts'
import { isUuid } from '../../lib/uuid.ts'
import type { Documentation } from '../../http/route.ts'
import type { Fields } from '../../http/body/form.ts'
import { createQueryReader, limitParameter, parameter, readLimit, refusal, TIME_EXPECTED } from './list-query.ts'

const MAX_IDS = 100
const MAX_SEARCH = 254

/**
 * Reads the query of `GET /auth/api/v2/users`; throws `invalid_request`, with the field, for a value that is not
 * accepted.
 */
export const readUserQuery = (query: Fields): PageRequest => {
  const read = createQueryReader(query)
  return {
    ids: readIds(query.all('id')),
    emailLower: read('email', (text) => readEmail(text)?.lower, 'an email address'),
    username: read('username', matching(/^[a-z0-9_-]{3,30}$/i), 'a username')?.toLowerCase(),
    role: read('role', matching(/^[a-z0-9_:.-]{1,64}$/), 'one role'),
    disabled: read('disabled', readFlag, 'true or false'),
    search: read('search', readSearch, `1 to ${MAX_SEARCH} characters`),
    updatedSinceMs: read('updated_since', readTimestamp, TIME_EXPECTED),
    limit: readLimit(query),
    cursor: query.get('cursor'),
  }
}

const readIds = (entered: readonly string[]): string[] | undefined => {
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
  parameter('search', 'Only users with this text in email, username or name, in any letter case'),
  parameter('updated_since', 'Only users who were made or changed at this time or later', {
    type: 'string',
    format: 'date-time',
  }),
  limitParameter('users'),
  parameter('cursor', '`next_cursor` of the page before, with the same other parameters'),
]
