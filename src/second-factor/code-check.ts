import type { Caller } from '../lib/caller.ts'
import { AppError } from '../lib/errors.ts'
import type { Transaction } from '../storage/database.ts'
import type { FactorDeps } from './factor-deps.ts'
import { type CodePlace, createCodeLimits, codeRowsOf } from './code-limits.ts'
import { readTypedCode } from '../lib/typed-code.ts'
import { findStep } from './one-time-code.ts'
import { findSetUp, useStep } from './one-time-code-store.ts'
import { type RecoveryCode, readRecoveryCode } from './recovery-code-sets.ts'
import { countRecoveryCodes, findRecoveryHash, useRecoveryCode } from './second-factor-store.ts'
import type { SecretSealing } from './secret-sealing.ts'
import { endRowAnywhere } from './wrong-code-store.ts'
import { countMessage } from '../limits/counter.ts'

/**
 * Notes a wrong code after a right password, a provider or a link. The user is told about the third one within a
 * quarter of an hour, once a day.
 */
const createWrongCodeNotice =
  ({ db, clock, notify }: Pick<FactorDeps, 'clock' | 'db' | 'notify'>) =>
  (userId: string, caller?: Caller): Promise<void> =>
    db.inTransaction(async (transaction) => {
      const nowMs = clock.now()
      if (await countMessage(transaction, 'untoldWrongCodes', [userId], nowMs)) return
      if (await countMessage(transaction, 'wrongCodesNotice', [userId], nowMs))
        await notify(transaction, userId, { kind: 'wrong_codes' }, caller)
    })

/** A user has entered this code to prove that they hold a second factor. */
export interface EnteredCode {
  userId: string
  /** It is a code of the app or a recovery code, as the user typed it. */
  code: string
  place: CodePlace
  /** The app and the recovery codes count only if they were made before this time; all count when it is left out. */
  madeBeforeMs?: number | undefined
}

/** The code is right, and is not used up before `apply`. */
export interface CheckedCode {
  proof: 'one_time_code' | 'recovery_code'
  /**
   * Uses the code up, in the transaction of the change that it permits, which has locked the user. It throws
   * `unauthorized` when another request was first.
   */
  apply(transaction: Transaction): Promise<void>
}

interface CodeCheckDeps
  extends Pick<
    FactorDeps,
    'acceptsCodes' | 'clock' | 'db' | 'factors' | 'notify' | 'passwords' | 'rateLimit' | 'recordEvent'
  > {
  sealing: SecretSealing
}

/**
 * The check throws `unauthorized` with reason `code_wrong` on `code`, and `rate_limited` past the limits of wrong
 * codes.
 */
export const createCodeCheck = (deps: CodeCheckDeps) => {
  const { db, clock, passwords, sealing, notify, recordEvent, acceptsCodes, factors } = deps
  const limits = createCodeLimits({ db, clock, enabled: deps.rateLimit })
  const noteWrongCode = createWrongCodeNotice(deps)

  const checkOneTimeCode = async ({ userId, code, place, madeBeforeMs = Number.MAX_SAFE_INTEGER }: EnteredCode) => {
    const setUp = acceptsCodes ? await findSetUp(db, userId) : undefined
    if (!setUp || setUp.createdAtMs >= madeBeforeMs) return undefined
    const secret = sealing.open(setUp.secretSealed, userId)
    if (!secret) throw sealedByAnother()
    // The owner's codes in a known browser do not end a row that an attacker began elsewhere.
    const rows = codeRowsOf({ place, isRecoveryCode: false })
    const step = findStep(secret, { code, nowMs: clock.now(), lastUsedStep: setUp.lastUsedStep })
    if (step === undefined) return undefined
    return {
      proof: 'one_time_code',
      async apply(transaction) {
        if ((await useStep(transaction, setUp, step, rows)) === 0) throw wrongCode()
      },
    } satisfies CheckedCode
  }

  const checkRecoveryCode = async (
    { userId, madeBeforeMs = Number.MAX_SAFE_INTEGER }: EnteredCode,
    { place, text }: RecoveryCode,
    caller?: Caller,
  ) => {
    // Recovery codes alone prove nothing: they stand for something else that the user has.
    if (!(await factors.has(db, userId))) return undefined
    const hash = await findRecoveryHash(db, { userId, place }, madeBeforeMs)
    if ((await passwords.check(text, hash, caller)) === 'wrong' || hash === undefined) return undefined
    return {
      proof: 'recovery_code',
      async apply(transaction) {
        if ((await useRecoveryCode(transaction, { userId, place, hash })) === 0) throw wrongCode()
        await endRowAnywhere(transaction, userId)
        const left = await countRecoveryCodes(transaction, userId)
        await notify(transaction, userId, { kind: 'recovery_code_used', left }, caller)
        await recordEvent(transaction, { type: 'second_factor.recovery_code_used', userId }, caller)
      },
    } satisfies CheckedCode
  }

  return async (entered: EnteredCode, caller?: Caller): Promise<CheckedCode> => {
    const code = readTypedCode(entered.code)
    const recoveryCode = readRecoveryCode(code)
    const { userId, place } = entered
    const takeBack = await limits.count({ userId, place, isRecoveryCode: recoveryCode !== undefined })
    let checked: CheckedCode | undefined
    try {
      checked = recoveryCode
        ? await checkRecoveryCode(entered, recoveryCode, caller)
        : await checkOneTimeCode({ ...entered, code })
    } catch (error) {
      // The check has not found out if the code is wrong.
      await takeBack()
      throw error
    }
    if (!checked) {
      await noteWrongCode(userId, caller)
      throw wrongCode()
    }
    await takeBack()
    return checked
  }
}

const wrongCode = (): AppError =>
  new AppError('unauthorized', 'This code is wrong, or was used already.', { field: 'code', reason: 'code_wrong' })

const sealedByAnother = (): AppError =>
  new AppError('internal_error', 'The secret of this authenticator app cannot be opened.', {
    cause: new Error('no known root secret has sealed this secret of one-time codes (docs/backup-and-keys.md)'),
  })
