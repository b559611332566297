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

/** Usernames to try for an email's owner, from the plain one to ones with more and more random digits. */
export function* usernamesFor(emailLower: string): Generator<string> {
  const local = emailLower.slice(0, emailLower.indexOf('@')).replace(/[^a-z0-9_-]/g, '-')
  const base = local.slice(0, MAX_LENGTH)
  if (base.length >= MIN_LENGTH) yield base
  for (let digits = 2; digits <= 9; digits += 1) {
    const suffix = String(randomInt(10 ** digits)).padStart(digits, '0')
    yield base.slice(0, MAX_LENGTH - digits) + suffix
  }
}
