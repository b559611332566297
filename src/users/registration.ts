import { randomUUIDv7 } from 'node:crypto'
import type { Caller } from '../lib/bounded-queue.ts'
import type { Email } from '../lib/email-address.ts'
import { AppError, checkAll } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { Database, Transaction } from '../storage/database.ts'
import type { Announce } from './announcement.ts'
import { requireEmail } from './email.ts'
import type { EmailDomains } from './email-domains.ts'
import type { RequireGoodPassword } from './password-rules.ts'
import type { Passwords } from './passwords.ts'
import { requireRoles } from './roles.ts'
import { takenError } from './taken.ts'
import { insertUser, type User, type UserRecord } from './user-store.ts'
import { localPart, requireUsername, usernameFrom, usernamesFor } from './username.ts'

interface RegistrationDeps {
  db: Database
  clock: Clock
  passwords: Passwords
  requireGoodPassword: RequireGoodPassword
  emailDomains: Pick<EmailDomains, 'requireEmail'>
  announce: Announce
}

export interface NewUser {
  email: string
  /** Left out where the service accepts none. */
  password?: string | undefined
  /** Made from the email's local part when left out or empty. */
  username?: string | undefined
  roles?: string[]
  /** Whether the address is known to be the user's. An operator vouches for it; a user who signs up does not. */
  emailVerified?: boolean
  /** Whether the user signs up, and no operator vouches for the domain of the email. */
  isSelfMade?: boolean
}

/** What an account is made from when a provider says who the user is. */
export interface ProviderUser {
  /** Verified by the provider. */
  email: Email
  /** A name of any kind, from which a username is made. */
  name: string
}

/** What an account is made from when an operator invites its user. All of it is checked. */
export interface InvitedUser {
  email: Email
  /** Made from the email's local part when left out. */
  username: string | undefined
  roles: string[]
}

/** More rows for the transaction that creates an account. */
export type AlsoInsert = (transaction: Transaction, userId: string) => Promise<unknown>

/** Creates accounts, and tells the application of them. */
export const createRegistration = (deps: RegistrationDeps) => {
  const { db, clock, passwords, announce } = deps

  /** `conflict` when email or username is taken. */
  const insert = async (user: UserRecord, also?: AlsoInsert): Promise<UserRecord> => {
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

  const insertWithFreeUsername = async (user: UserRecord, wanted: string, also?: AlsoInsert): Promise<UserRecord> => {
    let refusal: unknown
    for (const username of usernamesFor(wanted)) {
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
    isSelfMade: true,
    invitedAtMs: undefined,
    username: '',
    passwordHash: null,
    roles: [],
    disabled: false,
    createdAtMs: clock.now(),
  })

  return {
    /** Creates an account; `unprocessable` for a bad field, `conflict` for a taken email or username. */
    async create(given: NewUser, caller?: Caller): Promise<UserRecord> {
      const { email, username, password } = requireAccount(given, deps)
      const user: UserRecord = {
        ...recordOf(email),
        passwordHash: password === undefined ? null : await passwords.hash(password, caller),
        roles: requireRoles(given.roles ?? []),
        emailVerifiedAtMs: given.emailVerified ? clock.now() : undefined,
        isSelfMade: given.isSelfMade ?? false,
      }
      return username === undefined
        ? insertWithFreeUsername(user, localPart(email.lower))
        : insert({ ...user, username })
    },

    /** Creates an account that nobody can enter yet; `conflict` for a taken email or username. */
    createInvited({ email, username, roles }: InvitedUser, also: AlsoInsert): Promise<User> {
      const user = { ...recordOf(email), roles, isSelfMade: false, invitedAtMs: clock.now() }
      return username === undefined
        ? insertWithFreeUsername(user, localPart(email.lower), also)
        : insert({ ...user, username }, also)
    },

    /** Creates an account without a password; `conflict` for a taken email. */
    createFromProfile({ email, name }: ProviderUser, also: AlsoInsert): Promise<User> {
      const wanted = usernameFrom(name) ?? localPart(email.lower)
      return insertWithFreeUsername({ ...recordOf(email), emailVerifiedAtMs: clock.now() }, wanted, also)
    },
  }
}

const requireAccount = (
  { email, password, username, isSelfMade }: NewUser,
  { requireGoodPassword, emailDomains }: RegistrationDeps,
) => {
  // A user who chooses no username most likely gets the first one that is generated.
  const [generated = ''] = usernamesFor(localPart(email.trim().toLowerCase()))
  return checkAll({
    email: () => (isSelfMade ? emailDomains.requireEmail(email) : requireEmail(email)),
    username: () => (username ? requireUsername(username) : undefined),
    password: () =>
      password === undefined ? undefined : requireGoodPassword(password, [email.trim(), username ?? '', generated]),
  })
}
