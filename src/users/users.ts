import type { Caller } from '../lib/bounded-queue.ts'
import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { SessionRules, SignInGrant } from '../sessions/sign-in-grant.ts'
import type { Database, Transaction } from '../storage/database.ts'
import { createCredentials, type NewPassword, type PasswordOutcome } from './credentials.ts'
import type { RequireGoodPassword } from './password-rules.ts'
import type { Passwords } from './passwords.ts'
import { createRegistration, type NewUser, takenError } from './registration.ts'
import { requireRoles } from './roles.ts'
import {
  deleteUser,
  findUserByEmail,
  findUserById,
  findUserByUsername,
  findUsers,
  type User,
  type UserRecord,
  updateDisabled,
  updatePasswordHash,
  updateRoles,
  updateUsername,
} from './user-store.ts'
import { requireUsername } from './username.ts'

export type { User } from './user-store.ts'

interface UsersDeps extends SessionRules {
  db: Database
  clock: Clock
  passwords: Passwords
  /** Writes down, in the transaction of the action, that the application must be told. */
  announce: (transaction: Transaction, type: 'user.created' | 'user.deleted', userId: string) => Promise<void>
  requireGoodPassword: RequireGoodPassword
  /** Disconnects every provider of a user in the transaction of the action; resolves to their names. */
  disconnectProviders: (transaction: Transaction, userId: string) => Promise<string[]>
}

interface Deletion {
  /** Not asked for where there is none: then the session must be fresh. */
  password: string
  /** The session of who asks. */
  sessionId: string
}

/** Accounts: who somebody is. Rules that refuse are `AppError`s with field and reason. */
export const createUsers = (deps: UsersDeps) => {
  const { db, passwords, announce, endSessions, requireSession, requireRecentAuthentication, userChanged } = deps
  const { disconnectProviders, requireGoodPassword } = deps
  const { create, createVouched } = createRegistration(deps)
  const { authenticate, changeOrSetPassword, grantFor, requireOwnPassword } = createCredentials(deps)

  const requireUser = async (id: string): Promise<UserRecord> => {
    const user = await findUserById(db, id)
    if (!user) throw new AppError('not_found', `There is no user ${id}.`)
    return user
  }

  /** Deletes a user, on condition that `mayGo` does not object. */
  const remove = (id: string, mayGo: (transaction: Transaction) => Promise<void> = async () => {}): Promise<void> =>
    db.inTransaction(async (transaction) => {
      await mayGo(transaction)
      // Before the row goes, which takes the sessions with it.
      await userChanged(transaction, id)
      if ((await deleteUser(transaction, id)) === 0) return
      await announce(transaction, 'user.deleted', id)
    })

  return {
    create,
    createVouched,
    authenticate,

    /** Creates an account for a user who then signs in to it; errors as those of `create`. */
    async signUp(newUser: NewUser, caller?: Caller): Promise<SignInGrant> {
      return grantFor(await create(newUser, caller))
    },

    /**
     * Changes the password of a user who has one, and sets the first one of a user who has none; every other session
     * ends. A change is left to be made in the transaction of the session that replaces that of the request: tokens that
     * were stolen from it are of no use afterwards. `unauthorized` when the current password is wrong, `unprocessable`
     * when the next one breaks a rule, `forbidden` when there is none yet and the session is not fresh.
     */
    async changeOrSetPassword(id: string, entered: NewPassword, caller?: Caller): Promise<PasswordOutcome> {
      return changeOrSetPassword(await requireUser(id), entered, caller)
    },

    async hasPassword(id: string): Promise<boolean> {
      return (await requireUser(id)).passwordHash !== null
    },

    async changeUsername(id: string, entered: string, sessionId: string): Promise<void> {
      const username = requireUsername(entered)
      try {
        await db.inTransaction(async (transaction) => {
          await requireSession(transaction, sessionId, id)
          await updateUsername(transaction, id, username)
          await userChanged(transaction, id)
        })
      } catch (error) {
        throw takenError(error)
      }
    },

    /**
     * Deletes the account of who proves it: `unauthorized` when the password is wrong, `forbidden` when there is none and
     * the session is not fresh.
     */
    async deleteOwn(id: string, { password, sessionId }: Deletion, caller?: Caller): Promise<void> {
      const user = await requireUser(id)
      const proof = user.passwordHash === null ? requireRecentAuthentication : requireSession
      if (user.passwordHash !== null) await requireOwnPassword(user, password, 'password', caller)
      await remove(id, async (transaction) => void (await proof(transaction, sessionId, id)))
    },

    delete: (id: string): Promise<void> => remove(id),

    /**
     * Sets a password, ends every session and disconnects every provider, through which an attacker could come back.
     * Resolves to the names of what was disconnected.
     */
    async setPassword(id: string, entered: string, { keepProviders = false } = {}): Promise<string[]> {
      const user = await requireUser(id)
      const hash = await passwords.hash(requireGoodPassword(entered, [user.email, user.username]))
      return db.inTransaction(async (transaction) => {
        // First: it holds the user, so that nothing is connected at the same moment.
        await updatePasswordHash(transaction, id, hash)
        const disconnected = keepProviders ? [] : await disconnectProviders(transaction, id)
        await endSessions(transaction, id)
        return disconnected
      })
    },

    async setRoles(id: string, roles: string[]): Promise<void> {
      const checked = requireRoles(roles)
      await db.inTransaction(async (transaction) => {
        await updateRoles(transaction, id, checked)
        await userChanged(transaction, id)
      })
    },

    /** Disabling ends every session; enabling brings none of them back. */
    async setDisabled(id: string, disabled: boolean): Promise<void> {
      await db.inTransaction(async (transaction) => {
        await updateDisabled(transaction, id, disabled)
        if (disabled) await endSessions(transaction, id)
        await userChanged(transaction, id)
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
