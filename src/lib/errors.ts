/** What can go wrong in a way that a caller is told about; one HTTP status each (`http/errors.ts`). */
export type ErrorCode =
  | 'unauthorized'
  | 'forbidden'
  | 'invalid_request'
  | 'not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'conflict'
  | 'unprocessable'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'rate_limited'
  | 'internal_error'
  | 'unavailable'

interface Details {
  /** The form field or header at fault. */
  field?: string
  /** Why, in a word that a page can translate. */
  reason?: string
  /** Seconds until another try makes sense. */
  retryAfterSeconds?: number
  cause?: unknown
}

/** A failure with a public message. The cause is for the log and is never shown. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly field: string | undefined
  readonly reason: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(code: ErrorCode, message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'AppError'
    this.code = code
    this.field = details.field
    this.reason = details.reason
    this.retryAfterSeconds = details.retryAfterSeconds
  }
}

/** The database (or another part) is away, locked or full: try again, nobody is logged out. */
export const unavailable = (message: string, cause?: unknown): AppError =>
  new AppError('unavailable', message, { retryAfterSeconds: 2, cause })
