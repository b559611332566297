import { LRUCache } from 'lru-cache'
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

/** Whether it was done at all: the sender has not gone, and nothing was away. */
const wasDone = (thrown: unknown): boolean => !(thrown instanceof AppError && thrown.code === 'unavailable')

/** A right password that lets nobody in counts too, as where there have been too many logins: its hash was made. */
const failed = (thrown: unknown): boolean => thrown instanceof AppError && wasDone(thrown)

const succeeded = (thrown: unknown): boolean => thrown === undefined

/** A mistake that the user must mend does not count. A taken name does: that answer tells what there is. */
const takesName = (thrown: unknown): boolean =>
  succeeded(thrown) || (thrown instanceof AppError && thrown.code === 'conflict')

/**
 * What is counted, and for whom. Failed logins count for an address, and for an account as tried from one address:
 * a limit on the account alone would let anybody lock anybody out (docs/decisions/004-rate-limits.md).
 */
const LIMITS = {
  login: { tries: 10, windowMs: 15 * MINUTE_MS, counts: failed },
  loginOfAddress: { tries: 100, windowMs: 15 * MINUTE_MS, counts: failed },
  successfulLogin: { tries: 30, windowMs: 15 * MINUTE_MS, counts: succeeded },
  signupOfAddress: { tries: 30, windowMs: 60 * MINUTE_MS, counts: takesName },
  providerOfAddress: { tries: 300, windowMs: 15 * MINUTE_MS, counts: always },
  passwordOfUser: { tries: 10, windowMs: 15 * MINUTE_MS, counts: isWrongPassword },
  passwordFormOfUser: { tries: 30, windowMs: 15 * MINUTE_MS, counts: wasDone },
  usernameOfUser: { tries: 5, windowMs: 60 * MINUTE_MS, counts: takesName },
} satisfies Record<string, Limit>

export type LimitName = keyof typeof LIMITS
export const LIMIT_NAMES = Object.keys(LIMITS) as LimitName[]

/** What is remembered at most, so that a flood of addresses does not fill the memory. */
const MAX_COUNTERS = 100_000

/** When to try again where only tries that are still under way are in the way. */
const RETRY_SOON_MS = 2000

interface Counter {
  count: number
  endsAtMs: number
}

/** A place that a try takes in one of the limits. */
interface Place {
  name: LimitName
  id: string
}

interface RateLimitsDeps {
  clock: MonotonicClock
  enabled: boolean
  /** Called for every try that is refused, with the limit that lasts longest. */
  onRefusal?: ((limit: LimitName) => void) | undefined
}

/**
 * Counts tries in fixed windows, in this process. A window begins with the first try that counts. A try takes a place in
 * each of its limits, or in none, before its work is done: many at once gain nothing. Whether it counts is known when
 * its work is done.
 */
export const createRateLimits = ({ clock, enabled, onRefusal }: RateLimitsDeps) => {
  // By size and not by `max`, for which the memory of them all is taken at once.
  const counters = new LRUCache<string, Counter>({ maxSize: MAX_COUNTERS, sizeCalculation: () => 1 })
  /** Apart from the counters: a flood of addresses pushes none of these out. */
  const underWay = new Map<string, number>()

  const findCounter = (id: string): Counter | undefined => {
    const counter = counters.get(id)
    return counter && counter.endsAtMs > clock.elapsedMs() ? counter : undefined
  }

  const increase = ({ name, id }: Place): void => {
    const counter = findCounter(id)
    if (counter) counter.count += 1
    else counters.set(id, { count: 1, endsAtMs: clock.elapsedMs() + LIMITS[name].windowMs })
  }

  /** Milliseconds until this limit lets another try in; 0: it does so now. */
  const waitOf = ({ name, id }: Place): number => {
    const { tries } = LIMITS[name]
    const counter = findCounter(id)
    const count = counter?.count ?? 0
    if (counter && count >= tries) return counter.endsAtMs - clock.elapsedMs()
    return count + (underWay.get(id) ?? 0) >= tries ? RETRY_SOON_MS : 0
  }

  /** `rate_limited` when one of the limits is reached. */
  const requireRoom = (places: Place[]): void => {
    const waits = places.map((place) => ({ name: place.name, waitMs: waitOf(place) }))
    const longest = waits.reduce((one, other) => (other.waitMs > one.waitMs ? other : one))
    if (longest.waitMs === 0) return
    onRefusal?.(longest.name)
    throw tooMany(Math.ceil(longest.waitMs / 1000))
  }

  const enter = ({ id }: Place): void => void underWay.set(id, (underWay.get(id) ?? 0) + 1)

  const leave = (place: Place, thrown: unknown): void => {
    const others = (underWay.get(place.id) ?? 0) - 1
    if (others > 0) underWay.set(place.id, others)
    else underWay.delete(place.id)
    if (LIMITS[place.name].counts(thrown)) increase(place)
  }

  return {
    /** Counts a try at once, whatever comes of it; `rate_limited` when there were too many. */
    count(name: LimitName, key: string): void {
      if (!enabled) return
      const place = placeOf(name, key)
      requireRoom([place])
      increase(place)
    },

    /**
     * Does something that may count in each of these limits, and counts it where it does. `rate_limited` when one of
     * them is reached: then nothing is done, and nothing is counted.
     */
    async attempt<T>(limits: [LimitName, string][], action: () => Promise<T>): Promise<T> {
      if (!enabled) return action()
      const places = limits.map(([name, key]) => placeOf(name, key))
      requireRoom(places)
      places.forEach(enter)
      let thrown: unknown
      try {
        return await action()
      } catch (error) {
        thrown = error
        throw error
      } finally {
        for (const place of places) leave(place, thrown)
      }
    },
  }
}

export type RateLimits = ReturnType<typeof createRateLimits>

/** A password form of a user who is signed in counts whatever comes of it, and once more when the password is wrong. */
export const passwordFormLimits = (userId: string): [LimitName, string][] => [
  ['passwordOfUser', userId],
  ['passwordFormOfUser', userId],
]

const placeOf = (name: LimitName, key: string): Place => ({ name, id: `${name} ${key}` })

const tooMany = (retryAfterSeconds: number): AppError =>
  new AppError('rate_limited', `Too many tries. Try again in ${retryAfterSeconds} seconds.`, { retryAfterSeconds })
