import { AppError } from '../lib/errors.ts'
import type { Queries, Transaction } from '../storage/database.ts'
import type { SecondProof } from './amr.ts'

/** An account can prove these besides password and providers, as far as the settings allow it. */
export interface AccountFactors {
  /** It tells whether there are codes of an authenticator app. */
  codes: boolean
  /** It counts the codes that are left; none count if there is nothing else that they could stand for. */
  recoveryCodes: number
  passkeys: number
}

/** The page of a link asks for a second factor of this account. */
export interface AskedFactor {
  userId: string
  /** A factor counts only if it was made before this time; every factor counts when it is left out. */
  madeBeforeMs?: number | undefined
  /** These go in the same step, and are neither asked for nor good. */
  without?: { appGoes: boolean; passkeyId: string | undefined; recoveryCodesSinceMs: number } | undefined
}

/** The code or the passkey was right. Nothing was changed yet. */
export interface ProvedFactor extends SecondProof {
  /** Uses it up, in a transaction that has locked the user. It throws `unauthorized` when another request was first. */
  apply(transaction: Transaction): Promise<void>
}

/** Finds the factors that an account has among those that are asked for. */
export type FindAsked = (asked: AskedFactor, queries?: Queries) => Promise<AccountFactors>

/** An app or a passkey counts; recovery codes alone stand for nothing. */
export const hasFactor = ({ codes, passkeys }: Pick<AccountFactors, 'codes' | 'passkeys'>): boolean =>
  codes || passkeys > 0

/** Anything that can be asked for counts: recovery codes may be left of an app that was replaced since. */
export const canProve = (factors: AccountFactors): boolean => hasFactor(factors) || factors.recoveryCodes > 0

/**
 * Uses up a proved factor. An account may have got a second factor since it was read: a user who has proved none is
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
