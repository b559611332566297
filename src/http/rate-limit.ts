import { LRUCache } from 'lru-cache'
import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'

interface Limit {
  /** Tries within one window. */
  tries: number
  windowMs: number
}

/**
 * What is counted, and for whom. Failed logins count for an address, and for an account as tried from one address:
 * a limit on the account alone would let anybody lock anybody out (docs/decisions/004-rate-limits.md).
 */
const LIMITS = {
  login: { tries: 10, windowMs: 15 * 60_000 },
  loginOfAddress: { tries: 100, windowMs: 15 * 60_000 },
  signupOfAddress: { tries: 30, windowMs: 60 * 60_000 },
  providerOfAddress: { tries: 300, windowMs: 15 * 60_000 },
  passwordOfUser: { tries: 10, windowMs: 15 * 60_000 },
  usernameOfUser: { tries: 5, windowMs: 60 * 60_000 },
} satisfies Record<string, Limit>

export type LimitName = keyof typeof LIMITS
export const LIMIT_NAMES = Object.keys(LIMITS) as LimitName[]

/** What is remembered at most, so that a flood of addresses does not fill the memory. */
const MAX_COUNTERS = 100_000

interface Counter {
  count: number
  endsAtMs: number
}

interface Parts {
  clock: Clock
  enabled: boolean
  /** Hears of every try that is one too many. */
  onRefusal?: ((limit: LimitName) => void) | undefined
}

/** Counts tries in fixed windows, in this process. A try counts before its work is done: many at once gain nothing. */
export const createRateLimits = ({ clock, enabled, onRefusal }: Parts) => {
  // By size and not by `max`, for which the memory of them all is taken at once.
  const counters = new LRUCache<string, Counter>({ maxSize: MAX_COUNTERS, sizeCalculation: () => 1 })

  const counterOf = (name: LimitName, key: string): Counter => {
    const id = `${name} ${key}`
    const known = counters.get(id)
    if (known && known.endsAtMs > clock.now()) return known
    const counter = { count: 0, endsAtMs: clock.now() + LIMITS[name].windowMs }
    counters.set(id, counter)
    return counter
  }

  /** Counts a try; `rate_limited` when there were too many. */
  const count = (name: LimitName, key: string): void => {
    if (!enabled) return
    const counter = counterOf(name, key)
    if (counter.count >= LIMITS[name].tries) {
      onRefusal?.(name)
      const retryAfterSeconds = Math.max(1, Math.ceil((counter.endsAtMs - clock.now()) / 1000))
      throw new AppError('rate_limited', `Too many tries. Try again in ${retryAfterSeconds} seconds.`, {
        retryAfterSeconds,
      })
    }
    counter.count += 1
  }

  /** Takes a try back that turned out to be none. */
  const forgive = (name: LimitName, key: string): void => {
    const counter = enabled ? counterOf(name, key) : undefined
    if (counter && counter.count > 0) counter.count -= 1
  }

  return {
    count,
    forgive,
    /** Does something that counts when it ends in `unauthorized`, and not when it succeeds or fails otherwise. */
    async countFailures<T>(tries: [LimitName, string][], action: () => Promise<T>): Promise<T> {
      let isWrong = false
      for (const [name, key] of tries) count(name, key)
      try {
        return await action()
      } catch (error) {
        isWrong = error instanceof AppError && error.code === 'unauthorized'
        throw error
      } finally {
        if (!isWrong) for (const [name, key] of tries) forgive(name, key)
      }
    },
  }
}

export type RateLimits = ReturnType<typeof createRateLimits>

/** Whoever has one IPv6 address has all of its /64. */
export const networkOf = (address: string): string => {
  if (!address.includes(':')) return address
  const [head = '', tail] = address.toLowerCase().split('::')
  const groups = head.split(':').filter(Boolean)
  const tailGroups = tail?.split(':').filter(Boolean) ?? []
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - tailGroups.length) }, () => '0')
  return [...groups, ...zeros, ...tailGroups].slice(0, 4).join(':')
}
