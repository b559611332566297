import { randomUUIDv7 } from 'node:crypto'
import type { Caller } from '../lib/bounded-queue.ts'
import { AppError, checkAll } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import { type Database, isUniqueViolation, type Transaction } from '../storage/database.ts'
import { type Email, requireEmail } from './email.ts'
import type { RequireGoodPassword } from './password-rules.ts'
import type { Passwords } from './passwords.ts'
import { requireRoles } from './roles.ts'
import { insertUser, type User, type UserRecord } from './user-store.ts'
import { localPart, requireUsername, usernameFrom, usernamesFor } from './username.ts'

interface RegistrationDeps {
  db: Database
  clock: Clock
  passwords: Passwords
  requireGoodPassword: RequireGoodPassword
  /** Writes down, in the transaction of the action, that the application must be told. */
  announce: (transaction: Transaction, type: 'user.created', userId: string) => Promise<void>
}

export interface NewUser {
  email: string
  password: string
  /** Made from the email's local part when left out or empty. */
  username?: string | undefined
  roles?: string[]
  /** Whoever creates the account answers for it that the address is its owner's. */
  emailVerified?: boolean
}

/** Somebody for whom a provider vouches, email included. */
export interface VouchedUser {
  email: Email
  /** A name of any kind, from which a username is made. */
  name: string
}

/** More to be done in the transaction that creates an account. */
type Also = (transaction: Transaction, userId: string) => Promise<unknown>

/** Creates accounts, and has the application told. */
export const createRegistration = ({ db, clock, passwords, requireGoodPassword, announce }: RegistrationDeps) => {
  /** Inserts and announces; `conflict` when email or username is taken. */
  const insert = async (user: UserRecord, also?: Also): Promise<UserRecord> => {
    try {
      await db.inTransaction(async (transaction) => {
        await insertUser(transaction, user)
        await also?.(transaction, user.id)
        await announce(transaction, 'user.created', user.id)
      })
      return user
    } catch (error) {
      throw takenError(error)
    }
  }

  const insertWithFreeUsername = async (user: UserRecord, wish: string, also?: Also): Promise<UserRecord> => {
    let refusal: unknown
    for (const username of usernamesFor(wish)) {
      try {
        return await insert({ ...user, username }, also)
      } catch (error) {
        if (!(error instanceof AppError) || error.reason !== 'username_taken') throw error
        refusal = error
      }
    }
    throw refusal
  }

  const recordOf = (email: Email): UserRecord => ({
    id: randomUUIDv7(),
    email: email.shown,
    emailLower: email.lower,
    emailVerifiedAtMs: undefined,
    username: '',
    passwordHash: null,
    roles: [],
    disabled: false,
    createdAtMs: clock.now(),
  })

  return {
    /** Creates an account; `unprocessable` for a bad field, `conflict` for a taken email or username. */
    async create(given: NewUser, caller?: Caller): Promise<UserRecord> {
      const { email, username, password } = requireAccount(given, requireGoodPassword)
      const user: UserRecord = {
        ...recordOf(email),
        passwordHash: await passwords.hash(password, caller),
        roles: requireRoles(given.roles ?? []),
        emailVerifiedAtMs: given.emailVerified ? clock.now() : undefined,
      }
      return username === undefined
        ? insertWithFreeUsername(user, localPart(email.lower))
        : insert({ ...user, username })
    },

    /** Creates an account without a password; `conflict` for a taken email. */
    createVouched({ email, name }: VouchedUser, also: Also): Promise<User> {
      const wish = usernameFrom(name) ?? localPart(email.lower)
      return insertWithFreeUsername({ ...recordOf(email), emailVerifiedAtMs: clock.now() }, wish, also)
    },
  }
}

interface Account {
  email: Email
  username: string | undefined
  password: string
}

const requireAccount = ({ email, password, username }: NewUser, requireGoodPassword: RequireGoodPassword): Account => {
  // Without a username of his own choice, somebody most likely gets the first that is made for him.
  const [made = ''] = usernamesFor(localPart(email.trim().toLowerCase()))
  return checkAll({
    email: () => requireEmail(email),
    username: () => (username ? requireUsername(username) : undefined),
    password: () => requireGoodPassword(password, [email.trim(), username ?? '', made]),
  })
}

/** What an error means where email and username must be free. */
export const takenError = (error: unknown): unknown => {
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
