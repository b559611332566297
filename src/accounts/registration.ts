import { randomUUIDv7 } from 'node:crypto'
import type { RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import type { Email } from '../lib/email-address.ts'
import { AppError, checkAllInTurn } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { Database, Transaction } from '../storage/database.ts'
import type { Announce } from './change.ts'
import {
  type EmailDomains,
  type Names,
  requireEmail,
  requireLanguage,
  requireRoles,
  requireUsername,
  takenError,
  usernameTaken,
} from './fields.ts'
import type { RequireGoodPassword } from './passwords/password-rules.ts'
import type { Passwords } from './passwords/passwords.ts'
import { findUserByUsername, insertUser, type User, type UserRecord } from './user-store.ts'
import { localPart, usernameFrom, usernamesFor } from './username.ts'

export interface NewUser {
  email: string
  /** Left out where the service accepts none. */
  password?: string | undefined
  /** An operator may give a hash of svc or of another system in place of a password. */
  passwordHash?: string | undefined
  /** Made from the email's local part when left out or empty. */
  username?: string | undefined
  /** Null and undefined are none. */
  name?: string | null | undefined
  /** `true`: the user gives the name later, where one is required. */
  isNamedLater?: boolean | undefined
  /** It is that of the page, if left out. */
  language?: string | null | undefined
  roles?: string[] | undefined
  /** `true`: an operator vouches for the address. */
  emailVerified?: boolean | undefined
  /** `true`: the user signs up, and no operator vouches for the domain of the email. */
  isSelfMade?: boolean
}

/** A signup that was checked and hashed. There is no account yet. */
export interface CheckedSignup {
  email: Email
  /** Undefined: svc makes one from the email. */
  username: string | undefined
  name: string | null
  /** That of the page of the signup. */
  language: string | null
  passwordHash: string
}

/** A user has verified the email of a new account by this `method`, and has chosen no password if there is no hash. */
export type VerifiedSignup = Omit<CheckedSignup, 'passwordHash'> & { passwordHash: string | null; method: string }

/** A provider says who the user is. */
export interface ProviderUser {
  /** Verified by the provider. */
  email: Email
  /** A username is made from this name of any kind. */
  name: string
  /** The person has this name there; one that is not accepted here is left out. */
  fullName?: string | undefined
  /** The provider's name in the settings. */
  provider: string
}

/** An operator invites a user. All of it is checked. */
export interface InvitedUser {
  email: Email
  /** Made from the email's local part when left out. */
  username: string | undefined
  name: string | null
  language: string | null
  roles: string[]
}

/** The rules about what is entered. */
export interface NewUserRules {
  requireGoodPassword: RequireGoodPassword
  emailDomains: Pick<EmailDomains, 'requireEmail'>
  names: Names
}

interface Account extends InvitedUser {
  password: string | undefined
}

/** Makes an account of a user, without a username or a way to sign in unless they are given. */
const newRecord = ({ shown, lower }: Email, nowMs: number, given: Partial<UserRecord>): UserRecord => ({
  id: randomUUIDv7(),
  email: shown,
  emailLower: lower,
  emailVerifiedAtMs: undefined,
  isSelfMade: true,
  invitedAtMs: undefined,
  username: '',
  name: null,
  language: null,
  passwordHash: null,
  roles: [],
  disabled: false,
  createdAtMs: nowMs,
  ...given,
})

/** Checks what a new account is made from; `unprocessable` for each field that breaks a rule. */
export const requireNewUser = async (
  { email, password, username, name, language, isNamedLater, roles = [], isSelfMade }: NewUser,
  { requireGoodPassword, emailDomains, names }: NewUserRules,
): Promise<Account> => {
  // A user who chooses no username most likely gets the first one that is generated.
  const [generated = ''] = usernamesFor(localPart(email.trim().toLowerCase()))
  return checkAllInTurn({
    email: () => (isSelfMade ? emailDomains.requireEmail(email) : requireEmail(email)),
    username: () => (username ? requireUsername(username) : undefined),
    name: () => (isNamedLater && name === undefined ? null : names.require(name)),
    language: () => (language ? requireLanguage(language) : null),
    password: () =>
      password === undefined ? undefined : requireGoodPassword(password, [email.trim(), username ?? '', generated]),
    roles: () => requireRoles(roles),
  })
}

interface RegistrationDeps extends NewUserRules {
  db: Database
  clock: Clock
  passwords: Passwords
  announce: Announce
  recordEvent: RecordEvent
}

/** More rows for the transaction that creates an account. */
export type AlsoInsert = (transaction: Transaction, userId: string) => Promise<unknown>

/** Creates accounts, and tells the application of them; `Users` says what each function does. */
export const createRegistration = (deps: RegistrationDeps) => {
  const { db, clock, passwords, names, announce, recordEvent } = deps

  /** `conflict` when email or username is taken. */
  const insert = async (user: UserRecord, { first, also, method, caller }: MoreWork): Promise<UserRecord> => {
    try {
      await db.inTransaction(async (transaction) => {
        await first?.(transaction)
        await insertUser(transaction, user)
        const type = user.isSelfMade ? 'signup' : 'user.created'
        await recordEvent(transaction, { type, userId: user.id, details: { method } }, caller)
        await also?.(transaction, user.id)
        await announce(transaction, 'user.created', user.id)
      })
      return user
    } catch (error) {
      throw takenError(error)
    }
  }

  const insertWithFreeUsername = async (user: UserRecord, wanted: string, more: MoreWork): Promise<UserRecord> => {
    let refusal: unknown
    for (const username of usernamesFor(wanted)) {
      try {
        return await insert({ ...user, username }, more)
      } catch (error) {
        if (!(error instanceof AppError) || error.reason !== 'username_taken') throw error
        refusal = error
      }
    }
    throw refusal
  }

  /** Inserts a user with this username, or with a free one that is made from the email. */
  const insertAs = (user: UserRecord, username: string | undefined, more: MoreWork): Promise<UserRecord> =>
    username === undefined
      ? insertWithFreeUsername(user, localPart(user.emailLower), more)
      : insert({ ...user, username }, more)

  return {
    async create(given: NewUser, caller?: Caller, also?: AlsoInsert): Promise<UserRecord> {
      const { email, username, name, language, password, roles } = await requireNewUser(given, deps)
      if (given.passwordHash !== undefined) await passwords.requireCheckable(given.passwordHash)
      const passwordHash = password === undefined ? given.passwordHash : await passwords.hash(password, caller)
      const user = newRecord(email, clock.now(), {
        name,
        language: language ?? caller?.language ?? null,
        passwordHash: passwordHash ?? null,
        roles,
        emailVerifiedAtMs: given.emailVerified ? clock.now() : undefined,
        isSelfMade: given.isSelfMade ?? false,
        // Nobody can sign in to it yet, as after an invitation.
        invitedAtMs: passwordHash === undefined ? clock.now() : undefined,
      })
      return insertAs(user, username, { also, method: passwordHash === undefined ? undefined : 'password', caller })
    },

    async checkSignup(given: NewUser & { password: string }, caller?: Caller): Promise<CheckedSignup> {
      const { email, username, name, password = '' } = await requireNewUser({ ...given, isSelfMade: true }, deps)
      if (username !== undefined && (await findUserByUsername(db, username))) throw usernameTaken()
      const language = caller?.language ?? null
      return { email, username, name, language, passwordHash: await passwords.hash(password, caller) }
    },

    createVerified(
      { email, username, name, language, passwordHash, method }: VerifiedSignup,
      first: Begin,
      caller: Caller,
    ): Promise<UserRecord> {
      const nowMs = clock.now()
      const user = newRecord(email, nowMs, { name, language, passwordHash, emailVerifiedAtMs: nowMs })
      return insertAs(user, username, { first, method, caller })
    },

    createInvited(
      { email, username, name, language, roles }: InvitedUser,
      also: AlsoInsert,
      caller?: Caller,
    ): Promise<User> {
      const nowMs = clock.now()
      const user = newRecord(email, nowMs, { name, language, roles, isSelfMade: false, invitedAtMs: nowMs })
      return insertAs(user, username, { also, method: 'invitation', caller })
    },

    createFromProfile(
      { email, name, fullName, provider }: ProviderUser,
      also: AlsoInsert,
      caller: Caller,
    ): Promise<User> {
      const wanted = usernameFrom(name) ?? localPart(email.lower)
      const about = { name: names.accept(fullName), language: caller.language ?? null }
      const user = newRecord(email, clock.now(), { ...about, emailVerifiedAtMs: clock.now() })
      return insertWithFreeUsername(user, wanted, { also, method: provider, caller })
    },
  }
}

/** Begins the transaction that creates an account, and may refuse it. */
export type Begin = (transaction: Transaction) => Promise<unknown>

/** More work for the transaction that creates an account. */
interface MoreWork {
  first?: Begin | undefined
  also?: AlsoInsert | undefined
  /** How the user signs in, for the record; undefined: not yet. */
  method: string | undefined
  caller?: Caller | undefined
}
