/**
 * The clock is the only source of the current time. It is passed to all code that needs it, so that tests can set it.
 */
export interface Clock {
  /** Returns milliseconds since 1970-01-01T00:00:00Z. */
  now(): number
  /** Returns milliseconds that have passed since some moment: they go on evenly when the clock is set. */
  elapsedMs?(): number
}

export const systemClock: Clock = { now: () => Date.now(), elapsedMs: () => performance.now() }

/** Measures elapsed time: it does not jump when the machine's clock is set. */
export interface MonotonicClock {
  /** Returns milliseconds since the process began. */
  elapsedMs(): number
}

export const monotonicClock: MonotonicClock = { elapsedMs: () => performance.now() }

/** The clock of a replica and that of the database's server may differ by so many milliseconds (docs/scaling.md). */
export const MAX_CLOCK_SKEW_MS = 60_000

/** Writes a time as `2026-11-21T10:47:00.123Z`. */
export const toTimestamp = (epochMs: number): string => new Date(epochMs).toISOString()

let second = Number.NaN
let dateAndSecond = ''

/**
 * Makes the timestamp of now, for the log. The part up to the second, which takes most of the time, is made once a
 * second.
 */
export const timestampNow = (): string => {
  const nowMs = systemClock.now()
  const ms = nowMs % 1000
  if (nowMs - ms !== second) {
    second = nowMs - ms
    dateAndSecond = toTimestamp(second).slice(0, -'000Z'.length)
  }
  return `${dateAndSecond}${String(ms).padStart(3, '0')}Z`
}

/** A date can hold no greater time, in milliseconds since 1970 (ECMA-262 section 21.4.1.1). */
export const MAX_DATE_MS = 8.64e15

/** A timer can hold no greater delay: 2^31-1 ms, about 24.8 days. */
export const MAX_TIMER_MS = 2 ** 31 - 1

const UNIT_MS: Record<string, number> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}

const WHOLE = /^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/
const PART = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g

/**
 * Parses a duration as Go's `time.ParseDuration` does (`300ms`, `1m30.5s`, `.5s`, `720h`), without signs. Returns
 * milliseconds, or undefined if the text is not a duration.
 */
export const parseDuration = (text: string): number | undefined => {
  if (!WHOLE.test(text)) return undefined
  let totalMs = 0
  for (const [, amount, unit] of text.matchAll(PART)) totalMs += Number(amount) * (UNIT_MS[unit ?? ''] ?? 0)
  return totalMs
}

/** RFC 3339 section 5.6 defines this form; it is read to the millisecond. */
const TIMESTAMP = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/**
 * Reads a time with its zone, such as `2026-11-22T20:15:00Z`, in milliseconds since 1970; returns undefined for any
 * other text, and for a day that its month does not have.
 */
export const readTimestamp = (text: string): number | undefined => {
  const [, day] = TIMESTAMP.exec(text) ?? []
  const timeMs = Date.parse(text)
  return day === undefined || Number.isNaN(timeMs) || !isDay(day) ? undefined : timeMs
}

/** `Date.parse` takes February 31 for March 3. */
const isDay = (day: string): boolean => toTimestamp(Date.parse(`${day}T00:00:00Z`)).startsWith(day)

/** Resolves to the result of the work, or to `otherwise` when the work takes longer than this many milliseconds. */
export const withTimeout = async <T, Late>(timeoutMs: number, work: Promise<T>, otherwise: Late): Promise<T | Late> => {
  const { promise: tooLate, resolve } = Promise.withResolvers<Late>()
  const timer = setTimeout(resolve, timeoutMs, otherwise)
  try {
    return await Promise.race([work, tooLate])
  } finally {
    clearTimeout(timer)
  }
}

/** Resolves after this number of milliseconds. */
export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
