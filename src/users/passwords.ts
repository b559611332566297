import { hash } from '@node-rs/argon2'
import { createBoundedQueue, type QueueLoad } from '../lib/bounded-queue.ts'
import type { Caller } from '../lib/caller.ts'
import { createGroups } from '../lib/groups.ts'
import type { PasswordHash } from './foreign-hashes/foreign-hashes.ts'
import { createPasswordCheck, type HashCost, type PasswordCheck, readForeignHash } from './password-check.ts'

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
const EXPENSIVE_WAITING = 20
const EXPENSIVE_RETRY_SECONDS = 10

/** What a core fills: a hash of 19 MiB and 2 passes takes 10 ms. */
const KIB_A_SECOND = 3_891_200

interface PasswordsDeps {
  /** Hashes at once: the number of cores. */
  atOnce: number
  /** How many may wait for their turn. */
  waiting: number
  cost: HashCost
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
  /** A PHC string for a password in its normal form. */
  hash(password: string, caller?: Caller): Promise<string>
  /** Whether it is the password of this hash, foreign or not. Without a hash it is wrong, after the same work. */
  check(entered: string, hash: string | null | undefined, caller?: Caller): Promise<PasswordCheck>
}

export const createPasswords = ({ atOnce, waiting, cost, onHash }: PasswordsDeps): Passwords => {
  const { checkCurrentHash, checkForeignHash, isForeign } = createPasswordCheck(cost)
  // This many seconds empty a full queue.
  const retryAfterSeconds = Math.max(1, Math.ceil((waiting * secondsOf(cost)) / atOnce))
  const queue = createBoundedQueue({ maxRunning: atOnce, maxWaiting: waiting, retryAfterSeconds })
  const expensive = createBoundedQueue({
    maxRunning: 1,
    maxWaiting: Math.min(waiting, EXPENSIVE_WAITING),
    retryAfterSeconds: EXPENSIVE_RETRY_SECONDS,
  })

  const groups = createGroups(GROUP)

  const measured = async <T>(work: () => Promise<T>): Promise<T> => {
    const startedMs = performance.now()
    const result = await work()
    onHash?.((performance.now() - startedMs) / 1000)
    return result
  }

  const inTurn = async <T>(work: () => Promise<T>, caller: Caller | undefined): Promise<T> => {
    const result = await queue.run(() => measured(work), caller)
    // Here the next hash has begun already.
    if (queue.load().waiting > 0) await groups.join()
    else groups.release()
    return result
  }

  const checkForeign = async (entered: string, text: string, caller?: Caller): Promise<PasswordCheck> => {
    const hash = await readForeignHash(text)
    const work = () => inTurn(() => checkForeignHash(entered, hash), caller)
    return hash && isExpensive(hash) ? expensive.run(work, caller) : work()
  }

  return {
    load() {
      const load = queue.load()
      const { waiting: waitingForExpensive, refused } = expensive.load()
      return { ...load, waiting: load.waiting + waitingForExpensive, refused: load.refused + refused }
    },

    requireRoom: queue.requireRoom,

    hash: (password, caller) => inTurn(() => hash(Buffer.from(password), cost), caller),

    check: (entered, text, caller) =>
      typeof text === 'string' && isForeign(text)
        ? checkForeign(entered, text, caller)
        : inTurn(() => checkCurrentHash(entered, text), caller),
  }
}

/** About what a hash takes of a core. */
const secondsOf = ({ memoryCost, timeCost }: HashCost): number => (memoryCost * timeCost) / KIB_A_SECOND

const isExpensive = ({ memoryBytes, seconds }: PasswordHash): boolean =>
  memoryBytes > EXPENSIVE.memoryBytes || seconds > EXPENSIVE.seconds
