import type { RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import { onDemand } from '../lib/on-demand.ts'
import type { Clock } from '../lib/time.ts'
import type { SessionRules, SignInGrant } from '../sessions/sign-in-grant.ts'
import type { Database, Transaction } from '../storage/database.ts'
import type { Notify } from './account-notice.ts'
import type { Announce, AnnounceUpdate } from './announcement.ts'
import { createAuthentication, type SignInRefusal } from './authentication.ts'
import type { CheckedSignup, InvitedUser, NewUser, ProviderUser } from './new-user.ts'
import { createPasswordChange, type NewPassword, type PasswordOutcome } from './passwords/password-change.ts'
import type { EmailDomains } from './email-domains.ts'
import type { RequireGoodPassword } from './passwords/password-rules.ts'
import type { Passwords } from './passwords/passwords.ts'
import { type AlsoInsert, type Begin, createRegistration } from './registration.ts'
import type { ApplySecurityEvent, RemovedFactors } from './security-events.ts'
import type { HasPassword } from './passwords/usable-password.ts'
import {
  deleteUser,
  findUserByEmail,
  findUserById,
  findUserByUsername,
  requireUserById,
  type User,
} from './user-store.ts'
import { findUsers, type UserPage } from './user-list-store.ts'
import { renameUser } from './username-change.ts'

export type { UserFilter } from './user-list-store.ts'
export type { RemovedFactors } from './security-events.ts'
export type { ImportedUser, UserImport } from './import/import.ts'
export type { ExportSummary, UserExport } from './export/export.ts'
export type { AlsoInsert } from './registration.ts'
export type { User } from './user-store.ts'

/** Accounts. A rule that refuses is an `AppError` with field and reason. */
export interface Users {
  // Creating an account: `unprocessable` for a bad field, `conflict` for a taken email or username.
  /** By an operator, or at a signup. `also` adds to the transaction. */
  create(newUser: NewUser, caller?: Caller, also?: AlsoInsert): Promise<User>
  /** For a user who then signs in to the account. */
  signUp(newUser: NewUser, caller?: Caller, also?: AlsoInsert): Promise<SignInGrant>
  /** Checks and hashes what a signup has entered, and looks up nothing but the username. */
  checkSignup(newUser: NewUser & { password: string }, caller?: Caller): Promise<CheckedSignup>
  /** For a user who has verified the email, and then signs in to the account. `first` begins the transaction. */
  createVerified(signup: CheckedSignup, first: Begin, caller: Caller): Promise<SignInGrant>
  /** Without a password, with an email that a provider has verified. */
  createFromProfile(providerUser: ProviderUser, also: AlsoInsert, caller: Caller): Promise<User>
  /** Without a password, for a user who was invited, and whose email nobody has proved yet. */
  createInvited(invitedUser: InvitedUser, also: AlsoInsert): Promise<User>

  // What a user does.
  /** `unavailable` where a password could not be checked now, for the many that wait: a login need not be counted then. */
  requireRoomForPassword(caller: Caller): void
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
  /**
   * `unauthorized` when the password is wrong; `forbidden` when there is none and the user has not just authenticated,
   * or an account with a second factor or a passkey has not just been proved with `mfa`.
   */
  deleteOwn(id: string, confirmation: DeletionConfirmation, caller?: Caller): Promise<void>

  // What an operator does.
  /** Ends every session and disconnects every provider, unless they are kept; resolves to the providers' names. */
  setPassword(id: string, entered: string, options?: { keepProviders?: boolean | undefined }): Promise<string[]>
  /**
   * For a user who has lost them: codes and recovery codes end, and passkeys where that is asked for; so do all
   * sessions, links and known browsers. `not_found` when there is no such user.
   */
  resetSecondFactors(id: string, options: { passkeys: boolean }, caller?: Caller): Promise<RemovedFactors>
  setRoles(id: string, roles: string[]): Promise<void>
  /** `conflict` for a taken username. */
  setUsername(id: string, entered: string): Promise<void>
  /** Without a proof: the operator vouches for the address. */
  verifyEmail(id: string): Promise<void>
  /** Disabling ends every session; enabling brings none of them back. */
  setDisabled(id: string, disabled: boolean): Promise<void>
  /** Whether there was such a user. */
  delete(id: string, caller?: Caller): Promise<boolean>

  /** By id, email or username. */
  find(name: string): Promise<User | undefined>
  /** In order of creation. */
  list(page: UserPage): Promise<User[]>
  /** Whether the user can sign in with one; `not_found` when there is no such user. */
  hasPassword(id: string): Promise<boolean>
  /** How many users have a password that cannot be checked here: they need a new one. */
  countUncheckableHashes(): Promise<number>
}

interface UsersDeps extends Omit<SessionRules, 'endSessions'> {
  db: Database
  clock: Clock
  passwords: Passwords
  requireGoodPassword: RequireGoodPassword
  emailDomains: EmailDomains
  hasPassword: HasPassword
  announce: Announce
  announceUpdate: AnnounceUpdate
  applySecurityEvent: ApplySecurityEvent
  notify: Notify
  recordEvent: RecordEvent
  /** Forgets to which address messages about a deleted user went, and what they said. */
  forgetMessages: (transaction: Transaction, userId: string) => Promise<unknown>
}

interface DeletionConfirmation {
  /** Ignored where there is no password: then the user must have authenticated recently. */
  password: string
  /** The session of the request. */
  sessionId: string
}

export const createUsers = (deps: UsersDeps): Users => {
  const {
    db,
    hasPassword,
    announce,
    notify,
    recordEvent,
    forgetMessages,
    requireSession,
    requireRecentAuthentication,
    requireFactors,
    userChanged,
  } = deps
  const { create, createVerified, ...registration } = createRegistration(deps)
  const { authenticate, grantFor, requireOwnPassword } = createAuthentication(deps)

  /** Deletes a user unless `requirePermission` throws. */
  const remove = (
    id: string,
    {
      requirePermission,
      caller,
    }: { requirePermission?: (transaction: Transaction) => Promise<unknown>; caller?: Caller | undefined } = {},
  ): Promise<boolean> =>
    db.inTransaction(async (transaction) => {
      await requirePermission?.(transaction)
      // Before the row is deleted: the database deletes the sessions with it, and the address stands there.
      await userChanged(transaction, id)
      await notify(transaction, id, { kind: 'account_deleted' }, caller)
      if ((await deleteUser(transaction, id)) === 0) return false
      await forgetMessages(transaction, id)
      await announce(transaction, 'user.deleted', id)
      await recordEvent(transaction, { type: 'user.deleted', userId: id }, caller)
      return true
    })

  return {
    create,
    ...registration,
    authenticate,
    requireRoomForPassword: deps.passwords.requireRoom,

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

    async countUncheckableHashes() {
      const { countUncheckableHashes } = await import('./passwords/uncheckable-hashes.ts')
      return countUncheckableHashes(db, deps.passwords)
    },

    changeUsername: (id, entered, sessionId, caller) =>
      renameUser(deps, {
        id,
        entered,
        requirePermission: (transaction) => requireSession(transaction, sessionId, id),
        caller,
      }),

    async deleteOwn(id, { password, sessionId }, caller) {
      const user = await requireUserById(db, id)
      const rule = hasPassword(user) ? requireFactors : requireRecentAuthentication
      const requirePermission = (transaction: Transaction) => rule(transaction, sessionId, id)
      // First, too: a password that is typed before the user is sent to confirm would be lost.
      await db.inTransaction(requirePermission)
      if (hasPassword(user)) await requireOwnPassword(user, password, 'password', caller)
      await remove(id, { requirePermission, caller })
    },

    delete: (id, caller) => remove(id, { caller }),
    ...administrationOnDemand(deps),

    list: (page) => findUsers(db, page),

    async find(name) {
      const lower = name.trim().toLowerCase()
      if (lower.includes('@')) return findUserByEmail(db, lower)
      return (await findUserById(db, lower)) ?? (await findUserByUsername(db, lower))
    },
  }
}

/** What an operator does, which few processes need. */
const administrationOnDemand = (deps: UsersDeps) =>
  onDemand(
    async () => (await import('./administration.ts')).createAdministration(deps),
    'setPassword',
    'resetSecondFactors',
    'setRoles',
    'setUsername',
    'verifyEmail',
    'setDisabled',
  )
