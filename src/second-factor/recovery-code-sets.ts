import type { Caller } from '../lib/caller.ts'
import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { Database, Queries } from '../storage/database.ts'
import type { Passwords } from '../accounts/passwords/passwords.ts'
import { newRecoveryCodes, showRecoveryCode } from './recovery-code.ts'
import { deleteRecoveryCodes, findNewestRecoveryCode, insertRecoveryCode } from './recovery-code-store.ts'

/** Ten new codes, hashed and not yet stored. */
export interface PreparedRecoveryCodes {
  /** As the user sees them, once. */
  codes: string[]
  /**
   * Stores them in place of those that there are, in a transaction that has locked the user; false where others were
   * made since these were prepared. So of two requests at once, the codes that a user sees are those that are good.
   */
  insert(transaction: Queries): Promise<boolean>
}

interface RecoveryCodeSetsDeps {
  db: Database
  clock: Clock
  passwords: Passwords
}

export const createRecoveryCodeSets = ({ db, clock, passwords }: RecoveryCodeSetsDeps) => {
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
    /** In place of those that the account has. */
    async prepare(userId: string, caller?: Caller): Promise<PreparedRecoveryCodes> {
      return prepareAfter(userId, await findNewestRecoveryCode(db, userId), caller)
    },

    /** Undefined where the account has some: their owner has kept them, and they stay. */
    async prepareFirst(userId: string, caller?: Caller): Promise<PreparedRecoveryCodes | undefined> {
      const newestMs = await findNewestRecoveryCode(db, userId)
      return newestMs === undefined ? prepareAfter(userId, undefined, caller) : undefined
    },
  }
}

/** Another request has changed the second factor in the meantime. */
export const factorChanged = (): AppError =>
  new AppError('conflict', 'Your second factor was changed in the meantime. Nothing was done: load the page again.', {
    reason: 'factor_changed',
  })
