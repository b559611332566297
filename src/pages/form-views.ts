const FIELD_PROBLEMS = [
  'email_missing',
  'email_invalid',
  'email_taken',
  'password_missing',
  'password_too_short',
  'password_too_long',
  'password_common',
  'password_repeats',
  'password_same_as_account',
  'password_same_as_site',
  'password_wrong',
  'username_invalid',
  'username_taken',
] as const

/** The errors of one field; `texts.fieldProblems` has their texts. */
export type FieldProblem = (typeof FIELD_PROBLEMS)[number]

/** Whether the reason of an error belongs to a field. */
export const isFieldProblem = (reason: string | undefined): reason is FieldProblem =>
  FIELD_PROBLEMS.some((problem) => problem === reason)

/** An error of a whole form. With the request ID, an operator finds the line in the log. */
export type FormProblem =
  | { kind: 'credentials_wrong' }
  | { kind: 'too_many_attempts'; retryAfterSeconds: number; requestId: string }
  | { kind: 'busy'; retryAfterSeconds: number; requestId: string }
  /** The form has no CSRF token that is good: it is older than a login in another tab, or its cookie is gone. */
  | { kind: 'outdated'; cookieMissing: boolean; requestId: string; details: string }
