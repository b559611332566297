import type { Caller } from '../lib/caller.ts'
import { AppError } from '../lib/errors.ts'
import type { Queries } from '../storage/database.ts'
import { deleteRecoveryCodes, findNewestRecoveryCode, insertRecoveryCode } from './second-factor-store.ts'
import type { FactorDeps } from './factor-deps.ts'
import { createSealedTokens } from '../lib/sealed-token.ts'
import { randomBytes } from 'node:crypto'

/** Crockford's Base32 has no letter that looks like a digit or like another letter. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const LENGTH = 16
const GROUP = /.{4}(?=.)/g

/** A set has as many. */
export const RECOVERY_CODES = 10

/** The code has the form that is hashed: 16 characters without hyphens. */
export interface RecoveryCode {
  /** The first character says which of the ten codes it is, so that a try costs one hash. */
  place: string
  text: string
}

/** Makes a new set of ten codes, each with 75 random bits behind the digit of its place. */
export const newRecoveryCodes = (): RecoveryCode[] =>
  Array.from({ length: RECOVERY_CODES }, (_, index) => {
    const place = String(index)
    // A byte has eight times as many values as the alphabet, so each character is as likely as every other.
    const characters = [...randomBytes(LENGTH - 1)].map((byte) => ALPHABET[byte % ALPHABET.length])
    return { place, text: place + characters.join('') }
  })

/** Shows a code to people in groups of four. */
export const showRecoveryCode = ({ text }: RecoveryCode): string => text.replaceAll(GROUP, '$&-')

/**
 * Reads a code that a user has typed, in any case, with or without hyphens and spaces, and with the letters that
 * Crockford reads as digits. It returns undefined for anything that cannot be a recovery code.
 */
export const readRecoveryCode = (entered: string): RecoveryCode | undefined => {
  const text = entered.toLowerCase().replaceAll(/[\s-]/g, '').replaceAll('o', '0').replaceAll(/[il]/g, '1')
  const isCode = text.length === LENGTH && [...text].every((character) => ALPHABET.includes(character))
  return isCode ? { place: text.slice(0, 1), text } : undefined
}

/** Ten new codes are hashed and not yet stored. */
export interface PreparedRecoveryCodes {
  /** The user sees them once. */
  codes: string[]
  /**
   * Stores them in place of the existing codes, in a transaction that has locked the user. It resolves to false if
   * other codes were made since these were prepared. This way, when two requests come at once, the codes that a user
   * sees are the good ones.
   */
  insert(transaction: Queries): Promise<boolean>
}

export const createRecoveryCodeSets = ({ db, clock, passwords }: Pick<FactorDeps, 'clock' | 'db' | 'passwords'>) => {
  const prepareAfter = async (
    userId: string,
    newestMs: number | undefined,
    caller?: Caller,
  ): Promise<PreparedRecoveryCodes> => {
    const fresh = newRecoveryCodes()
    const hashes = await Promise.all(fresh.map(({ text }) => passwords.hash(text, caller)))
    return {
      codes: fresh.map(showRecoveryCode),
      async insert(transaction) {
        if ((await findNewestRecoveryCode(transaction, userId)) !== newestMs) return false
        await deleteRecoveryCodes(transaction, userId)
        const nowMs = clock.now()
        for (const [index, hash] of hashes.entries())
          await insertRecoveryCode(transaction, { userId, place: String(index), hash }, nowMs)
        return true
      },
    }
  }

  return {
    /** The new codes replace those that the account has. */
    async prepare(userId: string, caller?: Caller): Promise<PreparedRecoveryCodes> {
      return prepareAfter(userId, await findNewestRecoveryCode(db, userId), caller)
    },

    /** It resolves to undefined if the account has some: their owner has kept them, and they stay. */
    async prepareFirst(userId: string, caller?: Caller): Promise<PreparedRecoveryCodes | undefined> {
      const newestMs = await findNewestRecoveryCode(db, userId)
      return newestMs === undefined ? prepareAfter(userId, undefined, caller) : undefined
    },
  }
}

export const factorChanged = (): AppError =>
  new AppError('conflict', 'Your second factor was changed in the meantime. Nothing was done: load the page again.', {
    reason: 'factor_changed',
  })

const TEN_MINUTES_MS = 600_000

/** Carries recovery codes to the page that shows them once. No readable copy of them is stored anywhere. */
export const createShownCodes = ({ rootSecret, clock }: Pick<FactorDeps, 'clock' | 'rootSecret'>) => {
  const tokens = createSealedTokens<string[]>({
    rootSecret,
    clock,
    purpose: 'recovery codes to show',
    lifetimeMs: TEN_MINUTES_MS,
  })

  return {
    sealCodes: (userId: string, codes: string[]): string => tokens.seal(codes, userId),

    openCodes(userId: string, sealed: string | undefined): string[] | undefined {
      const opened = tokens.open(sealed, userId)
      return opened && !opened.problem ? opened.content : undefined
    },
  }
}
