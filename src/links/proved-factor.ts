import { AppError } from '../lib/errors.ts'
import type { SecondProof } from '../sign-in/amr.ts'
import type { Queries, Transaction } from '../storage/database.ts'

/** Whose second factor the page of a link asks for. */
export interface AskedFactor {
  userId: string
  /** Only what was there before counts; anything when left out. */
  madeBeforeMs?: number | undefined
  /** What goes in the same step, and is neither asked for nor good. */
  without?: { appGoes: boolean; passkeyId: string | undefined; recoveryCodesSinceMs: number } | undefined
}

/** A code or a passkey that was right. Nothing was changed yet. */
export interface ProvedFactor extends SecondProof {
  /** Uses it up, in a transaction that has locked the user; `unauthorized` when another request was first. */
  apply(transaction: Transaction): Promise<void>
}

/** Whether an account has codes or a passkey, of what the settings allow. */
export type HasFactor = (asked: AskedFactor, queries: Queries) => Promise<boolean>

/**
 * Uses up what was proved. An account may have got a second factor since it was read: a user who has proved none is
 * asked again then.
 */
export const useFactor = async (
  transaction: Transaction,
  hasFactor: HasFactor,
  asked: AskedFactor,
  proved: ProvedFactor | undefined,
): Promise<void> => {
  if (proved) await proved.apply(transaction)
  else if (await hasFactor(asked, transaction)) throw factorMissing()
}

/** The link stays good. */
export const factorMissing = (): AppError =>
  new AppError('unprocessable', 'Enter a code of the authenticator app or a recovery code, or use a passkey.', {
    field: 'code',
    reason: 'code_missing',
  })
