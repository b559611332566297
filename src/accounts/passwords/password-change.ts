import type { RecordEvent } from '../../audit/audit-event.ts'
import type { Caller } from '../../lib/caller.ts'
import { AppError } from '../../lib/errors.ts'
import type { Clock } from '../../lib/time.ts'
import type { OwnSession, SessionRules, SignInGrant } from '../../sessions/sign-in-grant.ts'
import type { Database, Transaction } from '../../storage/database.ts'
import { evenWhenGone, wrongPassword } from '../authentication.ts'
import type { Notify } from '../account-notice.ts'
import type { RequireGoodPassword } from './password-rules.ts'
import type { Passwords } from './passwords.ts'
import type { ApplySecurityEvent } from '../security-events.ts'
import { insertPasswordHash, replacePasswordHash } from './password-hash-store.ts'
import { requireUserById, type UserRecord } from '../user-store.ts'

/** What a user enters to change the password, or to set the first one. */
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
      /** For the session that replaces the one of the request. */
      grant: SignInGrant
      /** Makes the change, and ends every session but that of the request; `unauthorized` when that one has ended. */
      apply: (transaction: Transaction) => Promise<void>
    }

type Rules = Pick<SessionRules, 'requireSession' | 'requireRecentAuthentication'>

interface PasswordChangeDeps extends Rules {
  db: Database
  clock: Clock
  passwords: Passwords
  requireGoodPassword: RequireGoodPassword
  applySecurityEvent: ApplySecurityEvent
  notify: Notify
  recordEvent: RecordEvent
  /** `unauthorized` on `field` when it is not this user's password. */
  requireOwnPassword: (user: UserRecord, entered: string, field: string, caller?: Caller) => Promise<void>
}

/**
 * Changes a password, or sets the first one. `unauthorized` when the current password is wrong, `unprocessable` when
 * the next one breaks a rule, `forbidden` when there is none yet and the user has not authenticated recently.
 */
export const createPasswordChange = (deps: PasswordChangeDeps) => {
  const { db, clock, passwords, applySecurityEvent, notify, recordEvent } = deps

  const requireGoodPassword = ({ email, username }: UserRecord, { next }: NewPassword): Promise<string> =>
    deps.requireGoodPassword(next, [email, username], 'new_password')

  /** Ends what a new password ends, and tells of it. */
  const changed = async (
    transaction: Transaction,
    how: 'changed' | 'set',
    { userId, sessionId, caller }: OwnSession & { caller: Caller | undefined },
  ): Promise<void> => {
    await recordEvent(transaction, { type: `password.${how}`, userId, sessionId }, caller)
    await applySecurityEvent(transaction, 'password_changed', { userId, sessionId, caller })
    await notify(transaction, userId, { kind: 'password_changed', how }, caller)
  }

  const checkChange = async (user: UserRecord, entered: NewPassword, caller?: Caller): Promise<PasswordOutcome> => {
    const { current, sessionId } = entered
    await deps.requireOwnPassword(user, current, 'current_password', caller)
    const hash = await passwords.hash(await requireGoodPassword(user, entered), evenWhenGone(caller))
    return {
      outcome: 'checked',
      // Always valid, because `apply` checks the account in the same transaction, and says what is wrong.
      grant: { userId: user.id, authenticatedAtMs: clock.now(), amr: ['pwd'], isStillValid: async () => true },
      async apply(transaction) {
        await deps.requireSession(transaction, sessionId, user.id)
        const changes = await replacePasswordHash(transaction, user.id, user.passwordHash ?? '', hash)
        if (changes === 0) throw wrongPassword('current_password')
        await changed(transaction, 'changed', { userId: user.id, sessionId, caller })
      },
    }
  }

  /** `conflict` when another request has set a password in the meantime. */
  const setFirst = async (user: UserRecord, entered: NewPassword, caller?: Caller): Promise<PasswordOutcome> => {
    const { sessionId } = entered
    const hash = await passwords.hash(await requireGoodPassword(user, entered), caller)
    await db.inTransaction(async (transaction) => {
      await deps.requireRecentAuthentication(transaction, sessionId, user.id)
      if ((await insertPasswordHash(transaction, { id: user.id, hash, nowMs: clock.now() })) === 0) throw hasPassword()
      await changed(transaction, 'set', { userId: user.id, sessionId, caller })
    })
    return { outcome: 'first_set' }
  }

  return async (id: string, entered: NewPassword, caller?: Caller): Promise<PasswordOutcome> => {
    const user = await requireUserById(db, id)
    return user.passwordHash === null ? setFirst(user, entered, caller) : checkChange(user, entered, caller)
  }
}

const hasPassword = (): AppError =>
  new AppError('conflict', 'This account has a password already. Load the account page again to change it.')
