import { createBoundedCache } from '../lib/bounded-cache.ts'
import { AppError } from '../lib/errors.ts'
import type { MonotonicClock } from '../lib/time.ts'

interface Limit {
  /** Tries that may count within one window. */
  tries: number
  windowMs: number
  /** Whether a try counts, by what it threw; undefined: it succeeded. */
  counts: (thrown: unknown) => boolean
}

const MINUTE_MS = 60_000

const always = (): boolean => true

const isWrongPassword = (thrown: unknown): boolean =>
  thrown instanceof AppError && (thrown.reason === 'credentials_wrong' || thrown.reason === 'password_wrong')

/** Whether the work was done at all: the client stayed, and the database and the hash queue were available. */
const wasDone = (thrown: unknown): boolean => !(thrown instanceof AppError && thrown.code === 'unavailable')

/**
 * A right password counts too where it starts no session, as after too many logins: it has cost a hash all the same.
 */
const failed = (thrown: unknown): boolean => thrown instanceof AppError && wasDone(thrown)

const succeeded = (thrown: unknown): boolean => thrown === undefined

/** An invalid field does not count. A taken name does: the response shows that an account has it. */
const takesName = (thrown: unknown): boolean =>
  succeeded(thrown) || (thrown instanceof AppError && thrown.code === 'conflict')

/**
 * Failed logins count for the network, and for an account as tried from that network: a limit on the account alone
 * would let an attacker lock its owner out (docs/decisions/004-rate-limits.md).
 */
const LIMITS = {
  login: { tries: 10, windowMs: 15 * MINUTE_MS, counts: failed },
  loginOfAddress: { tries: 100, windowMs: 15 * MINUTE_MS, counts: failed },
  successfulLogin: { tries: 30, windowMs: 15 * MINUTE_MS, counts: succeeded },
  signupOfAddress: { tries: 30, windowMs: 60 * MINUTE_MS, counts: takesName },
  providerOfAddress: { tries: 300, windowMs: 15 * MINUTE_MS, counts: always },
  passwordOfUser: { tries: 10, windowMs: 15 * MINUTE_MS, counts: isWrongPassword },
  passwordFormOfUser: { tries: 30, windowMs: 15 * MINUTE_MS, counts: wasDone },
  passkeyOfAddress: { tries: 100, windowMs: 15 * MINUTE_MS, counts: failed },
  passkeyOfUser: { tries: 30, windowMs: 60 * MINUTE_MS, counts: wasDone },
  wrongKeyOfAddress: { tries: 100, windowMs: 15 * MINUTE_MS, counts: always },
  usernameOfUser: { tries: 5, windowMs: 60 * MINUTE_MS, counts: takesName },
} satisfies Record<string, Limit>

export type LimitName = keyof typeof LIMITS
export const LIMIT_NAMES = Object.keys(LIMITS) as LimitName[]

/** A try that was refused (`rate_limited`), and the limit whose window ends last. */
export class TooManyTries extends AppError {
  readonly limit: LimitName

  constructor(limit: LimitName, retryAfterSeconds: number) {
    super('rate_limited', `Too many tries. Try again in ${retryAfterSeconds} seconds.`, { retryAfterSeconds })
    this.name = 'TooManyTries'
    this.limit = limit
  }
}

/** Bounds the memory that a flood of addresses can take. */
const KEPT_COUNTERS = 50_000

/** When to try again if the limit is reached only by tries that are still under way. */
const RETRY_SOON_MS = 2000

interface Counter {
  count: number
  endsAtMs: number
}

/** One limit as counted for one network, account or user. */
interface LimitEntry {
  name: LimitName
  id: string
}

interface RateLimitsDeps {
  clock: MonotonicClock
  enabled: boolean
  /** Called for every refused try, with the limit whose window ends last. */
  onRefusal?: ((limit: LimitName) => void) | undefined
}

/** A limit, and what it is counted for: a network, a user, or both. */
export type LimitedBy = [limit: LimitName, key: string]

export interface RateLimits {
  /** Counts a try, whatever its outcome; `rate_limited` when there were too many. */
  count: (name: LimitName, key: string) => void
  /**
   * Runs `action`, and counts it in those of the limits whose rule (`counts`) applies to its outcome. When one of the
   * limits is reached, `action` does not run, nothing is counted, and the error is `rate_limited`.
   */
  attempt: <T>(limits: LimitedBy[], action: () => Promise<T>) => Promise<T>
  /** Begins to count from zero. */
  forget: (limits: LimitedBy[]) => void
  /** The same, once for each unlock, which a text names; whether it did. */
  unlock: (limit: LimitedBy, unlock: string) => boolean
}

/**
 * Counts tries in fixed windows, in this process. A window begins with the first try that counts. Tries under way are
 * added to those that counted, so that many tries at once do not exceed a limit. Whether a try counts is decided when
 * its work has ended.
 */
export const createRateLimits = ({ clock, enabled, onRefusal }: RateLimitsDeps): RateLimits => {
  const counters = createBoundedCache<Counter>(KEPT_COUNTERS)
  /** The latest unlock of a counter. */
  const unlocks = createBoundedCache<string>(KEPT_COUNTERS)
  /** Not among the counters, from which a flood of addresses can evict entries. */
  const underWay = new Map<string, number>()

  const findCounter = (id: string): Counter | undefined => {
    const counter = counters.get(id)
    return counter && counter.endsAtMs > clock.elapsedMs() ? counter : undefined
  }

  const increase = ({ name, id }: LimitEntry): void => {
    const counter = findCounter(id)
    if (counter) counter.count += 1
    else counters.set(id, { count: 1, endsAtMs: clock.elapsedMs() + LIMITS[name].windowMs })
  }

  /** Milliseconds until this limit allows another try; 0: now. */
  const waitOf = ({ name, id }: LimitEntry): number => {
    const { tries } = LIMITS[name]
    const counter = findCounter(id)
    const count = counter?.count ?? 0
    if (counter && count >= tries) return counter.endsAtMs - clock.elapsedMs()
    return count + (underWay.get(id) ?? 0) >= tries ? RETRY_SOON_MS : 0
  }

  /** `rate_limited` when one of the limits is reached. */
  const requireRoom = (entries: LimitEntry[]): void => {
    const waits = entries.map((entry) => ({ name: entry.name, waitMs: waitOf(entry) }))
    const longest = waits.reduce((one, other) => (other.waitMs > one.waitMs ? other : one))
    if (longest.waitMs === 0) return
    onRefusal?.(longest.name)
    throw new TooManyTries(longest.name, Math.ceil(longest.waitMs / 1000))
  }

  const enter = ({ id }: LimitEntry): void => void underWay.set(id, (underWay.get(id) ?? 0) + 1)

  const leave = (entry: LimitEntry, thrown: unknown): void => {
    const others = (underWay.get(entry.id) ?? 0) - 1
    if (others > 0) underWay.set(entry.id, others)
    else underWay.delete(entry.id)
    if (LIMITS[entry.name].counts(thrown)) increase(entry)
  }

  return {
    count(name, key) {
      if (!enabled) return
      const entry = entryOf(name, key)
      requireRoom([entry])
      increase(entry)
    },

    async attempt(limits, action) {
      if (!enabled || limits.length === 0) return action()
      const entries = limits.map(([name, key]) => entryOf(name, key))
      requireRoom(entries)
      entries.forEach(enter)
      let thrown: unknown
      try {
        return await action()
      } catch (error) {
        thrown = error
        throw error
      } finally {
        for (const entry of entries) leave(entry, thrown)
      }
    },

    forget(limits) {
      for (const [name, key] of limits) counters.delete(entryOf(name, key).id)
    },

    unlock([name, key], unlock) {
      const { id } = entryOf(name, key)
      if (unlocks.get(id) === unlock) return false
      unlocks.set(id, unlock)
      counters.delete(id)
      return true
    },
  }
}

/** The limits of forms in which a signed-in user enters a password: for each try, and for wrong passwords. */
export const passwordFormLimits = (userId: string): LimitedBy[] => [
  ['passwordOfUser', userId],
  ['passwordFormOfUser', userId],
]

const entryOf = (name: LimitName, key: string): LimitEntry => ({ name, id: `${name} ${key}` })
