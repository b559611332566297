import type { RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import type { Email } from '../lib/email-address.ts'
import { AppError, checkAll } from '../lib/errors.ts'
import type { UserChange } from '../lib/user-change.ts'
import type { Database, Transaction } from '../storage/database.ts'
import type { Notify } from './account-notice.ts'
import type { Change } from './change.ts'
import {
  isOwnAlready,
  type Names,
  orEmailTaken,
  requireEmail,
  requireLanguage,
  requireRoles,
  requireUsername,
  takenError,
} from './fields.ts'
import type { RequireGoodPassword } from './passwords/password-rules.ts'
import type { Passwords } from './passwords/passwords.ts'
import type { ApplySecurityEvent, RemovedFactors } from './security-events.ts'
import { requireUserById, requireUserToChange, type UserRecord } from './user-store.ts'

/** An operator changes these fields of a user. A field that is undefined stays. */
export interface UserChanges {
  email?: string | undefined
  /** `true`: the operator vouches for the address. A new address is not verified unless this says so. */
  emailVerified?: boolean | undefined
  /** `true`: other addresses of the account may be a thief's, as by default where it is disabled. Goes with `email`. */
  stolen?: boolean | undefined
  username?: string | undefined
  /** Null takes it away where none is required. */
  name?: string | null | undefined
  /** Null: it is not known any more. */
  language?: string | null | undefined
  /** They replace those that the user has. */
  roles?: string[] | undefined
  disabled?: boolean | undefined
}

/** An operator acts by a command, the server API or a page. Without a caller, it is a command. */
export interface Administration {
  /**
   * Makes all changes in one transaction, and tells of them with one event. A value that the user has already is no
   * change; disabling ends every session all the same. `then` runs in the transaction, with what has changed.
   * `not_found`, `unprocessable` for a bad field, `conflict` for a taken email or username: then nothing is changed.
   */
  change(
    id: string,
    changes: UserChanges,
    caller?: Caller,
    then?: (transaction: Transaction, changed: UserChange[]) => Promise<unknown>,
  ): Promise<void>
  /**
   * Changes the address. `unprocessable` when it is the account's own; after a theft it may be that one, and everything
   * ends that would put another one back.
   */
  setEmail(id: string, entered: string, options: Pick<UserChanges, 'emailVerified' | 'stolen'>): Promise<void>
  /** Ends every session and disconnects every provider, unless they are kept; resolves to the providers' names. */
  setPassword(id: string, entered: string, options?: { keepProviders?: boolean | undefined }): Promise<string[]>
  /**
   * Helps a user who has lost them: codes and recovery codes end, and passkeys where that is asked for; so do all
   * sessions, links and known browsers. `not_found` when there is no such user.
   */
  resetSecondFactors(id: string, options: { passkeys: boolean }, caller?: Caller): Promise<RemovedFactors>
  /** Lets a user log in again at once after too many wrong passwords. */
  unlock(id: string, caller?: Caller): Promise<void>
}

export interface AdministrationDeps {
  db: Database
  passwords: Passwords
  requireGoodPassword: RequireGoodPassword
  change: Change
  names: Names
  applySecurityEvent: ApplySecurityEvent
  notify: Notify
  recordEvent: RecordEvent
  /** Lets logins of the account begin to count from zero. */
  unlockLogins: (
    transaction: Transaction,
    account: Pick<UserRecord, 'emailLower' | 'username'> & { userId: string },
  ) => Promise<void>
}

export const createAdministration = (deps: AdministrationDeps): Administration => {
  const { db, passwords, names, change, applySecurityEvent, notify, requireGoodPassword, recordEvent, unlockLogins } =
    deps

  return {
    async change(id, given, caller, then) {
      const changes = requireChanges(given, names)
      try {
        await db.inTransaction(async (transaction) => {
          const user = await requireUserToChange(transaction, id)
          // The own address ends what other addresses could put back only where the request says so: it may repeat
          // all fields.
          const isMoving = hasOtherEmail(user, changes.email) || changes.stolen === true
          const isTheft = isMoving && (changes.stolen ?? (user.disabled || changes.disabled))
          const { changed } = await change(transaction, id, changes, { by: isTheft ? 'theft' : 'operator', caller })
          await then?.(transaction, changed)
        })
      } catch (error) {
        throw takenError(error)
      }
    },

    async setEmail(id, entered, { emailVerified, stolen }) {
      const email = requireEmail(entered)
      await orEmailTaken(() =>
        db.inTransaction(async (transaction) => {
          const user = await requireUserToChange(transaction, id)
          const isTheft = stolen ?? user.disabled
          if (!hasOtherEmail(user, email) && !isTheft) throw isOwnAlready()
          await change(transaction, id, { email, emailVerified }, { by: isTheft ? 'theft' : 'operator' })
        }),
      )
    },

    async setPassword(id, entered, { keepProviders: keepsConnections } = {}) {
      const user = await requireUserById(db, id)
      const passwordHash = await passwords.hash(await requireGoodPassword(entered, [user.email, user.username]))
      const cause = { by: 'operator', keepsConnections } as const
      const { disconnected } = await db.inTransaction((transaction) => change(transaction, id, { passwordHash }, cause))
      return disconnected
    },

    resetSecondFactors: (id, { passkeys: removesPasskeys }, caller) =>
      db.inTransaction(async (transaction) => {
        await requireUserToChange(transaction, id)
        await recordEvent(transaction, { type: 'second_factor.reset', userId: id }, caller)
        const facts = { userId: id, removesPasskeys, caller }
        const ended = await applySecurityEvent(transaction, 'second_factor_reset', facts)
        const { codes, recoveryCodes, passkeys, sessions, grants } = ended
        const isChanged = codes || recoveryCodes > 0 || passkeys.length > 0
        const about = { codes, passkeys: passkeys.length, applicationsEnded: grants > 0 }
        if (isChanged) await notify(transaction, id, { kind: 'second_factor_reset', ...about }, caller)
        return { codes, recoveryCodes, passkeys, sessions }
      }),

    unlock: (id, caller) =>
      db.inTransaction(async (transaction) => {
        const { emailLower, username } = await requireUserById(transaction, id)
        await unlockLogins(transaction, { emailLower, username, userId: id })
        await recordEvent(transaction, { type: 'user.unlocked', userId: id }, caller)
      }),
  }
}

const hasOtherEmail = ({ emailLower }: UserRecord, email: Email | undefined): boolean =>
  email !== undefined && email.lower !== emailLower

/** `unprocessable` for each field that is not accepted. */
const requireChanges = ({ email, username, name, language, roles, stolen, ...flags }: UserChanges, names: Names) => ({
  ...checkAll({
    stolen: () => {
      if (stolen === undefined || email !== undefined) return stolen
      throw new AppError('unprocessable', 'The field "stolen" goes with "email" only.', { field: 'stolen' })
    },
    email: () => (email === undefined ? undefined : requireEmail(email)),
    username: () => (username === undefined ? undefined : requireUsername(username)),
    name: () => (name === undefined ? undefined : names.require(name)),
    language: () => (language ? requireLanguage(language) : language),
    roles: () => roles && requireRoles(roles),
  }),
  ...flags,
})
