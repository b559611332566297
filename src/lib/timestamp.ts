import { toTimestamp } from './time.ts'

/** RFC 3339 section 5.6, to the millisecond. */
const TIMESTAMP = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/**
 * A time with its zone, such as `2026-11-22T20:15:00Z`, in milliseconds since 1970; undefined for any other text, and for
 * a day that its month does not have.
 */
export const readTimestamp = (text: string): number | undefined => {
  const [, day] = TIMESTAMP.exec(text) ?? []
  const timeMs = Date.parse(text)
  return day === undefined || Number.isNaN(timeMs) || !isDay(day) ? undefined : timeMs
}

/** `Date.parse` takes February 31 for March 3. */
const isDay = (day: string): boolean => toTimestamp(Date.parse(`${day}T00:00:00Z`)).startsWith(day)
