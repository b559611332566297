import { type Clock, systemClock } from '../lib/time.ts'

/** A clock that can be moved forward, and put right again. */
export interface MovableClock extends Clock {
  forward(ms: number): void
  putRight(): void
  /** It is ahead by so many milliseconds. */
  aheadMs(): number
}

export const createMovableClock = (): MovableClock => {
  let aheadMs = 0
  return {
    now: () => systemClock.now() + aheadMs,
    elapsedMs: () => (systemClock.elapsedMs?.() ?? 0) + aheadMs,
    forward(ms) {
      aheadMs += ms
    },
    putRight() {
      aheadMs = 0
    },
    aheadMs: () => aheadMs,
  }
}
