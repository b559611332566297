import { createBoundedCache } from '../lib/bounded-cache.ts'
import type { MonotonicClock } from '../lib/time.ts'
import { countersOf } from './counter.ts'
import { TooManyTries } from './too-many-tries.ts'

/** Bounds the memory that a flood of networks can take. */
const KEPT_COUNTERS = 50_000

interface Window {
  count: number
  endsAtMs: number
}

/**
 * Counts starts of sign-ins with a provider in this process: they guess nothing, and write nothing either. Throws
 * `TooManyTries`.
 */
export const createProviderStarts = (clock: MonotonicClock): ((network: string) => void) => {
  const windows = createBoundedCache<Window>(KEPT_COUNTERS)

  const windowOf = (id: string): Window | undefined => {
    const window = windows.get(id)
    return window && window.endsAtMs > clock.elapsedMs() ? window : undefined
  }

  return (network) => {
    const counters = countersOf(['providerOfAddress', { network }])
    for (const { limit, id, tries } of counters) {
      const { count, endsAtMs } = windowOf(id) ?? { count: 0, endsAtMs: 0 }
      if (count >= tries) throw new TooManyTries(limit, endsAtMs - clock.elapsedMs())
    }
    for (const { id, windowMs } of counters) {
      const window = windowOf(id)
      if (window) window.count += 1
      else windows.set(id, { count: 1, endsAtMs: clock.elapsedMs() + windowMs })
    }
  }
}
