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
  /** More that is wrong with the same input. */
  others?: AppError[]
  cause?: unknown
}

/** A failure with a public message. The cause is for the log and is never shown. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly field: string | undefined
  readonly reason: string | undefined
  readonly retryAfterSeconds: number | undefined
  readonly others: AppError[]

  constructor(code: ErrorCode, message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'AppError'
    this.code = code
    this.field = details.field
    this.reason = details.reason
    this.retryAfterSeconds = details.retryAfterSeconds
    this.others = details.others ?? []
  }
}

/** Runs every check; what several of them refuse is one error, which names the first and carries the others. */
export const checkAll = <Checks extends Record<string, () => unknown>>(
  checks: Checks,
): { [Name in keyof Checks]: ReturnType<Checks[Name]> } => {
  const refusals: AppError[] = []
  const passed: Record<string, unknown> = {}
  for (const [name, check] of Object.entries(checks)) {
    try {
      passed[name] = check()
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      refusals.push(error)
    }
  }
  const [first, ...others] = refusals
  if (!first) return passed as { [Name in keyof Checks]: ReturnType<Checks[Name]> }
  const { code, field, reason } = first
  throw new AppError(code, first.message, { ...(field && { field }), ...(reason && { reason }), others })
}

/** The database (or another part) is away, locked or full: try again, nobody is logged out. */
export const unavailable = (message: string, cause?: unknown): AppError =>
  new AppError('unavailable', message, { retryAfterSeconds: 2, cause })
