import { verify } from '@node-rs/argon2'
import { AppError } from '../../lib/errors.ts'
import { onDemand } from '../../lib/on-demand.ts'
import type { PasswordHash } from './foreign-hashes/foreign-hashes.ts'
import { normalizePassword } from './password-rules.ts'

/** What a hash of ours costs to make; memory in KiB. */
export interface HashCost {
  memoryCost: number
  timeCost: number
  parallelism: number
}

/** What comes after the cost in the hash of 32 forgotten random bytes. */
const DUMMY = 'c3ZjLWR1bW15LXNhbHQtMQ$7I2tYHUbYRFoCpmbNnz1vdWbaq2zqnwqmOWdISF6m1E'

/**
 * What became of a check. `outdated`: it is the password, and its hash, made at another cost or by another system, is to
 * be replaced.
 */
export type PasswordCheck = 'wrong' | 'right' | 'outdated'

const { parsePasswordHash } = onDemand(() => import('./foreign-hashes/foreign-hashes.ts'), 'parsePasswordHash')

export const createPasswordCheck = ({ memoryCost, timeCost, parallelism }: HashCost) => {
  const current = `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$`
  /** At the same cost as a real one. */
  const dummyHash = current + DUMMY

  /** A hash that cannot be read matches nothing, after the same work: the time must not tell that there is an account. */
  const verifyOrRefuse = async (phc: string, password: Buffer): Promise<boolean> => {
    try {
      return await verify(phc, password)
    } catch {
      return (await verify(dummyHash, password)) && false
    }
  }

  /**
   * The password is in its normal form in our hashes. Another system, whose hashes look the same, may have left it as it
   * was typed.
   */
  const checkCurrentHash = async (entered: string, phc: string | null | undefined): Promise<PasswordCheck> => {
    const [normal, typed] = spellings(normalizePassword(entered), entered)
    const isRight = (password: Buffer | undefined) =>
      password !== undefined && verifyOrRefuse(phc ?? dummyHash, password)
    const result = (await isRight(normal)) ? 'right' : (await isRight(typed)) ? 'outdated' : 'wrong'
    return typeof phc === 'string' && entered !== '' ? result : 'wrong'
  }

  return {
    checkCurrentHash,

    /**
     * An empty password is wrong: some systems store its hash for accounts that have none.
     */
    async matchesForeignHash(entered: string, hash: PasswordHash): Promise<boolean> {
      for (const password of entered === '' ? [] : spellings(entered, entered.normalize(hash.normalForm)))
        if (await hash.matches(password)) return true
      return false
    },

    /** Whether a hash was made at another cost, or by another system. */
    isForeign: (text: string): boolean => !text.startsWith(current),
  }
}

const spellings = (first: string, second: string): Buffer[] =>
  [...new Set([first, second])].map((spelling) => Buffer.from(spelling))

/** `unprocessable` on `password_hash` for a hash that cannot be checked with so much memory. */
export const requireForeignHash = (text: string, maxMemoryBytes: number): Promise<PasswordHash> =>
  parsePasswordHash(text, maxMemoryBytes)

/** The hash of another system; undefined where it cannot be checked. */
export const readForeignHash = async (text: string, maxMemoryBytes: number): Promise<PasswordHash | undefined> => {
  try {
    return await requireForeignHash(text, maxMemoryBytes)
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}
