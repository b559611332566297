import type { Caller } from '../../lib/caller.ts'
import { AppError } from '../../lib/errors.ts'
import type { UserChange } from '../../lib/user-change.ts'
import type { Recovery } from '../../links/links.ts'
import type { Queries, Transaction } from '../../storage/database.ts'
import type { HasPassword } from '../passwords/usable-password.ts'
import { requireUsername } from '../username.ts'
import type { User, Users } from '../accounts.ts'
import { findDirectoryUsers, type ShownUserRecord, type ShownFacts } from './directory-user-store.ts'
import type { UserChanges } from './checked-changes.ts'
import type { UserChangesDeps } from './user-changes.ts'
import type { PageRequest } from './user-query.ts'

export type { PageRequest } from './user-query.ts'

/** A user as the server API shows them. */
export interface DirectoryUser extends User, ShownFacts {
  /** Whether the user can sign in with one. */
  hasPassword: boolean
}

/** A page of a list. It may hold fewer users than were asked for, although there are more pages. */
interface UserPage {
  users: DirectoryUser[]
  /** Undefined at the end. */
  nextCursor: string | undefined
}

/** An account that the application's backend makes. */
interface NewDirectoryUser {
  email: string
  username?: string | undefined
  roles?: string[] | undefined
  /** At most one of the two. Without them, nobody can sign in to the account yet. */
  password?: string | undefined
  passwordHash?: string | undefined
  emailVerified?: boolean | undefined
  /** Makes a link by which the user enters the account, in place of a password. */
  invite?: boolean | undefined
}

/** An account that was made, with the link that invites its user, if there is one. */
interface Created {
  user: DirectoryUser
  inviteUrl: string | undefined
}

/** What is made of the result of a change, in its transaction. */
type Then<Given, T> = (transaction: Transaction, given: Given) => Promise<T>

/** A link that an operator hands over. */
interface OperatorLink {
  url: string
  expiresAtMs: number
}

/** All users, for the application's backend. A rule that refuses is an `AppError` with its field. */
export interface UserDirectory {
  find(id: string): Promise<DirectoryUser | undefined>
  /** In the order in which svc got to know them. `invalid_request` for a cursor of another list. */
  list(page: PageRequest): Promise<UserPage>
  /** `unprocessable` for a bad field, `conflict` for a taken email or username. */
  create<T>(given: NewDirectoryUser, caller: Caller, then: Then<Created, T>): Promise<T>
  /** Only what is given changes; the same errors, and `not_found`. */
  change(id: string, changes: UserChanges, caller: Caller): Promise<{ user: DirectoryUser; changed: UserChange[] }>
  /** `not_found`; `conflict` for a disabled account, and for the invitation to one that anybody has entered. */
  createLink<T>(
    id: string,
    link: { purpose: 'reset' | 'invite'; returnTo: string | undefined },
    caller: Caller,
    then: Then<OperatorLink, T>,
  ): Promise<T>
}

interface UserDirectoryDeps extends Omit<UserChangesDeps, 'emailChanges'> {
  users: Pick<Users, 'create'>
  recovery: Pick<Recovery, 'emailChanges' | 'invitations' | 'reset'>
  hasPassword: HasPassword
  /** `SVC_PASSWORDS` */
  acceptsPasswords: boolean
  /** What of second factors the settings allow. */
  accepts: { codes: boolean; passkeys: boolean }
}

export const createUserDirectory = (deps: UserDirectoryDeps): UserDirectory => {
  const { db, users, recovery, hasPassword, accepts, acceptsPasswords } = deps

  const toUser = (record: ShownUserRecord): DirectoryUser => {
    const factors = { hasCodes: accepts.codes && record.hasCodes, passkeys: accepts.passkeys ? record.passkeys : 0 }
    return { ...record, ...factors, hasPassword: hasPassword(record) }
  }

  const find = async (id: string, queries: Queries = db): Promise<DirectoryUser | undefined> =>
    (await findDirectoryUsers(queries, [id])).map(toUser)[0]

  const require = async (queries: Queries, id: string): Promise<DirectoryUser> => {
    const user = await find(id, queries)
    if (user) return user
    throw new AppError('not_found', `There is no user ${id}.`)
  }

  return {
    find: (id) => find(id),

    async list(page) {
      const { listUserIds } = await import('./user-list.ts')
      const { ids, nextCursor } = await listUserIds(db, page)
      return { users: (await findDirectoryUsers(db, ids)).map(toUser), nextCursor }
    },

    async create<T>(given: NewDirectoryUser, caller: Caller, then: Then<Created, T>): Promise<T> {
      requireOneWayIn(given, acceptsPasswords)
      // An empty one is none, and does not stand for a username that svc makes, as it does in a form.
      if (given.username === '') requireUsername(given.username)
      const { invite, ...newUser } = given
      let result: { value: T } | undefined
      await users.create(newUser, caller, async (transaction, userId) => {
        const link = invite ? await recovery.invitations.inviteIn(transaction, userId, undefined, caller) : undefined
        const created = { user: await require(transaction, userId), inviteUrl: link?.url }
        result = { value: await then(transaction, created) }
      })
      if (!result) throw new AppError('internal_error', 'The account was made without its response.')
      return result.value
    },

    async change(id, changes, caller) {
      const { createApplyChanges } = await import('./user-changes.ts')
      const applyChanges = createApplyChanges({ ...deps, emailChanges: recovery.emailChanges })
      return applyChanges({ id, changes, caller }, async (transaction, changed) => {
        return { user: await require(transaction, id), changed }
      })
    },

    createLink: (id, { purpose, returnTo }, caller, then) =>
      db.inTransaction(async (transaction) => {
        const create = purpose === 'reset' ? recovery.reset.createIn : recovery.invitations.inviteIn
        return then(transaction, await create(transaction, id, returnTo, caller))
      }),
  }
}

const requireOneWayIn = ({ password, passwordHash, invite }: NewDirectoryUser, acceptsPasswords: boolean): void => {
  const given = Object.entries({ password, password_hash: passwordHash }).filter(([, value]) => value !== undefined)
  const [field] = given.at(-1) ?? []
  if (field === undefined) return
  const refused = (message: string, which = field): AppError => new AppError('unprocessable', message, { field: which })
  if (!acceptsPasswords) throw refused('Nobody has a password here (SVC_PASSWORDS=off): leave it out.')
  if (given.length > 1) throw refused('Give either password or password_hash, not both.')
  if (invite) throw refused(`An invited user chooses a password: leave out either invite or ${field}.`, 'invite')
}
