/** How long a client should wait when svc has not said, in seconds. */
const DEFAULT_RETRY_AFTER = 2

/** svc cannot be asked now, or answers what svc would not. It says nothing about whether a user is signed in. */
export class SvcUnavailableError extends Error {
  override name = 'SvcUnavailableError'
  /** Seconds to wait before the next try; goes into the header `Retry-After` of a 503. */
  readonly retryAfter: number

  constructor(
    message: string,
    { retryAfter = DEFAULT_RETRY_AFTER, cause }: { retryAfter?: number; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.retryAfter = retryAfter
  }
}

/** The seconds of a header `Retry-After`, which may be a date as well (RFC 9110 section 10.2.3). */
export const readRetryAfter = (header: string | null): number => {
  if (header === null) return DEFAULT_RETRY_AFTER
  const seconds = /^\d{1,9}$/.test(header) ? Number(header) : Math.ceil((Date.parse(header) - Date.now()) / 1000)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : DEFAULT_RETRY_AFTER
}
