import type { RootSecret } from '../lib/derived-keys.ts'
import { createBoundedCache } from '../lib/bounded-cache.ts'
import { readEmail } from '../lib/email-address.ts'
import { type Clock, type MonotonicClock, monotonicClock } from '../lib/time.ts'
import type { Database, Transaction } from '../storage/database.ts'
import { type Action, type LimitedTryDeps, createAttempt } from './attempt.ts'
import {
  beginOfAccount,
  type Counter,
  countersOf,
  countersOfLogin,
  createAccountKey,
  type LimitedBy,
} from './counter.ts'
import { deleteCounters, type EntryPlace } from './counter-store.ts'
import { TooManyTries } from './too-many-tries.ts'

export type { LimitedBy } from './counter.ts'
export { TooManyTries } from './too-many-tries.ts'

/** This is a login with a password, in any form that takes one. */
interface LoginTry extends EntryPlace {
  /** This is the email, or the text that was entered in place of one. */
  emailLower: string
  /** Tries are counted under this name of the account; under the email if it is left out. */
  username?: string | undefined
  network: string
}

/** svc sets these limits to tries of clients, the same for all of its processes. */
export interface Limits {
  /**
   * Counts a try, runs `action`, and takes the try back from those of the limits whose rule (`counts`) does not apply
   * to its outcome. When one of the limits is reached, `action` does not run, nothing is counted, and the error is
   * `TooManyTries`. Throws `unavailable` if the database cannot count.
   */
  attempt<T>(limits: readonly LimitedBy[], action: () => Promise<T>): Promise<T>
  /** Counts while `action` begins. */
  attemptAtOnce<T>(limits: readonly LimitedBy[], action: Action<T>): Promise<T>
  /** Counts a password of an account as `attempt` does, whether or not there is one with this email. */
  attemptLogin<T>(login: LoginTry, action: () => Promise<T>): Promise<T>
  /** Counts the start of a sign-in with a provider, in this process alone. */
  countProviderStart(network: string): void
  /** Lets logins of an account, and the password forms of its user, begin to count from zero, at every process. */
  unlock(transaction: Transaction, account: UnlockedAccount): Promise<void>
}

interface UnlockedAccount {
  userId: string
  emailLower: string
  username: string
}

interface LimitsDeps extends Pick<LimitedTryDeps, 'onRefusal'> {
  db: Database
  clock: Clock
  rootSecret: RootSecret
  /** `SVC_RATE_LIMIT` sets it. */
  enabled: boolean
  elapsed?: MonotonicClock
}

/**
 * Counts tries in fixed windows, in the database. A window begins with the first try that counts in it. A try is
 * counted before its work is done, and taken back when it turns out not to count: a hundred at once are no more than a
 * hundred in a row (docs/decisions/004-rate-limits.md).
 */
export const createLimits = ({ rootSecret, enabled, elapsed = monotonicClock, ...deps }: LimitsDeps): Limits => {
  const attempt = createAttempt({ ...deps, elapsed })
  const startProvider = createProviderStarts(elapsed)

  const accountOf = createAccountKey(rootSecret)

  const attemptAtOnce: Limits['attemptAtOnce'] = (limits, action) => {
    const counters = limits.flatMap(countersOf)
    return enabled && isFilled(counters) ? attempt({ counters: inOrder(counters) }, action) : action(Promise.resolve())
  }

  return {
    attemptAtOnce,
    attempt: (limits, action) => attemptAtOnce(limits, onceAdmitted(action)),

    async attemptLogin({ network, emailLower: entered, username, deviceHash }, action) {
      if (!enabled) return action()
      const counters = inOrder(countersOfLogin(accountOf(username ?? entered), network))
      // A text that is no email may hold characters that no database compares, such as a NUL.
      const place = { emailLower: readEmail(entered)?.lower ?? '', deviceHash }
      return attempt({ counters, place }, onceAdmitted(action))
    },

    countProviderStart(network) {
      if (enabled) startProvider(network)
    },

    async unlock(transaction, { emailLower, username, userId }) {
      const names = [emailLower, username].map((name) => beginOfAccount(accountOf(name))).toSorted()
      for (const begin of names) await deleteCounters(transaction, begin, `passwordOfUser ${userId}`)
    },
  }
}

const isFilled = (counters: Counter[]): counters is [Counter, ...Counter[]] => counters.length > 0

/** Sorts counters by their ids, by code units, as the database compares them (COLLATE "C"). */
const inOrder = (counters: [Counter, ...Counter[]]): [Counter, ...Counter[]] => {
  counters.sort((one, other) => (one.id < other.id ? -1 : 1))
  return counters
}

const onceAdmitted =
  <T>(action: () => Promise<T>): Action<T> =>
  async (admitted) => {
    await admitted
    return action()
  }

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
const createProviderStarts = (clock: MonotonicClock): ((network: string) => void) => {
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
