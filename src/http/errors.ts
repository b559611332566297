import { AppError, type ErrorCode } from '../lib/errors.ts'

const STATUS: Record<ErrorCode, number> = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  unprocessable: 422,
  rate_limited: 429,
  internal_error: 500,
  unavailable: 503,
}

export const statusOf = (code: ErrorCode): number => STATUS[code]

/** What a caller may know of whatever was thrown. */
export const toAppError = (thrown: unknown): AppError => {
  if (thrown instanceof AppError) return thrown
  const { code, statusCode } = (thrown ?? {}) as { code?: unknown; statusCode?: unknown }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new AppError('payload_too_large', 'The body is larger than 16 KiB.', { cause: thrown })
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new AppError('unsupported_media_type', 'The header Content-Type is not readable.', { cause: thrown })
  }
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new AppError('invalid_request', 'The request cannot be read.', { cause: thrown })
  }
  return new AppError('internal_error', 'Something went wrong on our side.', { cause: thrown })
}

/** The body of every JSON error. The id leads an operator to the line in the log. */
export const toErrorJson = ({ code, message }: AppError, requestId: string): string =>
  JSON.stringify({ error: { code, message, request_id: requestId } })
