import { randomUUIDv7 } from 'node:crypto'
import type { RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import { UNKNOWN_NETWORK } from '../lib/address.ts'
import type { Clock } from '../lib/time.ts'
import type { Limits } from '../limits/limits.ts'
import { type Database, inBatches } from '../storage/database.ts'
import { type ClientMetadata, readClientMetadata } from './client-metadata.ts'
import type { Client } from './client.ts'
import { deleteUnusedBefore, deleteUnusedButNewest, insertClient } from './client-store.ts'
import type { ClientSettings } from './client-settings.ts'
import { OWN_SCOPES } from './scope.ts'

/** Clients that have registered themselves (RFC 7591). */
export interface ClientRegistration {
  /**
   * Makes a public client; resolves to what RFC 7591 section 3.2.1 answers. Throws `unprocessable` with a code of the
   * RFC as its reason, and `TooManyTries`.
   */
  register(metadata: ClientMetadata, caller: Caller): Promise<object>
  /** Deletes those that were not used for a day after they were made, for cleanup; resolves to how many. */
  deleteUnused(nowMs: number): Promise<number>
}

export interface ClientRegistrationDeps extends Pick<ClientSettings, 'hosts' | 'scopes'> {
  db: Database
  clock: Clock
  recordEvent: RecordEvent
  limits: Limits
}

/** Nobody keeps more by registering clients that nobody uses: the oldest gives way. */
const MOST_UNUSED = 1000
const UNUSED_KEPT_MS = 24 * 3_600_000

export const createClientRegistration = ({
  db,
  clock,
  recordEvent,
  limits,
  hosts,
  scopes,
}: ClientRegistrationDeps): ClientRegistration => ({
  register: (metadata, caller) =>
    limits.attempt([['clientRegistration', { network: caller.network ?? UNKNOWN_NETWORK }]], async () => {
      const client: Client = {
        ...readClientMetadata(metadata, { hosts }),
        id: randomUUIDv7(),
        kind: 'registered',
        createdAtMs: clock.now(),
      }
      await db.inTransaction(async (transaction) => {
        await deleteUnusedButNewest(transaction, MOST_UNUSED - 1)
        await insertClient(transaction, client)
        const details = { clientId: client.id, clientName: client.name, method: 'registration' }
        await recordEvent(transaction, { type: 'client.created', details }, caller)
      })
      return toAnswer(client, knownScopes(metadata, scopes))
    }),

  deleteUnused: (nowMs) => inBatches((limit) => deleteUnusedBefore(db, nowMs - UNUSED_KEPT_MS, limit)),
})

/** Lists what svc knows of the scopes that a client asks for; `roles` is for clients of the operator. */
const knownScopes = ({ scope }: ClientMetadata, known: ClientSettings['scopes']): string[] => {
  const given = OWN_SCOPES.filter((own) => own !== 'roles')
  const all = new Set<string>([...given, ...known.map(({ name }) => name)])
  const asked = typeof scope === 'string' ? scope.split(' ').filter((name) => name !== '') : [...all]
  return [...new Set(asked)].filter((name) => all.has(name))
}

const toAnswer = (client: Client, scopes: string[]) => ({
  client_id: client.id,
  client_id_issued_at: Math.floor(client.createdAtMs / 1000),
  client_name: client.name,
  redirect_uris: client.redirectUris,
  ...(client.logoutUris.length > 0 && { post_logout_redirect_uris: client.logoutUris }),
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  scope: scopes.join(' '),
})
