import { hash, verify } from '@node-rs/argon2'
import { type Caller, createBoundedQueue, type QueueLoad } from '../lib/bounded-queue.ts'
import { AppError } from '../lib/errors.ts'
import { createGroups } from '../lib/groups.ts'
import { onDemand } from '../lib/on-demand.ts'
import type { PasswordHash } from './foreign-hashes/foreign-hashes.ts'
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

/**
 * Foreign hashes above these limits are checked one at a time in each process: they leave the other places of the queue,
 * and the memory, to those who sign in with a hash of today.
 */
const EXPENSIVE = { memoryBytes: 2 ** 27, seconds: 1 }
const EXPENSIVE_WAITING = 20
const EXPENSIVE_RETRY_SECONDS = 10

interface PasswordsDeps {
  /** Hashes at once: the number of cores. */
  atOnce: number
  /** How many may wait for their turn. */
  waiting: number
  /** Called after each hash with the seconds that it took, its wait not counted. */
  onHash?: ((seconds: number) => void) | undefined
}

/**
 * What became of a check. `outdated`: it is the password, and its hash, made at another cost or by another system, is to
 * be replaced.
 */
type PasswordCheck = 'wrong' | 'right' | 'outdated'

/**
 * Password hashes: Argon2id on the thread pool, a few at a time. The rest waits in a queue that networks share fairly;
 * `unavailable` when the queue is full.
 */
export interface Passwords {
  load(): QueueLoad
  /** A PHC string for a password in its normal form. */
  hash(password: string, caller?: Caller): Promise<string>
  /** Whether it is the password of this hash, foreign or not. Without a hash it is wrong, after the same work. */
  check(entered: string, hash: string | null | undefined, caller?: Caller): Promise<PasswordCheck>
}

const { parsePasswordHash } = onDemand(() => import('./foreign-hashes/foreign-hashes.ts'), 'parsePasswordHash')

export const createPasswords = ({ atOnce, waiting, onHash }: PasswordsDeps): Passwords => {
  // One hash takes about 10 ms of a core: this many seconds empty a full queue.
  const retryAfterSeconds = Math.max(1, Math.ceil((waiting * 0.01) / atOnce))
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
    const hash = await readOrNothing(text)
    const work = () => inTurn(() => checkForeignHash(entered, hash), caller)
    return hash && isExpensive(hash) ? expensive.run(work, caller) : work()
  }

  return {
    load() {
      const load = queue.load()
      const { waiting: waitingForExpensive, refused } = expensive.load()
      return { ...load, waiting: load.waiting + waitingForExpensive, refused: load.refused + refused }
    },

    hash: (password, caller) => inTurn(() => hash(Buffer.from(password), COST), caller),

    check: (entered, text, caller) =>
      typeof text === 'string' && !text.startsWith(CURRENT)
        ? checkForeign(entered, text, caller)
        : inTurn(() => checkCurrentHash(entered, text), caller),
  }
}

/**
 * The password is in its normal form in our hashes. Another system, whose hashes look the same, may have left it as it
 * was typed.
 */
const checkCurrentHash = async (entered: string, phc: string | null | undefined): Promise<PasswordCheck> => {
  const [normal, typed] = spellings(normalizePassword(entered), entered)
  const isRight = (password: Buffer | undefined) =>
    password !== undefined && verifyOrRefuse(phc ?? DUMMY_HASH, password)
  const result = (await isRight(normal)) ? 'right' : (await isRight(typed)) ? 'outdated' : 'wrong'
  return typeof phc === 'string' && entered !== '' ? result : 'wrong'
}

/**
 * An empty password is wrong: some systems store its hash for accounts that have none.
 * A wrong password costs a hash of ours besides, as the right one does, whose hash is then replaced: neither is answered
 * sooner than an email that is unknown.
 */
const checkForeignHash = async (entered: string, hash: PasswordHash | undefined): Promise<PasswordCheck> => {
  for (const password of hash && entered !== '' ? spellings(entered, entered.normalize(hash.normalForm)) : [])
    if (await hash?.matches(password)) return 'outdated'
  await verify(DUMMY_HASH, entered)
  return 'wrong'
}

const spellings = (first: string, second: string): Buffer[] =>
  [...new Set([first, second])].map((spelling) => Buffer.from(spelling))

const isExpensive = ({ memoryBytes, seconds }: PasswordHash): boolean =>
  memoryBytes > EXPENSIVE.memoryBytes || seconds > EXPENSIVE.seconds

/** A hash that cannot be read matches nothing, after the same work: the time must not tell that there is an account. */
const readOrNothing = async (text: string): Promise<PasswordHash | undefined> => {
  try {
    return await parsePasswordHash(text)
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** The same for a hash of ours. */
const verifyOrRefuse = async (phc: string, password: Buffer): Promise<boolean> => {
  try {
    return await verify(phc, password)
  } catch {
    return (await verify(DUMMY_HASH, password)) && false
  }
}
