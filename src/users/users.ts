import { randomUUIDv7 } from 'node:crypto'
import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import { type Database, isUniqueViolation, type Queries, type Transaction } from '../storage/database.ts'
import { type Email, readEmail, requireEmail } from './email.ts'
import { normalizePassword, requireGoodPassword } from './password-rules.ts'
import type { Passwords } from './passwords.ts'
import { requireRoles } from './roles.ts'
import {
  deleteUser,
  findUserByEmail,
  findUserById,
  findUserByUsername,
  findUsers,
  insertUser,
  replacePasswordHash,
  type UserRecord,
  updateDisabled,
  updatePasswordHash,
  updateRoles,
  updateUsername,
  type User,
} from './user-store.ts'
import { requireUsername, usernamesFor } from './username.ts'

export type { User } from './user-store.ts'

interface Parts {
  db: Database
  clock: Clock
  passwords: Passwords
  /** Writes down, in the transaction of the action, that the application must be told. */
  announce: (transaction: Transaction, type: 'user.created' | 'user.deleted', userId: string) => Promise<void>
  /** Ends a user's sessions in the transaction of the action: all, or all but one. */
  endSessions: (transaction: Transaction, userId: string, exceptSessionId?: string) => Promise<void>
  /** To be called when somebody's row changed, so that nobody is shown the old one. */
  userChanged: (transaction: Transaction) => void
}

export interface NewUser {
  email: string
  password: string
  /** Made from the email's local part when left out or empty. */
  username?: string | undefined
  roles?: string[]
}

export interface PasswordChange {
  current: string
  next: string
  /** The session of who asks; every other one ends. */
  sessionId: string
}

export interface Proof {
  user: User
  /** Whether it is still so in this transaction. */
  holds(transaction: Queries): Promise<boolean>
}

const wrongPassword = (field: string): AppError =>
  new AppError('unauthorized', 'This is not your current password.', { field, reason: 'password_wrong' })

/** Accounts: who somebody is. Rules that refuse are `AppError`s with field and reason. */
export const createUsers = ({ db, clock, passwords, announce, endSessions, userChanged }: Parts) => {
  /** Inserts and announces; `conflict` when email or username is taken. */
  const insert = async (user: UserRecord): Promise<User> => {
    try {
      await db.inTransaction(async (transaction) => {
        await insertUser(transaction, user)
        await announce(transaction, 'user.created', user.id)
      })
      return user
    } catch (error) {
      throw takenError(error)
    }
  }

  const insertWithFreeUsername = async (user: UserRecord): Promise<User> => {
    let refusal: unknown
    for (const username of usernamesFor(user.emailLower)) {
      try {
        return await insert({ ...user, username })
      } catch (error) {
        if (!(error instanceof AppError) || error.reason !== 'username_taken') throw error
        refusal = error
      }
    }
    throw refusal
  }

  const requireUser = async (id: string): Promise<UserRecord> => {
    const user = await findUserById(db, id)
    if (!user) throw new AppError('not_found', `There is no user ${id}.`)
    return user
  }

  const requireOwnPassword = async (user: UserRecord, entered: string, field: string, signal?: AbortSignal) => {
    if (!(await passwords.matches(entered, user.passwordHash, signal))) throw wrongPassword(field)
  }

  /** Sets a hash and ends sessions, provided that the hash which was checked is still there. */
  const changeHash = (user: UserRecord, hash: string, sessionId: string): Promise<void> =>
    db.inTransaction(async (transaction) => {
      const changed = await replacePasswordHash(transaction, user.id, user.passwordHash ?? '', hash)
      if (changed === 0) throw wrongPassword('current_password')
      await endSessions(transaction, user.id, sessionId)
    })

  const remove = (id: string): Promise<void> =>
    db.inTransaction(async (transaction) => {
      if ((await deleteUser(transaction, id)) === 0) return
      await announce(transaction, 'user.deleted', id)
      userChanged(transaction)
    })

  const withCurrentHash = async (user: UserRecord, password: string, signal?: AbortSignal): Promise<UserRecord> => {
    const checked = user.passwordHash ?? ''
    if (!passwords.isOutdated(checked)) return user
    const passwordHash = await passwords.hash(normalizePassword(password), signal)
    await replacePasswordHash(db, user.id, checked, passwordHash)
    return { ...user, passwordHash }
  }

  return {
    /** Creates an account; `unprocessable` for a bad field, `conflict` for a taken email or username. */
    async create({ email, password, username, roles = [] }: NewUser, signal?: AbortSignal): Promise<User> {
      const account = requireAccount(email, password, username)
      const user: UserRecord = {
        id: randomUUIDv7(),
        email: account.email.shown,
        emailLower: account.email.lower,
        username: account.username ?? '',
        passwordHash: await passwords.hash(account.password, signal),
        roles: requireRoles(roles),
        disabled: false,
        createdAtMs: clock.now(),
      }
      return account.username === undefined ? insertWithFreeUsername(user) : insert(user)
    },

    /**
     * Proof that somebody knows this email's password, or undefined: unknown email, wrong password and a disabled
     * account are one answer after the same work. An older hash is replaced on the way.
     */
    async authenticate(email: string, password: string, signal?: AbortSignal): Promise<Proof | undefined> {
      const user = await findUserByEmail(db, readEmail(email)?.lower ?? '')
      const matches = await passwords.matches(password, user?.passwordHash, signal)
      if (!matches || !user || user.disabled) return undefined
      return proofOf(await withCurrentHash(user, password, signal))
    },

    /** `unauthorized` when the current password is wrong; every other session ends. */
    async changePassword(id: string, change: PasswordChange, signal?: AbortSignal): Promise<void> {
      const user = await requireUser(id)
      await requireOwnPassword(user, change.current, 'current_password', signal)
      const password = requireGoodPassword(change.next, [user.email, user.username], 'new_password')
      const hash = await passwords.hash(password, signal)
      await changeHash(user, hash, change.sessionId)
    },

    async changeUsername(id: string, entered: string): Promise<void> {
      const username = requireUsername(entered)
      try {
        await db.inTransaction(async (transaction) => {
          await updateUsername(transaction, id, username)
          userChanged(transaction)
        })
      } catch (error) {
        throw takenError(error)
      }
    },

    /** Deletes the account of who proves it; `unauthorized` when the password is wrong. */
    async deleteOwn(id: string, password: string, signal?: AbortSignal): Promise<void> {
      const user = await requireUser(id)
      await requireOwnPassword(user, password, 'password', signal)
      await remove(id)
    },

    delete: remove,

    async setPassword(id: string, entered: string): Promise<void> {
      const user = await requireUser(id)
      const hash = await passwords.hash(requireGoodPassword(entered, [user.email, user.username]))
      await db.inTransaction(async (transaction) => {
        await updatePasswordHash(transaction, id, hash)
        await endSessions(transaction, id)
      })
    },

    async setRoles(id: string, roles: string[]): Promise<void> {
      const checked = requireRoles(roles)
      await db.inTransaction(async (transaction) => {
        await updateRoles(transaction, id, checked)
        userChanged(transaction)
      })
    },

    /** Disabling ends every session; enabling brings none of them back. */
    async setDisabled(id: string, disabled: boolean): Promise<void> {
      await db.inTransaction(async (transaction) => {
        await updateDisabled(transaction, id, disabled)
        if (disabled) await endSessions(transaction, id)
        userChanged(transaction)
      })
    },

    list: (page: { after: string; limit: number }): Promise<User[]> => findUsers(db, page),

    /** By id, email or username. */
    async find(name: string): Promise<User | undefined> {
      const lower = name.trim().toLowerCase()
      if (lower.includes('@')) return findUserByEmail(db, lower)
      return (await findUserById(db, lower)) ?? (await findUserByUsername(db, lower))
    },
  }
}

export type Users = ReturnType<typeof createUsers>

/**
 * A password change may come between the check of a password, which is slow, and the start of a session: the session
 * is started in a transaction in which `holds` is asked again.
 */
const proofOf = (user: UserRecord): Proof => ({
  user,
  async holds(transaction) {
    const now = await findUserById(transaction, user.id)
    return now !== undefined && !now.disabled && now.passwordHash === user.passwordHash
  },
})

interface Account {
  email: Email
  username: string | undefined
  password: string
}

const requireAccount = (email: string, password: string, username: string | undefined): Account => {
  const account = { email: requireEmail(email), username: username ? requireUsername(username) : undefined }
  const names = [account.email.shown, ...(account.username === undefined ? [] : [account.username])]
  return { ...account, password: requireGoodPassword(password, names) }
}

const takenError = (error: unknown): unknown => {
  if (isUniqueViolation(error, 'users.email_lower')) {
    const details = { field: 'email', reason: 'email_taken', cause: error }
    return new AppError('conflict', 'There is an account with this email address.', details)
  }
  if (isUniqueViolation(error, 'users.username')) {
    const details = { field: 'username', reason: 'username_taken', cause: error }
    return new AppError('conflict', 'This username is taken.', details)
  }
  return error
}
