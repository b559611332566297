import type { RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { Database, Transaction } from '../storage/database.ts'
import type { Notify } from '../accounts/account-notice.ts'
import type { Passwords } from '../accounts/passwords/passwords.ts'
import { type CodePlace, createCodeLimits, codeRowsOf } from './code-limits.ts'
import { findStep } from './one-time-code.ts'
import { findSetUp, useStep } from './one-time-code-store.ts'
import { type RecoveryCode, readRecoveryCode } from './recovery-code.ts'
import { countRecoveryCodes, findRecoveryHash, useRecoveryCode } from './recovery-code-store.ts'
import type { SecretSealing } from './secret-sealing.ts'
import { readTypedCode } from './typed-code.ts'
import { createWrongCodeNotice } from './wrong-code-notice.ts'
import { endRowAnywhere } from './wrong-code-store.ts'

/** What a user has entered to prove that they hold a second factor. */
export interface EnteredCode {
  userId: string
  /** Of the app, or a recovery code; as it was typed. */
  code: string
  place: CodePlace
  /** Only an app and recovery codes that were made before count; any when left out. */
  madeBeforeMs?: number | undefined
}

/** A code that is right, and not used up before `apply`. */
export interface CheckedCode {
  proof: 'one_time_code' | 'recovery_code'
  /**
   * Uses the code up, in the transaction of what it permits, which has locked the user; `unauthorized` when another
   * request was first.
   */
  apply(transaction: Transaction): Promise<void>
}

export interface CodeCheckDeps {
  db: Database
  clock: Clock
  passwords: Passwords
  sealing: SecretSealing
  notify: Notify
  recordEvent: RecordEvent
  /** Whether codes of an app are accepted (`SVC_SECOND_FACTOR`). */
  acceptsCodes: boolean
  /** Whether the account has an app or a passkey that the settings allow, whenever it was made. */
  hasFactor: (userId: string) => Promise<boolean>
  rateLimit: boolean
}

/** `unauthorized` with reason `code_wrong` on `code`; `rate_limited` past the limits of wrong codes. */
export const createCodeCheck = (deps: CodeCheckDeps) => {
  const { db, clock, passwords, sealing, notify, recordEvent, acceptsCodes, hasFactor } = deps
  const limits = createCodeLimits({ db, clock, enabled: deps.rateLimit })
  const noteWrongCode = createWrongCodeNotice(deps)

  const checkOneTimeCode = async ({ userId, code, place, madeBeforeMs = Number.MAX_SAFE_INTEGER }: EnteredCode) => {
    const setUp = acceptsCodes ? await findSetUp(db, userId) : undefined
    if (!setUp || setUp.createdAtMs >= madeBeforeMs) return undefined
    const secret = sealing.open(setUp.secretSealed, userId)
    if (!secret) throw sealedByAnother()
    // The owner's codes in a browser that is known end no row of an attacker's elsewhere.
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
    // Alone, recovery codes prove nothing: they stand for something else that the user has.
    if (!(await hasFactor(userId))) return undefined
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
      // It was not found out whether the code is wrong.
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
