import { AppError, type ErrorCode } from '../lib/errors.ts'

const STATUS: Record<ErrorCode, number> = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  gone: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  unprocessable: 422,
  rate_limited: 429,
  internal_error: 500,
  unavailable: 503,
}

export const statusOf = (code: ErrorCode): number => STATUS[code]

/**
 * Turns anything thrown into an error that a client may be shown. A thrown value that is no `AppError` becomes its
 * cause.
 */
export const toAppError = (thrown: unknown): AppError => {
  if (thrown instanceof AppError) return thrown
  return new AppError('internal_error', 'Something went wrong on our side.', { cause: thrown })
}

/** Makes the body of every JSON error (CONTRACT.md 7). An operator finds the line in the log by the request ID. */
export const toErrorJson = ({ code, message, field, reason }: AppError, requestId: string): string => {
  const shown = NAMES_FIELD.has(code) || reason === COMMAND_ONLY ? field : undefined
  return JSON.stringify({ error: { code, message, field: shown, request_id: requestId } })
}

/** This is the reason of a 403 for a field that the command line alone may set. */
const COMMAND_ONLY = 'command_only'

/** An error with one of these codes names the field that it is about. */
const NAMES_FIELD: ReadonlySet<ErrorCode> = new Set(['invalid_request', 'conflict', 'unprocessable'])

/** This is the reason of a change that needs a recent sign-in with more than one factor. */
export const MFA_MISSING = 'confirm_mfa_first'

/** This is the reason of a first second factor or passkey that needs a link by mail (`links.firstFactor`). */
export const MAIL_MISSING = 'mail_first'

const PROOF_MISSING: ReadonlySet<string | undefined> = new Set(['confirm_first', MFA_MISSING, MAIL_MISSING])

/** Tells whether the user must prove something before this change (`sessions.requireRecentAuthentication`). */
export const needsProof = ({ reason }: AppError): boolean => PROOF_MISSING.has(reason)
