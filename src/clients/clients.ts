import type { RecordEvent } from '../audit/audit-event.ts'
import type { RootSecret } from '../lib/derived-keys.ts'
import type { Log } from '../lib/log.ts'
import type { Clock } from '../lib/time.ts'
import type { Limits } from '../limits/limits.ts'
import type { SigningKeys } from '../sessions/keys/signing-keys.ts'
import type { SessionRules } from '../sessions/sign-in-grant.ts'
import type { Sign } from '../sessions/tokens/signer.ts'
import type { Database } from '../storage/database.ts'
import { deleteCodesOfClient } from './grant-ending-store.ts'
import type { GrantEndings } from './grant-endings.ts'
import { createRegistry, type Registry } from './registry.ts'
import type { ClientScope } from './scope.ts'

/** svc is the OAuth 2.1 and OpenID Connect server of its application (docs/clients.md). */
export interface Clients {
  registry: Registry
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
  clientGrants: GrantEndings
}

export const createClients = (deps: ClientsDeps): Clients => {
  const { endGrants } = deps.clientGrants
  return {
    registry: createRegistry({
      ...deps,
      async endGrants(transaction, clientId, caller) {
        await deleteCodesOfClient(transaction, clientId)
        await endGrants(transaction, { clientId }, 'client', caller)
      },
    }),
  }
}
