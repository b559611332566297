import type { Caller } from '../lib/bounded-queue.ts'
import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { SessionRules, SignInGrant } from '../sessions/sign-in-grant.ts'
import type { Database, Transaction } from '../storage/database.ts'
import { readEmail } from './email.ts'
import { normalizePassword, type RequireGoodPassword } from './password-rules.ts'
import type { Passwords } from './passwords.ts'
import { findUserByEmail, insertPasswordHash, lockUser, replacePasswordHash, type UserRecord } from './user-store.ts'

/** What a user enters to change the password, or to set the first one. */
export interface NewPassword {
  /** Ignored where there is no password yet: then the session must be fresh. */
  current: string
  next: string
  /** The session of the request; every other one ends. */
  sessionId: string
}

/**
 * `first_set`: the user had no password and has one now. `checked`: the current password was right and the next one is
 * good; nothing is changed before `changeIn` is called.
 */
export type PasswordOutcome =
  | { outcome: 'first_set' }
  | {
      outcome: 'checked'
      /** For the session that replaces the one of the request. */
      grant: SignInGrant
      /** Makes the change, and ends every session but that of the request; `unauthorized` when that one has ended. */
      changeIn: (transaction: Transaction) => Promise<void>
    }

/** Why a password proves nothing: for the log alone, never for the person who entered it. */
export interface Refusal {
  refusal: 'unknown_account' | 'password_wrong' | 'account_disabled'
  /** Whose account it is; undefined when there is none. */
  userId: string | undefined
}

interface CredentialsDeps extends Pick<SessionRules, 'endSessions' | 'requireSession' | 'requireRecentAuthentication'> {
  db: Database
  clock: Clock
  passwords: Passwords
  requireGoodPassword: RequireGoodPassword
}

const wrongPassword = (field: string): AppError =>
  new AppError('unauthorized', 'This is not your current password.', { field, reason: 'password_wrong' })

const hasPassword = (): AppError =>
  new AppError('conflict', 'This account has a password already. Load the account page again to change it.')

/** Passwords as proof of who somebody is. */
export const createCredentials = (deps: CredentialsDeps) => {
  const { db, clock, passwords, requireGoodPassword, endSessions, requireSession, requireRecentAuthentication } = deps

  /** `unauthorized` on `field` when it is not this user's password. */
  const requireOwnPassword = async (user: UserRecord, entered: string, field: string, caller?: Caller) => {
    if (!(await passwords.matches(entered, user.passwordHash, caller))) throw wrongPassword(field)
  }

  /** Sets a hash and ends sessions, provided that the hash which was checked is still there. */
  const changeHash = (user: UserRecord, hash: string, sessionId: string) => async (transaction: Transaction) => {
    await requireSession(transaction, sessionId, user.id)
    const changed = await replacePasswordHash(transaction, user.id, user.passwordHash ?? '', hash)
    if (changed === 0) throw wrongPassword('current_password')
    await endSessions(transaction, user.id, sessionId)
  }

  /** The user with a hash of today's cost; undefined when the hash was replaced by somebody else meanwhile. */
  const withCurrentHash = async (user: UserRecord, password: string, caller?: Caller) => {
    const checked = user.passwordHash ?? ''
    if (!passwords.isOutdated(checked)) return user
    const passwordHash = await passwords.hash(normalizePassword(password), lasting(caller))
    const replaced = await replacePasswordHash(db, user.id, checked, passwordHash)
    return replaced === 1 ? { ...user, passwordHash } : undefined
  }

  const authenticate = async (email: string, password: string, caller?: Caller): Promise<SignInGrant | Refusal> => {
    const user = await findUserByEmail(db, readEmail(email)?.lower ?? '')
    const matches = await passwords.matches(password, user?.passwordHash, caller)
    if (!user) return { refusal: 'unknown_account', userId: undefined }
    if (!matches) return { refusal: 'password_wrong', userId: user.id }
    if (user.disabled) return { refusal: 'account_disabled', userId: user.id }
    const current = await withCurrentHash(user, password, caller)
    return current ? grantFor(current) : authenticate(email, password, caller)
  }

  const checkChange = async (user: UserRecord, entered: NewPassword, caller?: Caller): Promise<PasswordOutcome> => {
    await requireOwnPassword(user, entered.current, 'current_password', caller)
    const password = requireGoodPassword(entered.next, [user.email, user.username], 'new_password')
    const hash = await passwords.hash(password, lasting(caller))
    // What the change needs is checked by the change itself, in the same transaction.
    const grant = { userId: user.id, authenticatedAtMs: clock.now(), isStillValid: async () => true }
    return { outcome: 'checked', grant, changeIn: changeHash(user, hash, entered.sessionId) }
  }

  /** `conflict` when another request has set a password in the meantime. */
  const setFirst = async (user: UserRecord, entered: NewPassword, caller?: Caller): Promise<PasswordOutcome> => {
    const password = requireGoodPassword(entered.next, [user.email, user.username], 'new_password')
    const hash = await passwords.hash(password, caller)
    await db.inTransaction(async (transaction) => {
      await requireRecentAuthentication(transaction, entered.sessionId, user.id)
      if ((await insertPasswordHash(transaction, user.id, hash)) === 0) throw hasPassword()
      await endSessions(transaction, user.id, entered.sessionId)
    })
    return { outcome: 'first_set' }
  }

  /** To sign in a user who has just authenticated, for as long as the password stays what it is. */
  const grantFor = (user: UserRecord): SignInGrant => ({
    userId: user.id,
    authenticatedAtMs: clock.now(),
    async isStillValid(transaction) {
      const current = await lockUser(transaction, user.id)
      return current !== undefined && !current.disabled && current.passwordHash === user.passwordHash
    },
  })

  return {
    requireOwnPassword,
    grantFor,

    /**
     * Signs in by email and password, or says why not. The caller must answer every refusal in the same way; the work
     * before it is the same. An outdated hash is replaced on the way.
     */
    authenticate,

    /**
     * Changes a password, or sets the first one. `unauthorized` when the current password is wrong, `unprocessable` when
     * the next one breaks a rule, `forbidden` when there is none yet and the session is not fresh.
     */
    changeOrSetPassword: (user: UserRecord, entered: NewPassword, caller?: Caller): Promise<PasswordOutcome> =>
      user.passwordHash === null ? setFirst(user, entered, caller) : checkChange(user, entered, caller),
  }
}

/**
 * Once a password has been checked, the rest is done even when the sender has gone: a check that came to nothing would
 * not count as a try.
 */
const lasting = ({ network }: Caller = {}): Caller => ({ network })
