import { AppError } from '../lib/errors.ts'

/** The forms that take a passkey have this hidden field. */
const FIELD = 'passkey_response'

/** The response does not have the form that browsers give it. */
export const unreadableResponse = (message: string, field = FIELD): AppError =>
  new AppError('invalid_request', message, { field, reason: 'passkey_unreadable' })

/**
 * The challenge was not made here, is too old, was used, or belongs to another browser or account: a new one is needed.
 */
export const badChallenge = (cause: string): AppError =>
  new AppError('invalid_request', 'This took too long, or was begun elsewhere. Try again.', {
    field: FIELD,
    reason: 'passkey_challenge',
    cause: new Error(cause),
  })

export class UnknownPasskeyError extends AppError {
  /**
   * It tells whether the account that it names is one of this installation: then the browser can forget the passkey.
   */
  readonly isGone: boolean

  constructor({ isGone }: { isGone: boolean }) {
    super('unauthorized', 'This passkey is not known here. Sign in another way.', {
      field: FIELD,
      reason: 'passkey_unknown',
    })
    this.isGone = isGone
  }
}

/** The response proves nothing. The cause, for the log, says which check failed. */
export const wrongPasskey = (cause: unknown): AppError =>
  new AppError('unauthorized', 'This passkey could not be checked. Try again, or sign in another way.', {
    field: FIELD,
    reason: 'passkey_wrong',
    cause,
  })

export const accountDisabled = (): AppError =>
  new AppError('forbidden', 'This account is disabled.', { field: FIELD, reason: 'disabled' })

/** A new passkey cannot be stored. The cause, for the log, says which check failed. */
export const unusablePasskey = (cause: unknown): AppError =>
  new AppError('invalid_request', 'This passkey cannot be used here. Try another kind.', {
    field: FIELD,
    reason: 'passkey_unusable',
    cause,
  })

export const passkeyExists = (cause: unknown): AppError =>
  new AppError('conflict', 'This passkey is set up already.', { field: FIELD, reason: 'passkey_exists', cause })

/** Nobody has more authenticators. The list goes into the options, and authenticators try each entry. */
export const MAX_PASSKEYS = 20

/** Checks that there may be one more. */
export const requireRoom = (existing: readonly unknown[]): void => {
  if (existing.length < MAX_PASSKEYS) return
  throw new AppError('conflict', `An account can have ${MAX_PASSKEYS} passkeys. Remove one first.`, {
    field: FIELD,
    reason: 'too_many_passkeys',
  })
}
