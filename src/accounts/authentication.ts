import type { Caller } from '../lib/caller.ts'
import { readEmail } from '../lib/email-address.ts'
import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { SignInGrant } from '../sessions/sign-in-grant.ts'
import type { Database } from '../storage/database.ts'
import { normalizePassword } from './passwords/password-rules.ts'
import type { Passwords } from './passwords/passwords.ts'
import type { HasPassword } from './passwords/usable-password.ts'
import { replacePasswordHash } from './passwords/password-hash-store.ts'
import { findUserByEmail, lockUser, type UserRecord } from './user-store.ts'

/** Why a user is not signed in. For the log alone: a client must not learn which of them it was. */
export interface SignInRefusal {
  refusal: 'unknown_account' | 'password_wrong' | 'password_uncheckable' | 'account_disabled'
  /** The user with this email; undefined when there is none. */
  userId: string | undefined
}

interface AuthenticationDeps {
  db: Database
  clock: Clock
  passwords: Passwords
  hasPassword: HasPassword
}

/** Checks passwords. */
export const createAuthentication = ({ db, clock, passwords, hasPassword }: AuthenticationDeps) => {
  /** For a user who has just authenticated; valid for as long as the password stays the same. */
  const grantFor = (user: UserRecord): SignInGrant => ({
    userId: user.id,
    authenticatedAtMs: clock.now(),
    amr: ['pwd'],
    async isStillValid(transaction) {
      const current = await lockUser(transaction, user.id)
      return current !== undefined && !current.disabled && current.passwordHash === user.passwordHash
    },
  })

  /** The user with a hash of today's cost; undefined when another request has replaced the hash since it was read. */
  const withCurrentHash = async (user: UserRecord, password: string, caller?: Caller) => {
    const checked = user.passwordHash ?? ''
    const passwordHash = await passwords.hash(normalizePassword(password), evenWhenGone(caller))
    const replaced = await replacePasswordHash(db, user.id, checked, passwordHash)
    return replaced === 1 ? { ...user, passwordHash } : undefined
  }

  /** What an operator can do something about. */
  const whyWrong = async ({ passwordHash }: UserRecord) =>
    passwordHash === null || (await passwords.isCheckable(passwordHash)) ? 'password_wrong' : 'password_uncheckable'

  const authenticate = async (
    email: string,
    password: string,
    caller?: Caller,
  ): Promise<SignInGrant | SignInRefusal> => {
    const user = await findUserByEmail(db, readEmail(email)?.lower ?? '')
    // Without a user too: an answer that comes sooner would tell that there is no account.
    const check = await passwords.check(password, user?.passwordHash, caller)
    if (!user) return { refusal: 'unknown_account', userId: undefined }
    if (check === 'wrong' || !hasPassword(user)) return { refusal: await whyWrong(user), userId: user.id }
    if (user.disabled) return { refusal: 'account_disabled', userId: user.id }
    const current = check === 'outdated' ? await withCurrentHash(user, password, caller) : user
    return current ? grantFor(current) : authenticate(email, password, caller)
  }

  return {
    grantFor,
    authenticate,

    /** `unauthorized` on `field` when it is not this user's password. */
    async requireOwnPassword(user: UserRecord, entered: string, field: string, caller?: Caller): Promise<void> {
      if (!hasPassword(user) || (await passwords.check(entered, user.passwordHash, caller)) === 'wrong')
        throw wrongPassword(field)
    },
  }
}

export const wrongPassword = (field: string): AppError =>
  new AppError('unauthorized', 'This is not your current password.', { field, reason: 'password_wrong' })

/**
 * The caller of work that is finished even when the client has gone. What follows the check of a password is such work:
 * otherwise a client that leaves in time could try passwords without being counted.
 */
export const evenWhenGone = ({ network }: Caller = {}): Caller => ({ network })
