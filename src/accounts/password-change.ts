import type { Caller } from '../lib/caller.ts'
import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { SessionRules, SignInGrant } from '../sessions/sign-in-grant.ts'
import type { Database, Transaction } from '../storage/database.ts'
import { evenWhenGone, wrongPassword } from './authentication.ts'
import type { Change } from './change.ts'
import type { RequireGoodPassword } from './passwords/password-rules.ts'
import type { Passwords } from './passwords/passwords.ts'
import { type UserRecord, lockUserToChange, requireUserById } from './user-store.ts'

export interface NewPassword {
  /** Ignored where there is no password yet: then the user must have authenticated recently. */
  current: string
  next: string
  /** The session of the request; every other one ends. */
  sessionId: string
}

/**
 * `first_set`: the user had no password and has one now. `checked`: the current password was right and the next one is
 * good; nothing is changed before `apply` is called.
 */
export type PasswordOutcome =
  | { outcome: 'first_set' }
  | {
      outcome: 'checked'
      /** The session that replaces the one of the request starts with it. */
      grant: SignInGrant
      /** Makes the change, and ends every session but that of the request; `unauthorized` when that one has ended. */
      apply: (transaction: Transaction) => Promise<void>
    }

interface PasswordChangeDeps extends Pick<SessionRules, 'requireSession' | 'requireRecentAuthentication'> {
  db: Database
  clock: Clock
  passwords: Pick<Passwords, 'hash'>
  requireGoodPassword: RequireGoodPassword
  change: Change
  /** `unauthorized` on `field` when it is not this user's password. */
  requireOwnPassword: (user: UserRecord, entered: string, field: string, caller?: Caller) => Promise<void>
}

/**
 * Changes a password, or sets the first one. `unauthorized` when the current password is wrong, `unprocessable` when
 * the next one breaks a rule, `forbidden` when there is none yet and the user has not authenticated recently.
 */
export const createPasswordChange = (deps: PasswordChangeDeps) => {
  const { db, clock, passwords, change } = deps

  const hashNext = async ({ email, username }: UserRecord, { next }: NewPassword, caller?: Caller): Promise<string> =>
    passwords.hash(await deps.requireGoodPassword(next, [email, username], 'new_password'), caller)

  const checkChange = async (user: UserRecord, entered: NewPassword, caller?: Caller): Promise<PasswordOutcome> => {
    const { current, sessionId } = entered
    await deps.requireOwnPassword(user, current, 'current_password', caller)
    const passwordHash = await hashNext(user, entered, evenWhenGone(caller))
    return {
      outcome: 'checked',
      // Always valid, because `apply` checks the account in the same transaction, and says what is wrong.
      grant: { userId: user.id, authenticatedAtMs: clock.now(), amr: ['pwd'], isStillValid: async () => true },
      async apply(transaction) {
        await deps.requireSession(transaction, sessionId, user.id)
        const now = await lockUserToChange(transaction, user.id)
        if (now?.passwordHash !== user.passwordHash) throw wrongPassword('current_password')
        await change(transaction, user.id, { passwordHash }, { by: 'user', sessionId, caller })
      },
    }
  }

  /** `conflict` when another request has set a password in the meantime. */
  const setFirst = async (user: UserRecord, entered: NewPassword, caller?: Caller): Promise<PasswordOutcome> => {
    const { sessionId } = entered
    const passwordHash = await hashNext(user, entered, caller)
    await db.inTransaction(async (transaction) => {
      await deps.requireRecentAuthentication(transaction, sessionId, user.id)
      const now = await lockUserToChange(transaction, user.id)
      if (now?.passwordHash !== null) throw hasPassword()
      await change(transaction, user.id, { passwordHash }, { by: 'user', sessionId, caller })
    })
    return { outcome: 'first_set' }
  }

  return async (id: string, entered: NewPassword, caller?: Caller): Promise<PasswordOutcome> => {
    const user = await requireUserById(db, id)
    return user.passwordHash === null ? setFirst(user, entered, caller) : checkChange(user, entered, caller)
  }
}

const hasPassword = (): AppError =>
  new AppError('conflict', 'This account has a password already. Load the account page again to change it.', {
    reason: 'has_password',
  })
