import type { Caller } from '../lib/bounded-queue.ts'
import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { Database, Queries } from '../storage/database.ts'
import type { Passwords } from '../users/passwords.ts'
import { newRecoveryCodes, showRecoveryCode } from './recovery-code.ts'
import { countRecoveryCodes, deleteRecoveryCodes, insertRecoveryCode } from './recovery-code-store.ts'

/** Ten new codes, hashed and not yet stored. */
export interface PreparedRecoveryCodes {
  /** As the user sees them, once. */
  codes: string[]
  /** Stores them where the account has none, in a transaction that has locked the user; false where it has some now. */
  insert(transaction: Queries): Promise<boolean>
  /** Stores them in place of those that there are. */
  replace(transaction: Queries): Promise<void>
}

interface RecoveryCodeSetsDeps {
  db: Database
  clock: Clock
  passwords: Passwords
}

export const createRecoveryCodeSets = ({ db, clock, passwords }: RecoveryCodeSetsDeps) => {
  const prepare = async (userId: string, caller?: Caller): Promise<PreparedRecoveryCodes> => {
    const fresh = newRecoveryCodes()
    const hashes = await Promise.all(fresh.map(({ text }) => passwords.hash(text, caller)))
    const replace = async (transaction: Queries): Promise<void> => {
      await deleteRecoveryCodes(transaction, userId)
      const nowMs = clock.now()
      for (const [index, hash] of hashes.entries())
        await insertRecoveryCode(transaction, { userId, place: String(index), hash }, nowMs)
    }
    return {
      codes: fresh.map(showRecoveryCode),
      replace,
      async insert(transaction) {
        if ((await countRecoveryCodes(transaction, userId)) > 0) return false
        await replace(transaction)
        return true
      },
    }
  }

  return {
    prepare,

    /** Undefined where the account has some: their owner has kept them, and they stay. */
    async prepareFirst(userId: string, caller?: Caller): Promise<PreparedRecoveryCodes | undefined> {
      return (await countRecoveryCodes(db, userId)) > 0 ? undefined : prepare(userId, caller)
    },
  }
}

/** Another request has changed the second factor in the meantime. */
export const factorChanged = (): AppError =>
  new AppError('conflict', 'Your second factor was changed in the meantime. Nothing was done: load the page again.', {
    reason: 'factor_changed',
  })
