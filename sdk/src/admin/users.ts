import type { components, operations } from './api-types.ts'
import type { Caller, WriteOptions } from './call.ts'

type Schemas = components['schemas']
type BodyOf<Name extends 'createUser' | 'changeUser' | 'createLink'> =
  operations[Name]['requestBody']['content']['application/json']

/** A user with everything that the server API tells. */
export type AdminUser = Schemas['User']
/** A new user, with `invite_url` where an invitation was asked for. */
export type CreatedUser = Schemas['CreatedUser']
export type UserPage = Schemas['UserList']
export type UserLink = Schemas['Link']
export type NewUser = BodyOf<'createUser'>
export type UserChanges = BodyOf<'changeUser'>
export type LinkRequest = BodyOf<'createLink'>
export type SecondFactorReset = NonNullable<operations['resetSecondFactors']['parameters']['query']>
export type UserFilter = NonNullable<operations['listUsers']['parameters']['query']>

export interface UsersApi {
  /** One user. Throws `AdminError` with the code `not_found`. */
  get(id: string): Promise<AdminUser>
  /** One page of users; `next_cursor` is null on the last one. */
  list(filter?: UserFilter): Promise<UserPage>
  /** All users of all pages, one after the other. */
  all(filter?: Omit<UserFilter, 'cursor'>): AsyncIterableIterator<AdminUser>
  create(user: NewUser, options?: WriteOptions): Promise<CreatedUser>
  /** Changes what is given, all of it or nothing. */
  update(id: string, changes: UserChanges): Promise<AdminUser>
  /** Deletes a user, who may be gone already. */
  delete(id: string): Promise<void>
  /** Takes one-time codes and recovery codes away from a user who has lost them, and ends all sessions. */
  resetSecondFactors(id: string, options?: SecondFactorReset): Promise<void>
  /** Makes a link for a new password or an invitation. It is not mailed. */
  createLink(id: string, link: LinkRequest, options?: WriteOptions): Promise<UserLink>
}

export const createUsers = (call: Caller): UsersApi => {
  const list: UsersApi['list'] = async (filter = {}) => {
    // svc would take the empty list for no filter, and give everybody.
    if (filter.id?.length === 0) return { users: [], next_cursor: null }
    return call({ method: 'GET', path: ['users'], query: filter })
  }
  return {
    get: (id) => call({ method: 'GET', path: ['users', id] }),
    list,
    async *all(filter = {}) {
      let cursor: string | null = null
      do {
        const page: UserPage = await list({ ...filter, ...(cursor !== null && { cursor }) })
        yield* page.users
        cursor = page.next_cursor
      } while (cursor !== null)
    },
    create: (user, options) => call({ method: 'POST', path: ['users'], body: user, ...options }),
    update: (id, changes) => call({ method: 'PATCH', path: ['users', id], body: changes }),
    delete: (id) => call({ method: 'DELETE', path: ['users', id] }),
    resetSecondFactors: (id, options = {}) =>
      call({ method: 'DELETE', path: ['users', id, 'second-factors'], query: options }),
    createLink: (id, link, options) => call({ method: 'POST', path: ['users', id, 'links'], body: link, ...options }),
  }
}
