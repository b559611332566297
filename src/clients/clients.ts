import type { Notify } from '../accounts/account-notice.ts'
import type { RecordEvent } from '../audit/audit-event.ts'
import type { RootSecret } from '../lib/derived-keys.ts'
import { type Caller, isOperator } from '../lib/caller.ts'
import type { Log } from '../lib/log.ts'
import type { Clock } from '../lib/time.ts'
import type { Limits } from '../limits/limits.ts'
import type { SigningKeys } from '../sessions/keys/signing-keys.ts'
import type { SessionRules } from '../sessions/sign-in-grant.ts'
import { lockUserOfSession } from '../sessions/user-sessions-store.ts'
import type { Sign } from '../sessions/tokens/signer.ts'
import { type Database, inBatches } from '../storage/database.ts'
import type { Dispatcher } from '../storage/outbox/dispatcher.ts'
import { type Authorization, createAuthorization } from './authorization.ts'
import { lockClient } from './client-store.ts'
import { deleteCodesBefore } from './code-store.ts'
import type { ClientSettings } from './client-settings.ts'
import { createCodeTrade } from './codes.ts'
import { forgetConsents } from './consent-store.ts'
import type { GrantEndings } from './grant-endings.ts'
import { createGrants, type Grants } from './grants.ts'
import { createLogoutSender } from './logout-sender.ts'
import { createGrantRefresh } from './refresh.ts'
import { createRegistry, type Registry } from './registry.ts'
import { createTokenRequests, type OnTokens, type TokenRequests } from './token-requests.ts'
import { type ClientTokens, createClientTokens } from './tokens.ts'

export type { Client, ClientKind } from './client.ts'
export type { Grant } from './grant.ts'
export type { ClientFields } from './client-rules.ts'
export type { ClientChanges, MadeClient } from './client-administration.ts'
export type { Registry } from './registry.ts'
export type { OnTokens } from './token-requests.ts'

/** svc is the OAuth 2.1 and OpenID Connect server of its application (docs/clients.md). */
export interface Clients {
  settings: ClientSettings
  registry: Registry
  authorization: Authorization
  grants: Grants
  requests: TokenRequests
  /**
   * Ends what one client, or each, may do for one user, or each: its grants, codes and consents. Resolves to how many
   * grants. Without a caller, an operator does it.
   */
  disconnect(userId: string | undefined, clientId: string | undefined, caller?: Caller): Promise<number>
  /** Reads an ID token that svc has signed, expired or not. */
  readIdTokenHint: ClientTokens['readIdTokenHint']
  logoutSender: Dispatcher
  /** Deletes codes and logout tokens that are past their time, for cleanup; resolves to how many. */
  deleteExpired(nowMs: number): Promise<number>
  /** Ends grants that have expired, for cleanup; resolves to how many. */
  endExpiredGrants(nowMs: number): Promise<number>
}

export interface ClientsDeps extends ClientSettings, Pick<SessionRules, 'requireSession'> {
  db: Database
  clock: Clock
  log: Log
  rootSecret: RootSecret
  signingKeys: SigningKeys
  sign: Sign
  recordEvent: RecordEvent
  notify: Notify
  limits: Limits
  clientGrants: GrantEndings
  onTokens?: OnTokens | undefined
}

export const createClients = (deps: ClientsDeps): Clients => {
  const { db, clientGrants } = deps
  const tokens = createClientTokens(deps)
  const grants = createGrants(deps)
  const shared = { ...deps, grants, tokens }
  const trade = createCodeTrade(shared)
  const logoutSender = createLogoutSender(shared)
  const { forget, forgetAll } = grants.rows
  clientGrants.watch({ forget: (ids) => ids.forEach(forget), forgetAll, wake: logoutSender.wake })
  const registry = createRegistry({
    ...deps,
    endGrants: (transaction, clientId, caller) => clientGrants.endGrants(transaction, { clientId }, 'client', caller),
  })
  return {
    settings: deps,
    registry,
    authorization: createAuthorization({ ...deps, registry, readIdTokenHint: tokens.readIdTokenHint }),
    grants,
    requests: createTokenRequests({ ...shared, trade, refresh: createGrantRefresh(shared) }),
    disconnect: (userId, clientId, caller) =>
      db.inTransaction(async (transaction) => {
        // What issues a code holds both rows: a request that was allowed a moment ago waits, and its user is asked.
        if (userId !== undefined) await lockUserOfSession(transaction, userId)
        else if (clientId !== undefined) await lockClient(transaction, clientId)
        const of = { userId, clientId }
        const ended = await clientGrants.endGrants(transaction, of, reasonOf(caller), caller)
        await forgetConsents(transaction, of)
        return ended
      }),
    readIdTokenHint: tokens.readIdTokenHint,
    logoutSender,
    deleteExpired: async (nowMs) =>
      (await registry.deleteUnused(nowMs)) +
      (await inBatches((limit) => deleteCodesBefore(db, nowMs - USED_CODE_KEPT_MS, limit))) +
      (await logoutSender.deleteOld(nowMs)),
    endExpiredGrants: (nowMs) =>
      inBatches((limit) => db.inTransaction((transaction) => clientGrants.expireSomeGrants(transaction, nowMs, limit))),
  }
}

const reasonOf = (caller: Caller | undefined) => (isOperator(caller) ? 'operator' : 'disconnected')

/** A code that comes again within this time of its expiry still ends its grant. */
const USED_CODE_KEPT_MS = 86_400_000
