import { readFileSync } from 'node:fs'
import { AppError } from '../../lib/errors.ts'
import type { Blocklist } from './blocklist/blocklist.ts'
import { accountNames, consistsOfName } from './password-names.ts'

export const MAX_PASSWORD_LENGTH = 256

/** A sequence that is shorter makes no password by being repeated. */
const MIN_REPEATED = 8

/** The reason of the refusal, whose value is the least number of characters. */
export const PASSWORD_TOO_SHORT = 'password_too_short'

let commonPasswords: Set<string> | undefined

/** Looks for a commonly used password; the list of those of eight characters and more is read at the first use. */
const isCommon = (password: string): boolean => {
  commonPasswords ??= new Set(readFileSync(new URL('./common-passwords.txt', import.meta.url), 'utf8').split('\n'))
  return commonPasswords.has(password.toLowerCase())
}

/**
 * Tells whether a sequence that is too short to be a password comes twice or more: repetition does not make it harder
 * to guess.
 */
const isRepetition = (password: string): boolean => {
  const characters = [...password.toLowerCase()]
  const longest = Math.min(MIN_REPEATED - 1, Math.floor(characters.length / 2))
  const repeatsEvery = (length: number): boolean =>
    characters.every((character, index) => index < length || character === characters[index - length])
  return Array.from({ length: longest }, (_, index) => index + 1).some(repeatsEvery)
}

/** The form in which passwords are counted, hashed and compared (Unicode NFC). */
export const normalizePassword = (entered: string): string => entered.normalize('NFC')

interface PasswordRules {
  /** Counted in code points of the normal form. */
  minLength: number
  /** The names of the site and its host. */
  siteNames: readonly string[]
  /** The operator's list, if there is one. */
  blocklist?: Pick<Blocklist, 'has'> | undefined
}

type Problem = readonly [reason: string, message: string, ...values: string[]]

const KNOWN: Problem = ['password_known', 'This password is on the list of passwords that are known to others.']

/** Finds what is wrong with a new password: a reason, the same in words, and what these name. */
const problemOf = (
  password: string,
  names: readonly string[],
  { minLength, siteNames }: PasswordRules,
): Problem | undefined => {
  const characters = [...password].length
  if (characters === 0) return ['password_missing', 'Enter a password.']
  if (characters < minLength)
    return [PASSWORD_TOO_SHORT, `A password has at least ${minLength} characters.`, String(minLength)]
  if (characters > MAX_PASSWORD_LENGTH)
    return ['password_too_long', `A password has at most ${MAX_PASSWORD_LENGTH} characters.`]
  if (isRepetition(password)) {
    return ['password_repeats', 'This password is the same few characters again and again.']
  }
  if (isCommon(password)) return ['password_common', 'This password is on the list of commonly used ones.']
  if (consistsOfName(password, accountNames(names))) {
    return [
      'password_same_as_account',
      'The password must not be the email address or the username, nor these with digits or punctuation added.',
    ]
  }
  if (consistsOfName(password, siteNames)) {
    return [
      'password_same_as_site',
      'The password must not be the name of this site or its host, nor these with digits or punctuation added.',
    ]
  }
  return undefined
}

/**
 * Checks a new password for an account with these names, and resolves to its normal form; `unprocessable` on `field`.
 */
export type RequireGoodPassword = (entered: string, names: string[], field?: string) => Promise<string>

/**
 * The rules for new passwords: `minLength` to 256 characters of any kind, not a short sequence again and again, not
 * commonly used (OWASP ASVS 5, 6.2.4), not a name of the account or of the site (6.2.11), nor such a name with digits
 * added, nor on the operator's list.
 */
export const createPasswordRules =
  (rules: PasswordRules): RequireGoodPassword =>
  async (entered, names, field = 'password') => {
    const password = normalizePassword(entered)
    const problem = problemOf(password, names, rules) ?? ((await rules.blocklist?.has(password)) ? KNOWN : undefined)
    if (!problem) return password
    const [reason, message, ...values] = problem
    throw new AppError('unprocessable', message, { field, reason, values })
  }
