/** RFC 3339 section 5.6, to the millisecond. */
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** A time with its zone, such as `2026-11-22T20:15:00Z`, in milliseconds since 1970; undefined for any other text. */
export const readTimestamp = (text: string): number | undefined => {
  const timeMs = TIMESTAMP.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(timeMs) ? undefined : timeMs
}
