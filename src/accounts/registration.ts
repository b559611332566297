import type { RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { Database, Transaction } from '../storage/database.ts'
import type { Announce } from './announcement.ts'
import {
  type CheckedSignup,
  type InvitedUser,
  type NewUser,
  newRecord,
  type NewUserRules,
  type ProviderUser,
  requireNewUser,
} from './new-user.ts'
import type { Passwords } from './passwords/passwords.ts'
import { takenError, usernameTaken } from './taken.ts'
import { findUserByUsername, insertUser, type User, type UserRecord } from './user-store.ts'
import { localPart, usernameFrom, usernamesFor } from './username.ts'

interface RegistrationDeps extends NewUserRules {
  db: Database
  clock: Clock
  passwords: Passwords
  announce: Announce
  recordEvent: RecordEvent
}

/** More rows for the transaction that creates an account. */
export type AlsoInsert = (transaction: Transaction, userId: string) => Promise<unknown>

/** Creates accounts, and tells the application of them. */
export const createRegistration = (deps: RegistrationDeps) => {
  const { db, clock, passwords, announce, recordEvent } = deps

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

  /** With this username, or with a free one that is made from the email. */
  const insertAs = (user: UserRecord, username: string | undefined, more: MoreWork): Promise<UserRecord> =>
    username === undefined
      ? insertWithFreeUsername(user, localPart(user.emailLower), more)
      : insert({ ...user, username }, more)

  return {
    /** Creates an account; `unprocessable` for a bad field, `conflict` for a taken email or username. */
    async create(given: NewUser, caller?: Caller, also?: AlsoInsert): Promise<UserRecord> {
      const { email, username, password, roles } = await requireNewUser(given, deps)
      if (given.passwordHash !== undefined) await passwords.requireCheckable(given.passwordHash)
      const passwordHash = password === undefined ? given.passwordHash : await passwords.hash(password, caller)
      const user: UserRecord = {
        ...newRecord(email, clock.now()),
        passwordHash: passwordHash ?? null,
        roles,
        emailVerifiedAtMs: given.emailVerified ? clock.now() : undefined,
        isSelfMade: given.isSelfMade ?? false,
        // Nobody can sign in to it yet, as after an invitation.
        invitedAtMs: passwordHash === undefined ? clock.now() : undefined,
      }
      return insertAs(user, username, { also, method: passwordHash === undefined ? undefined : 'password', caller })
    },

    /**
     * Checks and hashes what a signup has entered; `unprocessable` for a bad field, `conflict` for a taken username.
     * Whether the email is taken is not looked up.
     */
    async checkSignup(given: NewUser & { password: string }, caller?: Caller): Promise<CheckedSignup> {
      const { email, username, password = '' } = await requireNewUser({ ...given, isSelfMade: true }, deps)
      if (username !== undefined && (await findUserByUsername(db, username))) throw usernameTaken()
      return { email, username, passwordHash: await passwords.hash(password, caller) }
    },

    /**
     * Creates the account of a signup whose email was verified; `conflict` for a taken email or username. `first` begins
     * the transaction.
     */
    createVerified(
      { email, username, passwordHash }: CheckedSignup,
      first: Begin,
      caller: Caller,
    ): Promise<UserRecord> {
      const user = { ...newRecord(email, clock.now()), passwordHash, emailVerifiedAtMs: clock.now() }
      return insertAs(user, username, { first, method: 'password', caller })
    },

    /** Creates an account that nobody can enter yet; `conflict` for a taken email or username. */
    createInvited({ email, username, roles }: InvitedUser, also: AlsoInsert): Promise<User> {
      const user = { ...newRecord(email, clock.now()), roles, isSelfMade: false, invitedAtMs: clock.now() }
      return insertAs(user, username, { also, method: 'invitation' })
    },

    /** Creates an account without a password; `conflict` for a taken email. */
    createFromProfile({ email, name, provider }: ProviderUser, also: AlsoInsert, caller: Caller): Promise<User> {
      const wanted = usernameFrom(name) ?? localPart(email.lower)
      const user = { ...newRecord(email, clock.now()), emailVerifiedAtMs: clock.now() }
      return insertWithFreeUsername(user, wanted, { also, method: provider, caller })
    },
  }
}

/** What begins the transaction that creates an account, and may refuse it. */
export type Begin = (transaction: Transaction) => Promise<unknown>

/** What belongs to the transaction that creates an account. */
interface MoreWork {
  first?: Begin | undefined
  also?: AlsoInsert | undefined
  /** How the user signs in, for the record; undefined: not yet. */
  method: string | undefined
  caller?: Caller | undefined
}
