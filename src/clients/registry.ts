import { AppError } from '../lib/errors.ts'
import { equalInConstantTime } from '../lib/secrets.ts'
import type { Client } from './client.ts'
import { createDocuments, type Documents, type DocumentsDeps } from './documents.ts'
import { isDocumentId } from './metadata-document.ts'
import { isOnHosts } from './redirect-uri.ts'
import {
  createClientRegistration,
  type ClientRegistration,
  type ClientRegistrationDeps,
} from './client-registration.ts'
import {
  type ClientAdministration,
  type ClientAdministrationDeps,
  createClientAdministration,
  hashOfSecret,
} from './client-administration.ts'
import { cacheClients, findClients, findClientsNamed, findUncheckedClients, type StoredClient } from './client-store.ts'

/**
 * The registry has the clients that the operator made, that have registered themselves, or that have a document. A
 * caller is a key of the server API; without one, an operator acts on the command line.
 */
export interface Registry extends ClientAdministration, ClientRegistration, Pick<Documents, 'isDocumentId'> {
  /** Finds a client by its id, unless it is disabled. It fetches nothing. */
  find(id: string): Promise<Client | undefined>
  /**
   * Finds a client for a user who is signed in, as `find` does; if its id is the URL of a metadata document, it is
   * fetched unless it is fresh. Throws `invalid_request` with a message for the client's developer if the document is
   * not good, and `TooManyTries`.
   */
  findForAuthorize(id: string, userId: string): Promise<Client | undefined>
  /** Tells whether a secret of a confidential client is good. Throws `TooManyTries` after many that are not. */
  checkSecret(client: Pick<Client, 'id'>, secret: string, network: string): Promise<boolean>
  /** Finds a client by its id, disabled or not. */
  show(id: string): Promise<Client | undefined>
  /** Finds the client with an id, or the only one of the operator's with a name. Throws `not_found` or `conflict`. */
  requireNamed(nameOrId: string): Promise<Client>
  /** Lists clients, the newest first; those that come after one, if its id is given. */
  list(most: number, after?: string): Promise<Client[]>
  /** Disables the clients whose hosts have left the settings, whether anybody uses them or not. */
  disableLeft(): Promise<void>
}

type RegistryDeps = Omit<ClientAdministrationDeps & DocumentsDeps & ClientRegistrationDeps, 'rows'>

export const createRegistry = (deps: RegistryDeps): Registry => {
  const { db, clock, limits, hosts } = deps
  const rows = cacheClients(db)
  const administration = createClientAdministration({ ...deps, rows })
  const documents = createDocuments({ ...deps, rows })

  const find = async (id: string): Promise<Client | undefined> => {
    const client = (await rows.get(id))?.client
    if (!client || client.disabledAtMs !== undefined) return undefined
    const allowed = withAllowedUris(client, hosts)
    if (!allowed) await administration.change(id, { disabled: true })
    return allowed
  }

  return {
    ...administration,
    ...createClientRegistration(deps),
    isDocumentId: documents.isDocumentId,
    find,

    async findForAuthorize(id, userId) {
      await documents.refresh(id, userId)
      return find(id)
    },

    show: async (id) => (await rows.get(id))?.client,

    async checkSecret({ id }, secret, network) {
      const found = await rows.get(id)
      if (found && isSecretOf(found, secret, found.readAtMs ?? clock.now())) return true
      await limits.attempt([['clientSecret', { clientId: id, network }]], () => Promise.resolve())
      return false
    },

    async requireNamed(nameOrId) {
      const found = await rows.get(nameOrId)
      if (found) return found.client
      const [client, other] = await findClientsNamed(db, nameOrId)
      const name = JSON.stringify(nameOrId)
      if (other) throw new AppError('conflict', `there are several clients with the name ${name}: give an id`)
      if (!client) throw new AppError('not_found', `there is no client ${name}: give a name or an id`)
      return client
    },

    list: (most, after) => findClients(db, most, after),

    async disableLeft() {
      for (const { id } of await findUncheckedClients(db)) await find(id)
    },
  }
}

/** A client that nobody has checked keeps what the settings allow now; it is undefined if nothing is left. */
const withAllowedUris = (client: Client, hosts: readonly string[]): Client | undefined => {
  if (client.kind === 'operator') return client
  if (client.kind === 'document' && !isDocumentId(client.id, hosts)) return undefined
  const redirectUris = client.redirectUris.filter((uri) => isOnHosts(uri, hosts))
  const logoutUris = client.logoutUris.filter((uri) => isOnHosts(uri, hosts))
  return redirectUris.length > 0 ? { ...client, redirectUris, logoutUris } : undefined
}

const isSecretOf = ({ secrets }: StoredClient, secret: string, nowMs: number): boolean => {
  const sent = hashOfSecret(secret)
  const isNew = equalInConstantTime(sent, secrets.secretHash)
  const isFormer = equalInConstantTime(sent, secrets.formerSecretHash)
  return isNew || (isFormer && nowMs < (secrets.formerUntilMs ?? 0))
}
