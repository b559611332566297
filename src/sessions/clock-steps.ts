import type { Clock } from '../lib/time.ts'

/** A larger difference is no delay of the network, and no drift of a clock. */
const LEAST_STEP_MS = 5000

const MAX_REMEMBERED = 4

/** It is the time between two steps of the clock, as far as this process has seen it. */
interface Era {
  /** The clock shows this much more than has elapsed. */
  offsetMs: number
  /** It began after the last look at the clock before it, and ended before the first look after it. */
  fromMs: number
  toMs: number
}

/**
 * Tells how long ago a time was, even if the clock has been set in between: by an hour, say, by an operator or a time
 * service. Otherwise a token that was replaced a second before would look like one that comes again after an hour.
 * Another process may have written the time, and may have seen the step before this one.
 */
export const createClockSteps = (clock: Clock) => {
  let eras: Era[] = []
  let lookedAtMs = Number.NEGATIVE_INFINITY

  const observe = (nowMs: number): void => {
    const elapsed = elapsedMs(clock)
    const offsetMs = nowMs - elapsed
    const current = eras[0]
    if (current && Math.abs(offsetMs - current.offsetMs) < LEAST_STEP_MS) current.offsetMs = offsetMs
    else {
      if (current) current.toMs = elapsed
      const era = { offsetMs, fromMs: lookedAtMs, toMs: Number.POSITIVE_INFINITY }
      eras = [era, ...eras.slice(0, MAX_REMEMBERED - 1)]
    }
    lookedAtMs = elapsed
  }

  return {
    /** It must be called each time that such times are written. */
    observe,

    /**
     * Tells how long ago a time was, given the time that the clock shows now. Both may have been read from the
     * database's server.
     */
    ageMs(timeMs: number, nowMs: number): number {
      observe(nowMs)
      const now = elapsedMs(clock)
      const ages = eras
        .map(({ offsetMs, fromMs, toMs }) => ({ writtenMs: timeMs - offsetMs, fromMs, toMs: Math.min(toMs, now) }))
        .filter(({ writtenMs, fromMs, toMs }) => writtenMs >= fromMs && writtenMs <= toMs)
        .map(({ writtenMs }) => now - writtenMs)
      // A time that fits no era is judged by the earliest that is known of the clock.
      return ages.length > 0 ? Math.min(...ages) : now + (eras.at(-1)?.offsetMs ?? 0) - timeMs
    },
  }
}

const elapsedMs = (clock: Clock): number => clock.elapsedMs?.() ?? clock.now()
