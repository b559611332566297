import { setImmediate } from 'node:timers/promises'
import type { Caller } from '../lib/caller.ts'
import { onDemand } from '../lib/on-demand.ts'
import type { Clock } from '../lib/time.ts'
import type { OwnSession, SessionRules, SignInGrant } from '../sessions/sign-in-grant.ts'
import type { Database } from '../storage/database.ts'
import type { Administration, AdministrationDeps } from './administration.ts'
import { createAuthentication, type HasPassword, type SignInRefusal } from './authentication.ts'
import { type Changes, createRemove, type RemoveDeps } from './change.ts'
import { type EmailDomains, type Names, requireUsername, takenError } from './fields.ts'
import { createPasswordChange, type NewPassword, type PasswordOutcome } from './password-change.ts'
import type { Passwords } from './passwords/passwords.ts'
import {
  type AlsoInsert,
  type Begin,
  type CheckedSignup,
  createRegistration,
  type InvitedUser,
  type NewUser,
  type ProviderUser,
  type VerifiedSignup,
} from './registration.ts'
import { findPasswordHashes, findUsers, type UserPage } from './user-list-store.ts'
import {
  findEmailOfUsername,
  findUserByEmail,
  findUserById,
  lockUserToChange,
  findUserByUsername,
  requireUserById,
  type User,
} from './user-store.ts'

export type { UserFilter } from './user-list-store.ts'
export type { RemovedFactors } from './security-events.ts'
export type { ImportedUser, UserImport } from './import/import.ts'
export type { ExportSummary, UserExport } from './export/export.ts'
export type { AlsoInsert } from './registration.ts'
export type { User } from './user-store.ts'

/** Accounts. A rule that refuses is an `AppError` with field and reason. */
export interface Accounts extends Administration {
  // Creating an account: `unprocessable` for a bad field, `conflict` for a taken email or username.
  /** An operator makes the account, or a user does at a signup. `also` adds to the transaction. */
  create(newUser: NewUser, caller?: Caller, also?: AlsoInsert): Promise<User>
  /** The user makes the account, and then signs in to it. */
  signUp(newUser: NewUser, caller?: Caller, also?: AlsoInsert): Promise<SignInGrant>
  /** Checks and hashes what a signup has entered, and looks up nothing but the username. */
  checkSignup(newUser: NewUser & { password: string }, caller?: Caller): Promise<CheckedSignup>
  /** The user has verified the email, and then signs in to the account. `first` begins the transaction, and may refuse. */
  createVerified(signup: VerifiedSignup, first: Begin, caller: Caller): Promise<SignInGrant>
  /** The account has no password, and an email that a provider has verified. */
  createFromProfile(providerUser: ProviderUser, also: AlsoInsert, caller: Caller): Promise<User>
  /** The account has no password, and nobody can enter it yet. */
  createInvited(invitedUser: InvitedUser, also: AlsoInsert, caller?: Caller): Promise<User>

  // These are what a user does.
  /** `unavailable` where too many wait for a password to be checked now: a login need not be counted then. */
  requireRoomForPassword(caller: Caller): void
  /** Finds the email, in lower case, of the account with this username. */
  findEmailOf(username: string): Promise<string | undefined>
  /**
   * Signs in with email and password, or returns the reason of the refusal; every refusal must get the same response.
   */
  authenticate(email: string, password: string, caller?: Caller): Promise<SignInGrant | SignInRefusal>
  /**
   * Every other session ends. A change is not yet made: the caller makes it in the transaction of a new session, so
   * that tokens stolen from the session of the request are of no use afterwards.
   */
  changeOrSetPassword(id: string, entered: NewPassword, caller?: Caller): Promise<PasswordOutcome>
  changeUsername(id: string, entered: string, sessionId: string, caller?: Caller): Promise<void>
  /** Null takes the name away where none is required. */
  changeName(id: string, entered: string | null, sessionId: string, caller?: Caller): Promise<void>
  changeLanguage(id: string, tag: string, sessionId: string, caller?: Caller): Promise<void>
  /** Notes the language of a user whose language is not known yet. */
  learnLanguage(id: string, tag: string, caller?: Caller): Promise<void>
  /**
   * `unauthorized` when the password is wrong; `forbidden` when there is none and the user has not just authenticated,
   * or an account with a second factor or a passkey has not just been proved with `mfa`.
   */
  deleteOwn(id: string, confirmation: DeletionConfirmation, caller?: Caller): Promise<void>

  /**
   * Records that the user takes a copy of what is kept about them, and tells them. Throws `forbidden` unless they have
   * authenticated recently: a copy is of use to a thief who finds the browser open.
   */
  recordExport(session: OwnSession, caller: Caller): Promise<void>

  /** Resolves to whether there was such a user. */
  delete(id: string, caller?: Caller): Promise<boolean>

  /** Finds a user by id, email or username. */
  find(name: string): Promise<User | undefined>
  /** Lists users in order of creation. */
  list(page: UserPage): Promise<User[]>
  /** Tells whether the user can sign in with one; `not_found` when there is no such user. */
  hasPassword(id: string): Promise<boolean>
  /** Counts the users whose password cannot be checked here: they need a new one. */
  countUncheckableHashes(): Promise<number>
}

interface AccountsDeps extends SessionRules, RemoveDeps, AdministrationDeps {
  clock: Clock
  emailDomains: EmailDomains
  hasPassword: HasPassword
  names: Names
}

interface DeletionConfirmation {
  /** Ignored where there is no password: then the user must have authenticated recently. */
  password: string
  /** The session of the request. */
  sessionId: string
}

export const createAccounts = (deps: AccountsDeps): Accounts => {
  const { db, passwords, change, hasPassword, requireSession, requireRecentAuthentication, requireFactors } = deps
  const { create, createVerified, ...registration } = createRegistration(deps)
  const { authenticate, grantFor, requireOwnPassword } = createAuthentication(deps)
  const remove = createRemove(deps)

  const changeOwn: ChangeOwn = async (id, changes, sessionId, caller) => {
    try {
      await db.inTransaction(async (transaction) => {
        await requireSession(transaction, sessionId, id)
        await change(transaction, id, changes, { by: 'user', caller })
      })
    } catch (error) {
      throw takenError(error)
    }
  }

  return {
    create,
    ...registration,
    authenticate,
    requireRoomForPassword: passwords.requireRoom,
    findEmailOf: (username) => findEmailOfUsername(db, username),

    async signUp(newUser, caller, also) {
      return grantFor(await create({ ...newUser, isSelfMade: true }, caller, also))
    },

    async createVerified(signup, first, caller) {
      return grantFor(await createVerified(signup, first, caller))
    },

    changeOrSetPassword: createPasswordChange({ ...deps, requireOwnPassword }),

    async hasPassword(id) {
      return hasPassword(await requireUserById(db, id))
    },

    countUncheckableHashes: () => countUncheckableHashes(db, passwords),

    ...ownChanges(changeOwn, deps),

    async deleteOwn(id, { password, sessionId }, caller) {
      const user = await requireUserById(db, id)
      const rule = hasPassword(user) ? requireFactors : requireRecentAuthentication
      // First, too: a password that is typed before the user is sent to confirm would be lost.
      await db.inTransaction((transaction) => rule(transaction, sessionId, id))
      if (hasPassword(user)) await requireOwnPassword(user, password, 'password', caller)
      await db.inTransaction(async (transaction) => {
        await rule(transaction, sessionId, id)
        await remove(transaction, id, caller)
      })
    },

    recordExport: ({ userId, sessionId }, caller) =>
      db.inTransaction(async (transaction) => {
        await requireRecentAuthentication(transaction, sessionId, userId)
        await deps.recordEvent(transaction, { type: 'account.exported', userId, sessionId }, caller)
        await deps.notify(transaction, userId, { kind: 'account_exported' }, caller)
      }),

    delete: (id, caller) => db.inTransaction((transaction) => remove(transaction, id, caller)),
    // Few processes need it.
    ...onDemand(
      async () => (await import('./administration.ts')).createAdministration(deps),
      'change',
      'setEmail',
      'setPassword',
      'resetSecondFactors',
      'unlock',
    ),

    list: (page) => findUsers(db, page),

    async find(name) {
      const lower = name.trim().toLowerCase()
      if (lower.includes('@')) return findUserByEmail(db, lower)
      return (await findUserById(db, lower)) ?? (await findUserByUsername(db, lower))
    },
  }
}

const HASHES_AT_ONCE = 1000

const countUncheckableHashes = async (db: Database, passwords: Passwords): Promise<number> => {
  let count = 0
  let after = ''
  for (;;) {
    const rows = await findPasswordHashes(db, after, HASHES_AT_ONCE)
    for (const { hash } of rows) if (!(await passwords.isCheckable(hash))) count += 1
    const last = rows.at(-1)
    if (!last || rows.length < HASHES_AT_ONCE) return count
    after = last.id
    await setImmediate()
  }
}

/** Looks before it locks: the language of most users is known at their sign-in. */
const createLearnLanguage =
  ({ db, change }: Pick<AccountsDeps, 'db' | 'change'>): Accounts['learnLanguage'] =>
  async (id, tag, caller) => {
    if ((await findUserById(db, id))?.language !== null) return
    await db.inTransaction(async (transaction) => {
      const user = await lockUserToChange(transaction, id)
      if (user?.language === null) await change(transaction, id, { language: tag }, { by: 'proof', caller })
    })
  }

type ChangeOwn = (id: string, changes: Changes, sessionId: string, caller?: Caller) => Promise<void>

const ownChanges = (
  changeOwn: ChangeOwn,
  deps: Pick<AccountsDeps, 'change' | 'db' | 'names'>,
): Pick<Accounts, 'changeLanguage' | 'changeName' | 'changeUsername' | 'learnLanguage'> => ({
  learnLanguage: createLearnLanguage(deps),

  changeUsername: async (id, entered, sessionId, caller) =>
    changeOwn(id, { username: requireUsername(entered) }, sessionId, caller),

  changeName: async (id, entered, sessionId, caller) =>
    changeOwn(id, { name: deps.names.require(entered) }, sessionId, caller),

  changeLanguage: async (id, tag, sessionId, caller) => changeOwn(id, { language: tag }, sessionId, caller),
})
