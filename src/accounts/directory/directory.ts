import type { Caller } from '../../lib/caller.ts'
import { AppError } from '../../lib/errors.ts'
import type { UserChange } from '../../lib/user-change.ts'
import type { Database, Queries, Transaction } from '../../storage/database.ts'
import type { HasPassword } from '../authentication.ts'
import { type Names, requireUsername } from '../fields.ts'
import type { User, Accounts, UserFilter } from '../accounts.ts'
import type { UserChanges } from '../administration.ts'
import { findDirectoryUsers, type ShownFacts, type ShownUserRecord } from './directory-user-store.ts'
import type { PageRequest } from './user-list.ts'

export type { PageRequest } from './user-list.ts'

/** A user as the server API shows them. */
export interface DirectoryUser extends Omit<User, 'name'>, ShownFacts {
  /** Undefined: there are no names here (`SVC_NAMES`). */
  name: string | null | undefined
  /** `true`: the user can sign in with one. */
  hasPassword: boolean
}

/** A page of a list. It may hold fewer users than were asked for, although there are more pages. */
interface UserPage {
  users: DirectoryUser[]
  /** Undefined at the end. */
  nextCursor: string | undefined
}

interface NewDirectoryUser {
  email: string
  username?: string | undefined
  name?: string | null | undefined
  language?: string | null | undefined
  roles?: string[] | undefined
  /** At most one of the two is given. Without them, nobody can sign in to the account yet. */
  password?: string | undefined
  passwordHash?: string | undefined
  emailVerified?: boolean | undefined
  /** Makes a link by which the user enters the account, in place of a password. */
  invite?: boolean | undefined
}

interface Created {
  user: DirectoryUser
  inviteUrl: string | undefined
}

/** Makes something of the result, in the transaction of the change. */
type Then<Given, T> = (transaction: Transaction, given: Given) => Promise<T>

interface OperatorLink {
  url: string
  expiresAtMs: number
}

/** Makes a link for a user, in the transaction of the caller. */
type CreateLink = (
  transaction: Transaction,
  userId: string,
  returnTo: string | undefined,
  caller: Caller,
) => Promise<OperatorLink>

/** All users, for the application's backend. A rule that refuses is an `AppError` with its field. */
export interface UserDirectory {
  find(id: string): Promise<DirectoryUser | undefined>
  /** Finds users in the order of their ids here; leaves out those who do not exist. */
  findAll(ids: readonly string[]): Promise<DirectoryUser[]>
  /** Lists users in the order in which svc got to know them. `invalid_request` for a cursor of another list. */
  list(page: PageRequest): Promise<UserPage>
  /** Lists all users after the one with an id, in the same order, for as long as it takes. */
  each(filter: UserFilter, after: string): AsyncGenerator<DirectoryUser[]>
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

interface UserDirectoryDeps {
  db: Database
  users: Pick<Accounts, 'create' | 'change'>
  createLink: Record<'reset' | 'invite', CreateLink>
  hasPassword: HasPassword
  names: Names
  /** `SVC_PASSWORDS` */
  acceptsPasswords: boolean
  /** The settings allow these second factors. */
  accepts: { codes: boolean; passkeys: boolean }
}

export const createUserDirectory = (deps: UserDirectoryDeps): UserDirectory => {
  const { db, users, hasPassword, names, accepts, acceptsPasswords } = deps

  const toUser = (record: ShownUserRecord): DirectoryUser => {
    const factors = { hasCodes: accepts.codes && record.hasCodes, passkeys: accepts.passkeys ? record.passkeys : 0 }
    const name = names.mode === 'off' ? undefined : record.name
    return { ...record, ...factors, name, hasPassword: hasPassword(record) }
  }

  const findAll = async (ids: readonly string[]): Promise<DirectoryUser[]> =>
    (await findDirectoryUsers(db, [...ids])).map(toUser)

  const find = async (id: string, queries: Queries = db): Promise<DirectoryUser | undefined> =>
    (await findDirectoryUsers(queries, [id])).map(toUser)[0]

  const require = async (queries: Queries, id: string): Promise<DirectoryUser> => {
    const user = await find(id, queries)
    if (user) return user
    throw new AppError('not_found', `There is no user ${id}.`)
  }

  return {
    find: (id) => find(id),
    findAll,

    async list(page) {
      const { listUserIds } = await import('./user-list.ts')
      const { ids, nextCursor } = await listUserIds(db, page)
      return { users: await findAll(ids), nextCursor }
    },

    async *each(filter, after) {
      const { eachUserId } = await import('./user-list.ts')
      for await (const ids of eachUserId(db, filter, after)) yield findAll(ids)
    },

    async create<T>(given: NewDirectoryUser, caller: Caller, then: Then<Created, T>): Promise<T> {
      requireOneWayIn(given, acceptsPasswords)
      // An empty username is refused here. In a form, it stands for one that svc makes.
      if (given.username === '') requireUsername(given.username)
      const { invite, ...newUser } = given
      let result: { value: T } | undefined
      await users.create({ ...newUser, isNamedLater: invite }, caller, async (transaction, userId) => {
        const link = invite ? await deps.createLink.invite(transaction, userId, undefined, caller) : undefined
        const created = { user: await require(transaction, userId), inviteUrl: link?.url }
        result = { value: await then(transaction, created) }
      })
      return requireResult(result).value
    },

    async change(id, changes, caller) {
      let result: { user: DirectoryUser; changed: UserChange[] } | undefined
      await users.change(id, changes, caller, async (transaction, changed) => {
        result = { user: await require(transaction, id), changed }
      })
      return requireResult(result)
    },

    createLink: (id, { purpose, returnTo }, caller, then) =>
      db.inTransaction(async (transaction) =>
        then(transaction, await deps.createLink[purpose](transaction, id, returnTo, caller)),
      ),
  }
}

const requireResult = <T>(result: T | undefined): T => {
  if (result === undefined) throw new AppError('internal_error', 'The user has changed without a response.')
  return result
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
