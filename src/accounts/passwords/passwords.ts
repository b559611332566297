import { hash } from '@node-rs/argon2'
import { createBoundedQueue, type QueueLoad } from '../../lib/bounded-queue.ts'
import type { Caller } from '../../lib/caller.ts'
import { createGroups } from '../../lib/turns.ts'
import type { PasswordHash } from './foreign-hashes/foreign-hashes.ts'
import {
  createPasswordCheck,
  type HashCost,
  type PasswordCheck,
  readForeignHash,
  requireForeignHash,
} from './password-check.ts'

export type { HashCost } from './password-check.ts'

/**
 * While others wait for their turn, the work after a hash is done for a few users in a row, because a hash sweeps the
 * caches of its core empty (docs/decisions/031-logins-in-groups.md).
 */
const GROUP = { size: 4, maxWaitMs: 50 }

/**
 * Foreign hashes above these limits are checked one at a time in each process: they leave the other places of the queue,
 * and the memory, to those who sign in with a hash of today.
 */
const EXPENSIVE = { memoryBytes: 2 ** 27, seconds: 1 }
const ONE_AT_A_TIME = { maxRunning: 1, maxWaiting: 20, retryAfterSeconds: 10 }

/** A core fills so much: a hash of 19 MiB and 2 passes takes 10 ms. */
const KIB_A_SECOND = 3_891_200

interface PasswordsDeps {
  /** Hashes at once: the number of cores. */
  atOnce: number
  /** How many may wait for their turn. */
  waiting: number
  cost: HashCost
  /** One hash of another cost or system may hold so much memory. */
  foreignBytes: number
  /** Called after each hash with the seconds that it took, its wait not counted. */
  onHash?: ((seconds: number) => void) | undefined
}

/**
 * Password hashes: Argon2id on the thread pool, a few at a time. The rest waits in a queue that networks share fairly;
 * `unavailable` when the queue is full.
 */
export interface Passwords {
  load(): QueueLoad
  /** `unavailable` where a hash would find no place in the queue at this moment. */
  requireRoom(caller: Caller): void
  /** Makes a PHC string of a password in its normal form. */
  hash(password: string, caller?: Caller): Promise<string>
  /** Tells whether it is the password of this hash, foreign or not. Without a hash it is wrong, after the same work. */
  check(entered: string, hash: string | null | undefined, caller?: Caller): Promise<PasswordCheck>
  /** `unprocessable` on `password_hash` for a hash that no password can be checked with here, foreign or not. */
  requireCheckable(hash: string): Promise<unknown>
  /** Tells whether a password can be checked with it. If not, every password is wrong. */
  isCheckable(hash: string): Promise<boolean>
}

export const createPasswords = ({ atOnce, waiting, cost, foreignBytes, onHash }: PasswordsDeps): Passwords => {
  const { checkCurrentHash, matchesForeignHash, isForeign } = createPasswordCheck(cost)
  // This many seconds empty a full queue.
  const retryAfterSeconds = Math.max(1, Math.ceil((waiting * secondsOf(cost)) / atOnce))
  const queue = createBoundedQueue({ maxRunning: atOnce, maxWaiting: waiting, retryAfterSeconds })
  const limits = { ...ONE_AT_A_TIME, maxWaiting: Math.min(waiting, ONE_AT_A_TIME.maxWaiting) }
  const expensive = createBoundedQueue(limits)
  // Before the common queue: what waits for the one thread must take no place that a hash of today could have.
  const thread = createBoundedQueue(limits)

  const groups = createGroups(GROUP)

  const measured = async <T>(work: () => Promise<T>): Promise<T> => {
    const startedMs = performance.now()
    const result = await work()
    onHash?.((performance.now() - startedMs) / 1000)
    return result
  }

  const inTurn = async <T>(work: () => Promise<T>, caller: Caller | undefined): Promise<T> => {
    const result = await queue.run(() => measured(work), caller)
    // The next hash has begun by now.
    if (queue.load().waiting > 0) await groups.join()
    else groups.release()
    return result
  }

  /** All cheap ones that run at once hold no more than an expensive one may. */
  const isExpensive = ({ memoryBytes, seconds }: PasswordHash): boolean =>
    memoryBytes > Math.min(EXPENSIVE.memoryBytes, foreignBytes / atOnce) || seconds > EXPENSIVE.seconds

  const checkForeign = async (entered: string, text: string, caller?: Caller): Promise<PasswordCheck> => {
    const hash = await readForeignHash(text, foreignBytes)
    // A wrong password costs the work of an unknown email besides, and the right one a new hash: neither is answered
    // sooner than an unknown email.
    const orCurrent = async (isRight: boolean) => (isRight ? 'outdated' : checkCurrentHash(entered, undefined))
    if (!hash) return inTurn(() => orCurrent(false), caller)
    const matches = () => matchesForeignHash(entered, hash)
    if (hash.hasOwnThread) {
      const isRight = await thread.run(() => measured(matches), caller)
      return isRight ? 'outdated' : inTurn(() => orCurrent(false), caller)
    }
    const work = () => inTurn(async () => orCurrent(await matches()), caller)
    return isExpensive(hash) ? expensive.run(work, caller) : work()
  }

  return {
    load() {
      const loads = [queue, expensive, thread].map((each) => each.load())
      const sum = (key: 'waiting' | 'refused') => loads.reduce((total, each) => total + each[key], 0)
      return { ...queue.load(), waiting: sum('waiting'), refused: sum('refused') }
    },

    requireRoom: queue.requireRoom,

    hash: (password, caller) => inTurn(() => hash(Buffer.from(password), cost), caller),

    check: (entered, text, caller) =>
      typeof text === 'string' && isForeign(text)
        ? checkForeign(entered, text, caller)
        : inTurn(() => checkCurrentHash(entered, text), caller),

    requireCheckable: (text) => requireForeignHash(text, foreignBytes),
    isCheckable: async (text) => !isForeign(text) || (await readForeignHash(text, foreignBytes)) !== undefined,
  }
}

/** About what a hash takes of a core. */
const secondsOf = ({ memoryCost, timeCost }: HashCost): number => (memoryCost * timeCost) / KIB_A_SECOND
