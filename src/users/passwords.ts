import { hash, verify } from '@node-rs/argon2'
import { type Caller, createBoundedQueue, type QueueLoad } from '../lib/bounded-queue.ts'
import { createGroups } from '../lib/groups.ts'
import { normalizePassword } from './password-rules.ts'

/** OWASP Password Storage Cheat Sheet: Argon2id, 19 MiB, 2 passes, 1 lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const CURRENT = `$argon2id$v=19$m=${COST.memoryCost},t=${COST.timeCost},p=${COST.parallelism}$`

/** The hash of 32 forgotten random bytes, at the same cost as a real one. */
const DUMMY_HASH = `${CURRENT}c3ZjLWR1bW15LXNhbHQtMQ$7I2tYHUbYRFoCpmbNnz1vdWbaq2zqnwqmOWdISF6m1E`

/**
 * While others wait for their turn, the work after a hash is done for a few users in a row, because a hash sweeps the
 * caches of its core empty (docs/decisions/031-logins-in-groups.md).
 */
const GROUP = { size: 4, maxWaitMs: 50 }

interface PasswordsDeps {
  /** Hashes at once: the number of cores. */
  atOnce: number
  /** How many may wait for their turn. */
  waiting: number
  /** Called after each hash with the seconds that it took, its wait not counted. */
  onHash?: ((seconds: number) => void) | undefined
}

/**
 * Password hashes: Argon2id on the thread pool, a few at a time. The rest waits in a queue that networks share fairly;
 * `unavailable` when the queue is full.
 */
export interface Passwords {
  load(): QueueLoad
  /** A PHC string for a password in its normal form. */
  hash(password: string, caller?: Caller): Promise<string>
  /** Whether it is the password of this hash. Without a hash the answer is no, after the same work. */
  matches(entered: string, phc: string | null | undefined, caller?: Caller): Promise<boolean>
  /** Whether the hash was made at another cost, or by another program. */
  isOutdated(phc: string): boolean
}

export const createPasswords = ({ atOnce, waiting, onHash }: PasswordsDeps): Passwords => {
  // One hash takes about 10 ms of a core: this many seconds empty a full queue.
  const retryAfterSeconds = Math.max(1, Math.ceil((waiting * 0.01) / atOnce))
  const queue = createBoundedQueue({ maxRunning: atOnce, maxWaiting: waiting, retryAfterSeconds })

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

  return {
    load: () => queue.load(),

    hash: (password, caller) => inTurn(() => hash(Buffer.from(password), COST), caller),

    async matches(entered, phc, caller) {
      const password = Buffer.from(normalizePassword(entered))
      const matches = await inTurn(() => verifyOrRefuse(phc ?? DUMMY_HASH, password), caller)
      return matches && typeof phc === 'string'
    },

    isOutdated: (phc) => !phc.startsWith(CURRENT),
  }
}

/** A hash that cannot be read matches nothing, after the same work: the time must not tell that there is an account. */
const verifyOrRefuse = async (phc: string, password: Buffer): Promise<boolean> => {
  try {
    return await verify(phc, password)
  } catch {
    return (await verify(DUMMY_HASH, password)) && false
  }
}
