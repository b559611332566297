import type { LimitedLogins } from '../lib/limited-logins.ts'

export interface FormView {
  csrfToken: string
  problem?: FormProblem | undefined
}

const FIELD_PROBLEMS = [
  'email_missing',
  'email_or_username_missing',
  'email_invalid',
  'email_taken',
  'email_same',
  'password_missing',
  'password_too_long',
  'password_common',
  'password_known',
  'password_repeats',
  'password_same_as_account',
  'password_same_as_site',
  'password_wrong',
  'username_invalid',
  'username_taken',
  'name_missing',
  'name_invalid',
  'code_missing',
  'passkey_challenge',
  'passkey_unreadable',
  'passkey_unknown',
  'passkey_wrong',
  'passkey_missing',
  'code_wrong',
  'mail_code_wrong',
  'mail_code_none',
  'recovery_code_wrong',
  'first_code_wrong',
  'set_up_expired',
  'passkey_name',
] as const

/** These errors of one field have a fixed text in the catalogue, as `problem.email_missing`. */
export type NamedProblem = (typeof FIELD_PROBLEMS)[number]

/**
 * The type has the errors of one field. `acceptedDomains`: the email is of none of these. `asciiForm`: the email would
 * be accepted in this form. `minLength`: the password has fewer characters.
 */
export type FieldProblem =
  | NamedProblem
  | { acceptedDomains: readonly string[] }
  | { asciiForm: string }
  | { minLength: number }

/** Tells whether the reason of an error belongs to a field, and has a fixed text. */
export const isFieldProblem = (reason: string | undefined): reason is NamedProblem =>
  FIELD_PROBLEMS.some((problem) => problem === reason)

/** Codes are then refused in unknown browsers, on the pages of links, or anywhere. */
export type LockedCodes = 'browsers' | 'links' | 'anywhere'

/** An error concerns a whole form. An operator finds the line in the log with the request ID. */
export type FormProblem =
  | { kind: 'credentials_wrong'; loginWith?: 'email' | 'both' }
  | { kind: 'too_many_attempts'; retryAfterSeconds: number; requestId: string }
  /** So many wrong passwords came that no more are checked for a while. */
  | { kind: 'login_limited'; of: LimitedLogins; retryAfterSeconds: number; requestId: string }
  /** Too many codes of a message were wrong. */
  | { kind: 'mail_codes_limited'; retryAfterSeconds: number; requestId: string }
  /** Too many codes of the app were wrong in a row. */
  | { kind: 'codes_locked'; where: LockedCodes; requestId: string }
  | { kind: 'busy'; retryAfterSeconds: number; requestId: string }
  /** The form has no CSRF token that is good: it is older than a login in another tab, or its cookie is gone. */
  | { kind: 'outdated'; cookieMissing: boolean; requestId: string; details: string }
