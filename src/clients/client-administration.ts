import { randomUUIDv7 } from 'node:crypto'
import type { AuditType, RecordEvent } from '../audit/audit-event.ts'
import { type Caller, isBackend } from '../lib/caller.ts'
import { AppError } from '../lib/errors.ts'
import { randomToken } from '../lib/secrets.ts'
import type { Clock } from '../lib/time.ts'
import type { CachedRow, Database, Transaction } from '../storage/database.ts'
import { CLIENT_SECRET_PREFIX } from './authorization-code.ts'
import type { Client } from './client.ts'
import { type ClientFields, clientRefusal, requireClientFields } from './client-rules.ts'
import {
  type StoredClient,
  deleteClient,
  insertClient,
  lockClient,
  replaceSecret,
  updateClient,
} from './client-store.ts'
import type { ClientSettings } from './client-settings.ts'
import { hashOfCode } from './codes.ts'
import { forgetConsents } from './consent-store.ts'

/** What is undefined stays as it is, and `null` takes a value away. A client keeps its type. */
export type ClientChanges = {
  [Name in Exclude<keyof ClientFields, 'type'>]?:
    | ClientFields[Name]
    | (undefined extends ClientFields[Name] ? null : undefined)
} & {
  /** Its grants end. */
  disabled?: boolean | undefined
}

/** A confidential client has a secret, which is shown once. */
export interface MadeClient {
  client: Client
  secret: string | undefined
}

/** Finishes an act in its transaction. */
type Finish<About, Result> = (transaction: Transaction, about: About) => Promise<Result>

/**
 * An operator does this; a key of the server API may do less. Each act throws `unprocessable` or `forbidden`, with the
 * field.
 */
export interface ClientAdministration {
  create<Result>(given: ClientFields, finish: Finish<MadeClient, Result>, caller?: Caller): Promise<Result>
  /** A client that the operator has not made can only be disabled and enabled. Throws `not_found`. */
  change(id: string, changes: ClientChanges, caller?: Caller): Promise<Client>
  /** Makes a new secret. The former one stays good for 24 hours. */
  rotateSecret<Result>(id: string, finish: Finish<RotatedSecret, Result>, caller?: Caller): Promise<Result>
  /** Deletes a client and ends its grants; resolves to what it was, or to undefined if there was none. */
  delete(id: string, caller?: Caller): Promise<Client | undefined>
}

interface RotatedSecret extends MadeClient {
  secret: string
  formerUntilMs: number
}

/** Ends the grants of a client, and its codes. */
type EndGrants = (transaction: Transaction, clientId: string, caller?: Caller) => Promise<unknown>

export interface ClientAdministrationDeps extends Pick<ClientSettings, 'scopes' | 'resources'> {
  db: Database
  clock: Clock
  recordEvent: RecordEvent
  rows: CachedRow<StoredClient>
  endGrants: EndGrants
}

const FORMER_SECRET_MS = 24 * 3_600_000

/** A text of 256 random bits needs no slow hash. */
export const hashOfSecret = hashOfCode

/** Makes, changes and deletes clients for an operator, or for a key of the server API. */
export const createClientAdministration = (deps: ClientAdministrationDeps): ClientAdministration => {
  const { db, clock, recordEvent, rows, endGrants } = deps

  const record = (transaction: Transaction, type: AuditType, client: Client, caller?: Caller, reason?: string) => {
    transaction.afterCommit(() => rows.forget(client.id))
    const details = { clientId: client.id, clientName: client.name, reason }
    return recordEvent(transaction, { type, details }, caller)
  }

  return {
    async create(given, finish, caller) {
      if (isBackend(caller)) refuseForKeys(given)
      const fields = requireClientFields(given, deps)
      const client = { ...NEW, ...fields, id: randomUUIDv7(), kind: 'operator' as const, createdAtMs: clock.now() }
      const secret = client.type === 'web' ? newSecret() : undefined
      const secretHash = secret && hashOfSecret(secret)
      return db.inTransaction(async (transaction) => {
        await insertClient(transaction, client, { secretHash })
        await record(transaction, 'client.created', client, caller)
        return finish(transaction, { client, secret })
      })
    },

    change: (id, changes, caller) =>
      db.inTransaction(async (transaction) => {
        const { client } = await requireClient(transaction, id)
        const changed = withChanges(client, changes, deps)
        if (isBackend(caller)) refuseForKeys(changed, client)
        await updateClient(transaction, changed)
        if (leadsElsewhere(changed, client)) await forgetConsents(transaction, { clientId: id })
        const { disabledAtMs } = changed
        const isSwitched = (disabledAtMs === undefined) !== (client.disabledAtMs === undefined)
        const reason = disabledAtMs === undefined ? 'enabled' : 'disabled'
        await record(transaction, 'client.changed', changed, caller, isSwitched ? reason : undefined)
        if (isSwitched && disabledAtMs !== undefined) await endGrants(transaction, id, caller)
        return changed
      }),

    rotateSecret: (id, finish, caller) =>
      db.inTransaction(async (transaction) => {
        const { client, readAtMs = clock.now() } = await requireClient(transaction, id)
        if (isBackend(caller)) refuseForKeys(client, client)
        if (client.type !== 'web') throw clientRefusal('client_id', 'This client is public: it has no secret.')
        const secret = newSecret()
        const formerUntilMs = readAtMs + FORMER_SECRET_MS
        await replaceSecret(transaction, id, { secretHash: hashOfSecret(secret), formerUntilMs })
        await record(transaction, 'client.secret_rotated', client, caller)
        return finish(transaction, { client, secret, formerUntilMs })
      }),

    delete: (id, caller) =>
      db.inTransaction(async (transaction) => {
        const client = (await lockClient(transaction, id))?.client
        if (!client) return undefined
        if (isBackend(caller)) refuseForKeys(client, client)
        await endGrants(transaction, id, caller)
        await deleteClient(transaction, id)
        await record(transaction, 'client.deleted', client, caller)
        return client
      }),
  }
}

const NEW = { usedAtMs: undefined, disabledAtMs: undefined }

const newSecret = (): string => CLIENT_SECRET_PREFIX + randomToken()

const requireClient = async (transaction: Transaction, id: string) => {
  const found = await lockClient(transaction, id)
  if (!found) throw new AppError('not_found', 'There is no such client.')
  return found
}

/** Applies changes to a client. A time that it is disabled since stays. */
const withChanges = (
  client: Client,
  { disabled, ...changes }: ClientChanges,
  deps: ClientAdministrationDeps,
): Client => {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined)
  const values = Object.fromEntries(given.map(([name, value]) => [name, value ?? undefined])) as Partial<ClientFields>
  if (given.length > 0 && client.kind !== 'operator') {
    throw clientRefusal(
      'client_id',
      'Nobody can change a client that has not been made by an operator: it can be disabled.',
    )
  }
  const fields = given.length > 0 ? requireClientFields({ ...client, ...values }, deps) : client
  const sinceMs = client.disabledAtMs ?? deps.clock.now()
  const disabledAtMs = (disabled ?? client.disabledAtMs !== undefined) ? sinceMs : undefined
  return { ...client, ...fields, disabledAtMs }
}

/** Users have allowed codes to go where the client lived then: a stolen key must not lead them elsewhere unseen. */
const leadsElsewhere = ({ redirectUris }: Client, before: Client): boolean =>
  redirectUris.some((uri) => !before.redirectUris.includes(uri))

/** A key of the server API may be stolen with the application: it sets nothing that svc trusts, or calls by itself. */
const refuseForKeys = (wanted: Pick<ClientFields, 'firstParty' | 'backchannelLogoutUri'>, client?: Client): void => {
  if (wanted.firstParty || client?.firstParty) throw commandOnly('first_party')
  if (wanted.backchannelLogoutUri !== client?.backchannelLogoutUri) throw commandOnly('backchannel_logout_uri')
}

const commandOnly = (field: string): AppError => {
  const message = `The field "${field}" is for the command line alone (svc clients): no API key makes, changes or deletes a client by it.`
  return new AppError('forbidden', message, { field, reason: 'command_only' })
}
