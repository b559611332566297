import { randomInt } from 'node:crypto'
import { AppError } from '../lib/errors.ts'

const MIN_LENGTH = 3
const MAX_LENGTH = 30
const USERNAME = /^[a-z0-9_-]{3,30}$/

/** Reads a username, lower-cased: 3 to 30 of `a-z 0-9 _ -`; `unprocessable` on field `username`. */
export const requireUsername = (entered: string): string => {
  // Checked before as well as after: some letters outside ASCII become ASCII when lower-cased (the Kelvin sign).
  const lower = /^[\x20-\x7e]*$/.test(entered) ? entered.toLowerCase() : ''
  if (USERNAME.test(lower)) return lower
  throw new AppError('unprocessable', 'A username has 3 to 30 of the characters a-z, 0-9, _ and -.', {
    field: 'username',
    reason: 'username_invalid',
  })
}

/** What stands before the `@`. */
export const localPart = (email: string): string => email.slice(0, email.indexOf('@'))

/** A username made from a name such as "José Álvarez" or "jo@example.com"; undefined when too little is left of it. */
export const usernameFrom = (name: string): string | undefined => {
  const [text = ''] = name.split('@')
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  const username = plain
    .replace(/[^a-z0-9_]+/g, '-')
    .slice(0, MAX_LENGTH)
    .replace(/^-+|-+$/g, '')
  return username.length >= MIN_LENGTH ? username : undefined
}

/** Usernames to try where this one is wanted: first without, then with more and more random digits. */
export function* usernamesFor(wanted: string): Generator<string> {
  const base = wanted.replace(/[^a-z0-9_-]/g, '-').slice(0, MAX_LENGTH)
  if (base.length >= MIN_LENGTH) yield base
  for (let digits = 2; digits <= 9; digits += 1) {
    const suffix = String(randomInt(10 ** digits)).padStart(digits, '0')
    yield base.slice(0, MAX_LENGTH - digits) + suffix
  }
}
