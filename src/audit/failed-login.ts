import type { CountedEvent } from './audit-event.ts'
import type { AccountEventName, AccountFacts } from '../lib/account-event.ts'
import { AppError } from '../lib/errors.ts'
import { labelOf } from '../limits/limit-table.ts'
import { TooManyTries } from '../limits/limits.ts'

const WRONG_PROOFS: ReadonlySet<string | undefined> = new Set([
  'unknown_account',
  'credentials_wrong',
  'password_wrong',
  'password_uncheckable',
  'code_wrong',
  'mail_code_wrong',
  'passkey_wrong',
  'passkey_unknown',
  'account_disabled',
  'disabled',
])

const SIGN_INS: ReadonlySet<AccountEventName> = new Set(['login', 'reauthentication'])

interface FailedEvent extends AccountFacts {
  event: AccountEventName
  /** As it was entered. */
  email?: string | undefined
}

/**
 * The record of a refused proof, wherever one is asked for, or of a sign-in past its limits; undefined for all else. Nothing
 * has failed where only tries under way fill a limit.
 */
export const failedLogin = (
  { event, method, reason, userId, sessionId, email }: FailedEvent,
  error: unknown,
): CountedEvent | undefined => {
  const who = { userId, sessionId, email }
  if (error instanceof TooManyTries && error.onlyUnderWay) return undefined
  if (error instanceof AppError && error.code === 'rate_limited' && SIGN_INS.has(event)) {
    const limit = error instanceof TooManyTries ? labelOf(error.limit) : (error.reason ?? error.code)
    return { type: 'login.limited', ...who, details: { method, limit } }
  }
  if (!WRONG_PROOFS.has(reason)) return undefined
  const proof = reason === 'code_wrong' ? 'code' : (method ?? 'password')
  return { type: 'login.failed', ...who, details: { method: proof, reason } }
}
