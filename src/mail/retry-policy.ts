const FIRST_RETRY_MS = 30_000
const LONGEST_RETRY_MS = 3_600_000

/**
 * The delay after so many attempts: 30 s, doubled each time, up to an hour. A random fifth comes on top, so that
 * messages that failed together do not return together.
 */
export const retryDelayMs = (attempts: number): number =>
  Math.min(LONGEST_RETRY_MS, Math.round(FIRST_RETRY_MS * 2 ** (attempts - 1) * (1 + Math.random() / 5)))
