/** A caller is told about failures by these codes. Each has one HTTP status (`http/errors.ts`). */
export type ErrorCode =
  | 'unauthorized'
  | 'forbidden'
  | 'invalid_request'
  | 'not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'conflict'
  | 'gone'
  | 'unprocessable'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'rate_limited'
  | 'internal_error'
  | 'unavailable'

interface Details {
  /** This form field or header caused the error. */
  field?: string
  /** This is the reason in one word, which pages translate into a text. */
  reason?: string
  /** The text of the reason names these, such as the values that would be accepted. */
  values?: readonly string[]
  /** A retry makes sense after so many seconds. */
  retryAfterSeconds?: number
  /** These are further errors of the same input. */
  others?: AppError[]
  cause?: unknown
}

/** The error is a failure with a public message. The cause is logged and never shown. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly field: string | undefined
  readonly reason: string | undefined
  readonly values: readonly string[]
  readonly retryAfterSeconds: number | undefined
  readonly others: AppError[]

  constructor(code: ErrorCode, message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'AppError'
    this.code = code
    this.field = details.field
    this.reason = details.reason
    this.values = details.values ?? []
    this.retryAfterSeconds = details.retryAfterSeconds
    this.others = details.others ?? []
  }
}

type Checks = Record<string, () => unknown>

/** Runs every check. If several fail, it throws the first error with the others in `others`. */
export const checkAll = <Given extends Checks>(checks: Given): { [Name in keyof Given]: ReturnType<Given[Name]> } => {
  const refusals: AppError[] = []
  const passed: Record<string, unknown> = {}
  for (const [name, check] of Object.entries(checks)) {
    try {
      passed[name] = check()
    } catch (error) {
      refusals.push(requireRefusal(error))
    }
  }
  throwAll(refusals)
  return passed as { [Name in keyof Given]: ReturnType<Given[Name]> }
}

/** Does the same for checks of which some take time: one runs after another. */
export const checkAllInTurn = async <Given extends Checks>(
  checks: Given,
): Promise<{ [Name in keyof Given]: Awaited<ReturnType<Given[Name]>> }> => {
  const refusals: AppError[] = []
  const passed: Record<string, unknown> = {}
  for (const [name, check] of Object.entries(checks)) {
    try {
      passed[name] = await check()
    } catch (error) {
      refusals.push(requireRefusal(error))
    }
  }
  throwAll(refusals)
  return passed as { [Name in keyof Given]: Awaited<ReturnType<Given[Name]>> }
}

/** An error that is no refusal ends all checks. */
const requireRefusal = (error: unknown): AppError => {
  if (error instanceof AppError && error.code !== 'unavailable') return error
  throw error
}

const throwAll = ([first, ...others]: AppError[]): void => {
  if (!first) return
  const { code, field, reason, values } = first
  throw new AppError(code, first.message, { ...(field && { field }), ...(reason && { reason }), values, others })
}

/** The database (or another part) is unavailable, locked or full: the caller should retry, and nobody is logged out. */
export const unavailable = (message: string, cause?: unknown): AppError =>
  new AppError('unavailable', message, { retryAfterSeconds: 2, cause })
