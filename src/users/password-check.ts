import { verify } from '@node-rs/argon2'
import { AppError } from '../lib/errors.ts'
import { onDemand } from '../lib/on-demand.ts'
import type { PasswordHash } from './foreign-hashes/foreign-hashes.ts'
import { normalizePassword } from './password-rules.ts'

/** OWASP Password Storage Cheat Sheet: Argon2id, 19 MiB, 2 passes, 1 lane. */
export const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const CURRENT = `$argon2id$v=19$m=${COST.memoryCost},t=${COST.timeCost},p=${COST.parallelism}$`

/** The hash of 32 forgotten random bytes, at the same cost as a real one. */
const DUMMY_HASH = `${CURRENT}c3ZjLWR1bW15LXNhbHQtMQ$7I2tYHUbYRFoCpmbNnz1vdWbaq2zqnwqmOWdISF6m1E`

/**
 * What became of a check. `outdated`: it is the password, and its hash, made at another cost or by another system, is to
 * be replaced.
 */
export type PasswordCheck = 'wrong' | 'right' | 'outdated'

const { parsePasswordHash } = onDemand(() => import('./foreign-hashes/foreign-hashes.ts'), 'parsePasswordHash')

/**
 * The password is in its normal form in our hashes. Another system, whose hashes look the same, may have left it as it
 * was typed.
 */
export const checkCurrentHash = async (entered: string, phc: string | null | undefined): Promise<PasswordCheck> => {
  const [normal, typed] = spellings(normalizePassword(entered), entered)
  const isRight = (password: Buffer | undefined) =>
    password !== undefined && verifyOrRefuse(phc ?? DUMMY_HASH, password)
  const result = (await isRight(normal)) ? 'right' : (await isRight(typed)) ? 'outdated' : 'wrong'
  return typeof phc === 'string' && entered !== '' ? result : 'wrong'
}

/**
 * An empty password is wrong: some systems store its hash for accounts that have none. A wrong password costs the work
 * of an unknown email besides, and the right one a new hash: neither is answered sooner than an unknown email.
 */
export const checkForeignHash = async (entered: string, hash: PasswordHash | undefined): Promise<PasswordCheck> => {
  for (const password of hash && entered !== '' ? spellings(entered, entered.normalize(hash.normalForm)) : [])
    if (await hash?.matches(password)) return 'outdated'
  return checkCurrentHash(entered, undefined)
}

const spellings = (first: string, second: string): Buffer[] =>
  [...new Set([first, second])].map((spelling) => Buffer.from(spelling))

/** Whether a hash was made at another cost, or by another system. */
export const isForeign = (text: string): boolean => !text.startsWith(CURRENT)

/** A hash that cannot be read matches nothing, after the same work: the time must not tell that there is an account. */
export const readForeignHash = async (text: string): Promise<PasswordHash | undefined> => {
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
