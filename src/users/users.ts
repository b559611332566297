import { randomUUIDv7 } from 'node:crypto'
import { AppError, checkAll } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import { type Database, isUniqueViolation, type Transaction } from '../storage/database.ts'
import { createCredentials, type PasswordChange } from './credentials.ts'
import { type Email, requireEmail } from './email.ts'
import { requireGoodPassword } from './password-rules.ts'
import type { Passwords } from './passwords.ts'
import { requireRoles } from './roles.ts'
import {
  deleteUser,
  findUserByEmail,
  findUserById,
  findUserByUsername,
  findUsers,
  insertUser,
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
  /** `unauthorized` when this session has ended. */
  requireSession: (transaction: Transaction, sessionId: string, userId: string) => Promise<void>
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

interface Deletion {
  password: string
  /** The session of who asks. */
  sessionId: string
}

/** Accounts: who somebody is. Rules that refuse are `AppError`s with field and reason. */
export const createUsers = (parts: Parts) => {
  const { db, clock, passwords, announce, endSessions, requireSession, userChanged } = parts
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

  const { authenticate, changePassword, requireOwnPassword } = createCredentials(parts)

  const requireUser = async (id: string): Promise<UserRecord> => {
    const user = await findUserById(db, id)
    if (!user) throw new AppError('not_found', `There is no user ${id}.`)
    return user
  }

  /** Deletes a user, on condition that `mayGo` does not object. */
  const remove = (id: string, mayGo: (transaction: Transaction) => Promise<void> = async () => {}): Promise<void> =>
    db.inTransaction(async (transaction) => {
      await mayGo(transaction)
      if ((await deleteUser(transaction, id)) === 0) return
      await announce(transaction, 'user.deleted', id)
      userChanged(transaction)
    })

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

    authenticate,

    /** `unauthorized` when the current password is wrong; every other session ends. */
    async changePassword(id: string, change: PasswordChange, signal?: AbortSignal): Promise<void> {
      await changePassword(await requireUser(id), change, signal)
    },

    async changeUsername(id: string, entered: string, sessionId: string): Promise<void> {
      const username = requireUsername(entered)
      try {
        await db.inTransaction(async (transaction) => {
          await requireSession(transaction, sessionId, id)
          await updateUsername(transaction, id, username)
          userChanged(transaction)
        })
      } catch (error) {
        throw takenError(error)
      }
    },

    /** Deletes the account of who proves it; `unauthorized` when the password is wrong. */
    async deleteOwn(id: string, { password, sessionId }: Deletion, signal?: AbortSignal): Promise<void> {
      const user = await requireUser(id)
      await requireOwnPassword(user, password, 'password', signal)
      await remove(id, (transaction) => requireSession(transaction, sessionId, id))
    },

    delete: (id: string): Promise<void> => remove(id),

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

interface Account {
  email: Email
  username: string | undefined
  password: string
}

const requireAccount = (email: string, password: string, username: string | undefined): Account => {
  // Without a username of his own choice, somebody most likely gets the first that is made for him.
  const [made = ''] = usernamesFor(email.trim().toLowerCase())
  return checkAll({
    email: () => requireEmail(email),
    username: () => (username ? requireUsername(username) : undefined),
    password: () => requireGoodPassword(password, [email.trim(), username ?? '', made]),
  })
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
