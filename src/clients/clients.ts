import type { RecordEvent } from '../audit/audit-event.ts'
import type { RootSecret } from '../lib/derived-keys.ts'
import type { Log } from '../lib/log.ts'
import type { Clock } from '../lib/time.ts'
import type { Limits } from '../limits/limits.ts'
import type { SigningKeys } from '../sessions/keys/signing-keys.ts'
import type { SessionRules } from '../sessions/sign-in-grant.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { Sign } from '../sessions/tokens/signer.ts'
import type { Database } from '../storage/database.ts'
import { type Authorization, createAuthorization } from './authorization.ts'
import { deleteCodesOfClient } from './grant-ending-store.ts'
import type { GrantEndings } from './grant-endings.ts'
import { createRegistry, type Registry } from './registry.ts'
import type { ClientScope } from './scope.ts'

export type { Client } from './client.ts'
export type { ClientFields } from './client-rules.ts'
export type { ClientChanges, MadeClient } from './administration.ts'
export type { Registry } from './registry.ts'

/** svc is the OAuth 2.1 and OpenID Connect server of its application (docs/clients.md). */
export interface Clients {
  registry: Registry
  authorization: Authorization
  /** The pages say these. */
  settings: Pick<ClientSettings, 'issuer' | 'scopes'>
}

/** These are the settings of clients. */
export interface ClientSettings {
  baseUrl: string
  /** It is the claim `iss` of tokens of clients: the base URL with `/auth`. */
  issuer: string
  resources: readonly string[]
  scopes: readonly ClientScope[]
  hosts: readonly string[]
  registration: boolean
  tokenMs: number
  grantIdleMs: number
  graceMs: number
}

export interface ClientsDeps extends ClientSettings, Pick<SessionRules, 'requireSession'> {
  db: Database
  clock: Clock
  log: Log
  rootSecret: RootSecret
  signingKeys: SigningKeys
  sign: Sign
  recordEvent: RecordEvent
  limits: Limits
  sessions: Pick<Sessions, 'find'>
  clientGrants: GrantEndings
}

export const createClients = (deps: ClientsDeps): Clients => {
  const { endGrants } = deps.clientGrants
  const registry = createRegistry({
    ...deps,
    async endGrants(transaction, clientId, caller) {
      await deleteCodesOfClient(transaction, clientId)
      await endGrants(transaction, { clientId }, 'client', caller)
    },
  })
  return { registry, authorization: createAuthorization({ ...deps, registry }), settings: deps }
}
