import type { Caller } from '../lib/bounded-queue.ts'
import { AppError } from '../lib/errors.ts'
import type { Database, Queries, Transaction } from '../storage/database.ts'
import { readEmail } from './email.ts'
import { normalizePassword, type RequireGoodPassword } from './password-rules.ts'
import type { Passwords } from './passwords.ts'
import {
  findUserByEmail,
  insertPasswordHash,
  lockUser,
  replacePasswordHash,
  type User,
  type UserRecord,
} from './user-store.ts'

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
      /** Makes the change, and ends every session but that of the request; `unauthorized` when that one has ended. */
      changeIn: (transaction: Transaction) => Promise<void>
    }

/** Why a password proves nothing: for the log alone, never for the person who entered it. */
export interface Refusal {
  refusal: 'unknown_account' | 'password_wrong' | 'account_disabled'
  /** Whose account it is; undefined when there is none. */
  userId: string | undefined
}

export interface Proof {
  user: User
  /** Whether it is still so in this transaction. */
  holds(transaction: Queries): Promise<boolean>
}

interface CredentialsDeps {
  db: Database
  passwords: Passwords
  requireGoodPassword: RequireGoodPassword
  /** Ends a user's sessions in the transaction of the action: all, or all but one. */
  endSessions: (transaction: Transaction, userId: string, exceptSessionId?: string) => Promise<unknown>
  /** `unauthorized` when the session of who asks has ended while his password was checked. */
  requireSession: (transaction: Transaction, sessionId: string, userId: string) => Promise<unknown>
  /** The same, and `forbidden` when its user has not signed in just now. */
  requireFreshSession: (transaction: Transaction, sessionId: string, userId: string) => Promise<unknown>
}

const wrongPassword = (field: string): AppError =>
  new AppError('unauthorized', 'This is not your current password.', { field, reason: 'password_wrong' })

const hasPassword = (): AppError =>
  new AppError('conflict', 'This account has a password already. Load the account page again to change it.')

/** Passwords as proof of who somebody is. */
export const createCredentials = (deps: CredentialsDeps) => {
  const { db, passwords, requireGoodPassword, endSessions, requireSession, requireFreshSession } = deps

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

  const authenticate = async (email: string, password: string, caller?: Caller): Promise<Proof | Refusal> => {
    const user = await findUserByEmail(db, readEmail(email)?.lower ?? '')
    const matches = await passwords.matches(password, user?.passwordHash, caller)
    if (!user) return { refusal: 'unknown_account', userId: undefined }
    if (!matches) return { refusal: 'password_wrong', userId: user.id }
    if (user.disabled) return { refusal: 'account_disabled', userId: user.id }
    const current = await withCurrentHash(user, password, caller)
    return current ? proofOf(current) : authenticate(email, password, caller)
  }

  const checkChange = async (user: UserRecord, entered: NewPassword, caller?: Caller): Promise<PasswordOutcome> => {
    await requireOwnPassword(user, entered.current, 'current_password', caller)
    const password = requireGoodPassword(entered.next, [user.email, user.username], 'new_password')
    const hash = await passwords.hash(password, lasting(caller))
    return { outcome: 'checked', changeIn: changeHash(user, hash, entered.sessionId) }
  }

  /** `conflict` when another request has set a password in the meantime. */
  const setFirst = async (user: UserRecord, entered: NewPassword, caller?: Caller): Promise<PasswordOutcome> => {
    const password = requireGoodPassword(entered.next, [user.email, user.username], 'new_password')
    const hash = await passwords.hash(password, caller)
    await db.inTransaction(async (transaction) => {
      await requireFreshSession(transaction, entered.sessionId, user.id)
      if ((await insertPasswordHash(transaction, user.id, hash)) === 0) throw hasPassword()
      await endSessions(transaction, user.id, entered.sessionId)
    })
    return { outcome: 'first_set' }
  }

  return {
    requireOwnPassword,

    /**
     * Proof that the caller knows the password of this email, or why it is none. The caller must give one answer for
     * every refusal; the work before it is the same. An older hash is replaced on the way.
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

/**
 * A password change may come between the check of a password, which is slow, and the start of a session: the session
 * is started in a transaction in which `holds` is asked again.
 */
const proofOf = (user: UserRecord): Proof => ({
  user,
  async holds(transaction) {
    const now = await lockUser(transaction, user.id)
    return now !== undefined && !now.disabled && now.passwordHash === user.passwordHash
  },
})
