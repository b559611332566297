import { AppError } from '../lib/errors.ts'
import type { Queries, Transaction } from '../storage/database.ts'
import type { SecondProof } from './amr.ts'

/** An account can prove these besides password and providers, as far as the settings allow it. */
export interface AccountFactors {
  /** Codes of an authenticator app. */
  codes: boolean
  /** How many are left; none count where there is nothing else that they could stand for. */
  recoveryCodes: number
  passkeys: number
}

/** The page of a link asks for a second factor of this account. */
export interface AskedFactor {
  userId: string
  /** Only what was there before counts; anything when left out. */
  madeBeforeMs?: number | undefined
  /** These go in the same step, and are neither asked for nor good. */
  without?: { appGoes: boolean; passkeyId: string | undefined; recoveryCodesSinceMs: number } | undefined
}

/** A code or a passkey that was right. Nothing was changed yet. */
export interface ProvedFactor extends SecondProof {
  /** Uses it up, in a transaction that has locked the user; `unauthorized` when another request was first. */
  apply(transaction: Transaction): Promise<void>
}

/** Finds what an account has of what is asked for. */
export type FindAsked = (asked: AskedFactor, queries?: Queries) => Promise<AccountFactors>

/** An app or a passkey: recovery codes alone stand for nothing. */
export const hasFactor = ({ codes, passkeys }: Pick<AccountFactors, 'codes' | 'passkeys'>): boolean =>
  codes || passkeys > 0

/** Anything that can be asked for: recovery codes may be left of an app that was replaced since. */
export const canProve = (factors: AccountFactors): boolean => hasFactor(factors) || factors.recoveryCodes > 0

/**
 * Uses up what was proved. An account may have got a second factor since it was read: a user who has proved none is
 * asked again then.
 */
export const useFactor = async (
  transaction: Transaction,
  findAsked: FindAsked,
  asked: AskedFactor,
  proved: ProvedFactor | undefined,
): Promise<void> => {
  if (proved) await proved.apply(transaction)
  else if (canProve(await findAsked(asked, transaction))) throw factorMissing()
}

/** The link stays good. */
export const factorMissing = (): AppError =>
  new AppError('unprocessable', 'Enter a code of the authenticator app or a recovery code, or use a passkey.', {
    field: 'code',
    reason: 'code_missing',
  })
