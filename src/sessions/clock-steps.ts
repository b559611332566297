import type { Clock } from '../lib/time.ts'

/** A larger difference is no delay of the network, and no drift of a clock. */
const LEAST_STEP_MS = 5000

const MAX_REMEMBERED = 4

/** The time between two steps of the clock. */
interface Era {
  firstMs: number
  /** How much more the clock shows than has elapsed. */
  offsetMs: number
}

export interface ClockSteps {
  /** How long ago a time was, given what the clock shows now. Both may have been read from the database's server. */
  ageMs(timeMs: number, nowMs: number): number
  /** Call it whenever such times are written. */
  observe(nowMs: number): void
}

/**
 * Tells how long ago a time was, also where the clock has been set in between: by an hour, say, by an operator or a time
 * service. Otherwise a token that was replaced a second before would look like one that comes again after an hour.
 */
export const createClockSteps = (clock: Clock): ClockSteps => {
  let eras: Era[] = []

  const observe = (nowMs: number): void => {
    const offsetMs = nowMs - elapsedMs(clock)
    const current = eras[0]
    if (current && Math.abs(offsetMs - current.offsetMs) < LEAST_STEP_MS) current.offsetMs = offsetMs
    else eras = [{ firstMs: nowMs, offsetMs }, ...eras.slice(0, MAX_REMEMBERED - 1)]
  }

  return {
    observe,
    ageMs(timeMs, nowMs) {
      observe(nowMs)
      const era = eras.find(({ firstMs }, index) => firstMs <= timeMs && (index > 0 || timeMs <= nowMs))
      // What is from before the first look at the clock is judged by the earliest that is known of it.
      const { offsetMs } = era ?? eras.at(-1) ?? { offsetMs: 0 }
      return elapsedMs(clock) + offsetMs - timeMs
    },
  }
}

const elapsedMs = (clock: Clock): number => clock.elapsedMs?.() ?? clock.now()
