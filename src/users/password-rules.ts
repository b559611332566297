import { readFileSync } from 'node:fs'
import { AppError } from '../lib/errors.ts'

const MIN_CHARACTERS = 8
const MAX_CHARACTERS = 256

let commonPasswords: Set<string> | undefined

/** The commonly used passwords of eight characters and more, read when the first is asked for. */
const isCommon = (password: string): boolean => {
  commonPasswords ??= new Set(readFileSync(new URL('./common-passwords.txt', import.meta.url), 'utf8').split('\n'))
  return commonPasswords.has(password.toLowerCase())
}

/** The form in which passwords are counted, hashed and compared (Unicode NFC). */
export const normalizePassword = (entered: string): string => entered.normalize('NFC')

/**
 * Checks a new password and gives its normal form: 8 to 256 characters of any kind, not commonly used (OWASP ASVS 5,
 * 6.2.4), not the account's email or username. `unprocessable` on `field`.
 */
export const requireGoodPassword = (entered: string, names: string[], field = 'password'): string => {
  const password = normalizePassword(entered)
  const refuse = (reason: string, message: string): never => {
    throw new AppError('unprocessable', message, { field, reason })
  }
  const characters = [...password].length
  if (characters === 0) refuse('password_missing', 'Enter a password.')
  if (characters < MIN_CHARACTERS) refuse('password_too_short', `A password has at least ${MIN_CHARACTERS} characters.`)
  if (characters > MAX_CHARACTERS) refuse('password_too_long', `A password has at most ${MAX_CHARACTERS} characters.`)
  if (isCommon(password)) refuse('password_common', 'This password is on the list of commonly used ones.')
  if (names.some((name) => name.toLowerCase() === password.toLowerCase())) {
    refuse('password_same_as_account', 'The password must not be the email address or the username.')
  }
  return password
}
