import type { components, operations } from './api-types.ts'
import type { Caller, WriteOptions } from './call.ts'

type Schemas = components['schemas']
type BodyOf<Name extends 'createClient' | 'changeClient'> =
  operations[Name]['requestBody']['content']['application/json']

/** A program that users give access: an agent, a native application, another web application. */
export type Client = Schemas['Client']
/** A new client, with its `secret` where it is of the type `web`. It is shown this once. */
export type CreatedClient = Schemas['CreatedClient']
export type ClientSecret = Schemas['ClientSecret']
/** The access of a client to the account of a user; its `id` is the claim `sid` of its tokens. */
export type Grant = Schemas['Grant']
export type NewClient = BodyOf<'createClient'>
export type ClientChanges = BodyOf<'changeClient'>

export interface ClientsApi {
  /** One client. Throws `AdminError` with the code `not_found`. */
  get(id: string): Promise<Client>
  /** All clients, the newest first; at most 10,000. */
  list(): Promise<Client[]>
  create(client: NewClient, options?: WriteOptions): Promise<CreatedClient>
  /** Changes what is given, all of it or nothing. `{ disabled: true }` ends every grant of the client. */
  update(id: string, changes: ClientChanges): Promise<Client>
  /** Makes a new secret. The former one stays good for 24 hours. */
  rotateSecret(id: string, options?: WriteOptions): Promise<ClientSecret>
  /** Deletes a client, which may be gone already, and ends its grants. */
  delete(id: string): Promise<void>
}

export interface GrantsApi {
  /** The live grants of a user, the last used first. */
  list(userId: string): Promise<Grant[]>
  /** Ends a grant of a user at once, on every replica. */
  end(userId: string, id: string): Promise<void>
}

export const createClients = (call: Caller): ClientsApi => ({
  get: (id) => call({ method: 'GET', path: ['clients', id] }),
  async list() {
    const { clients } = await call<Schemas['ClientList']>({ method: 'GET', path: ['clients'] })
    return clients
  },
  create: (client, options) => call({ method: 'POST', path: ['clients'], body: client, ...options }),
  update: (id, changes) => call({ method: 'PATCH', path: ['clients', id], body: changes }),
  rotateSecret: (id, options) => call({ method: 'POST', path: ['clients', id, 'secrets'], ...options }),
  delete: (id) => call({ method: 'DELETE', path: ['clients', id] }),
})

export const createGrants = (call: Caller): GrantsApi => ({
  async list(userId) {
    const { grants } = await call<Schemas['GrantList']>({ method: 'GET', path: ['users', userId, 'grants'] })
    return grants
  },
  end: (userId, id) => call({ method: 'DELETE', path: ['users', userId, 'grants', id] }),
})
