const FIRST_RETRY_MS = 1000
const LONGEST_RETRY_MS = 3_600_000

/** Whether the receiver may accept the event later: after a network error (no status), 408, 429 or 5xx. */
export const isTemporary = (status: number | null): boolean =>
  status === null || status === 408 || status === 429 || status >= 500

/** The delay doubles with each attempt. Its random part prevents that many events return at the same time. */
export const backoffMs = (attempts: number): number =>
  Math.round(Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (attempts - 1)) * (0.75 + Math.random() / 2))
