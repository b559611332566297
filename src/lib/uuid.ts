import { randomUUIDv7 } from 'node:crypto'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Tells whether a value is a UUID of any version in lower case, as this service writes all of its ids (RFC 9562 section
 * 4).
 */
export const isUuid = (value: unknown): value is string => typeof value === 'string' && UUID.test(value)

// RFC 9562 section 5.7 says that 48 bits of milliseconds since 1970, the version, and random bits follow one another.
const TIME_DIGITS = 12

const withTime = (timeMs: number, rest: string): string => {
  const hex = Math.max(0, timeMs).toString(16).padStart(TIME_DIGITS, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-${rest}`
}

/** Makes the smallest UUID of version 7 with this time. */
export const leastUuidAt = (timeMs: number): string => withTime(timeMs, '7000-8000-000000000000')

/** Reads the time of a UUID of version 7; returns undefined for one of another version. */
export const timeOfUuid = (id: string): number | undefined =>
  id[14] === '7' ? Number.parseInt(id.replace('-', '').slice(0, TIME_DIGITS), 16) : undefined

/** Makes a new UUID of version 7 that sorts after another one, whatever the clock says. */
export const uuidAfter = (other: string): string => {
  const fresh = randomUUIDv7()
  if (fresh > other) return fresh
  const timeMs = Number.parseInt(other.replace('-', '').slice(0, TIME_DIGITS), 16)
  return withTime(timeMs + 1, fresh.slice(TIME_DIGITS + 2))
}

const MAX_SEQUENCE = 0xfff

/**
 * Makes UUIDs of version 7 with given times, in milliseconds since 1970. If several have one time, each sorts after the
 * one before (RFC 9562 section 6.2, method 1).
 */
export const createUuidSequence = (): ((timeMs: number) => string) => {
  let lastMs: number | undefined
  let sequence = 0
  return (timeMs) => {
    sequence = timeMs === lastMs ? Math.min(sequence + 1, MAX_SEQUENCE) : 0
    lastMs = timeMs
    const random = randomUUIDv7().slice(TIME_DIGITS + 6)
    return withTime(timeMs, `7${sequence.toString(16).padStart(3, '0')}${random}`)
  }
}
