import type { Caller } from '../lib/caller.ts'
import type { Clock } from '../lib/time.ts'
import { currentTimeMs } from '../sessions/lifetime.ts'
import type { Client, ClientKind } from './client.ts'
import type { ClientSettings } from './client-settings.ts'
import { requireSameResource, type SentCode, type TradeCode } from './codes.ts'
import type { GrantEndings } from './grant-endings.ts'
import type { CachedGrant, GrantWithUser } from './grant.ts'
import type { Grants } from './grants.ts'
import { oauthError } from './oauth-error.ts'
import type { GrantRefresh } from './refresh.ts'
import { resourcesFor, scopesFor, scopesIn } from './scope.ts'
import { claimsOf, type ClientToken, type ClientTokens } from './tokens.ts'
import type { Database } from '../storage/database.ts'

/** RFC 6749 section 5.1. */
interface TokenResponse {
  access_token: string
  token_type: 'Bearer'
  expires_in: number
  refresh_token: string
  scope: string
  id_token?: string
}

interface SentRefresh {
  refreshToken: string
  /** It narrows the access token. */
  scope: string | undefined
  resource: string | undefined
}

/** RFC 7662 section 2.2. */
type Introspection = { active: false } | ({ active: true; client_id: string; scope: string } & Record<string, unknown>)

/** What clients and resources ask for, apart from how HTTP spells it. Each refusal has a name of OAuth as its reason. */
export interface TokenRequests {
  trade(client: Client, sent: SentCode, caller: Caller): Promise<TokenResponse>
  refresh(client: Client, sent: SentRefresh, caller: Caller): Promise<TokenResponse>
  /** Makes the claims of OpenID Connect Core section 5.3; throws `invalid_token` or `insufficient_scope`. */
  userInfo(accessToken: string): Promise<Record<string, unknown>>
  /** Looks at a token, of any client or of one alone. */
  introspect(token: string, clientId?: string): Promise<Introspection>
  /** Ends the grant of a token. Throws `invalid_request` for a token of another client. */
  revoke(client: Client, token: string, caller: Caller): Promise<void>
}

interface TokenRequestsDeps extends Pick<ClientSettings, 'issuer' | 'resources' | 'scopes'> {
  db: Database
  clock: Clock
  grants: Grants
  tokens: ClientTokens
  trade: TradeCode
  refresh: GrantRefresh
  clientGrants: GrantEndings
  onTokens?: OnTokens | undefined
}

/** It is called with each response that has tokens: with the kind of the client, and what it has traded for them. */
export type OnTokens = (kind: ClientKind, grantType: 'authorization_code' | 'refresh_token') => void

export const createTokenRequests = (deps: TokenRequestsDeps): TokenRequests => {
  const { db, clock, issuer, grants, tokens, refresh, clientGrants } = deps

  /** The settings may have lost a scope since, or the client. */
  const scopesNow = (client: Client, { scopes }: GrantWithUser): string[] => {
    const allowed = scopesFor(client, deps.scopes)
    return scopes.filter((scope) => allowed.has(scope))
  }

  const respond = async (found: CachedGrant, scopes: readonly string[]): Promise<TokenResponse> => {
    const nowMs = currentTimeMs(found.grant, clock)
    const { token, seconds } = await tokens.issueAccess(found.grant, { scopes, nowMs })
    return {
      access_token: token,
      token_type: 'Bearer',
      expires_in: seconds,
      refresh_token: refresh.tokenOf(found),
      scope: scopes.join(' '),
    }
  }

  const narrowed = (client: Client, grant: GrantWithUser, asked: string | undefined): string[] => {
    const granted = scopesNow(client, grant)
    const wanted = scopesIn(asked)
    if (wanted.some((scope) => !grant.scopes.includes(scope)))
      throw oauthError('invalid_scope', 'scope has more than what the user was asked for.')
    return wanted.length === 0 ? granted : granted.filter((scope) => wanted.includes(scope))
  }

  const findByAccess = async (text: string): Promise<{ token: ClientToken; grant: GrantWithUser } | undefined> => {
    const token = await tokens.readAccess(text)
    const grant = token && (await grants.find(token.sessionId))?.grant
    if (!token || !grant || grant.userId !== token.userId || grant.clientId !== token.clientId) return undefined
    return (await tokens.isGood(token, grant)) ? { token, grant } : undefined
  }

  const introspectRefresh = async (text: string, clientId: string | undefined): Promise<Introspection> => {
    const identified = await refresh.identify(text)
    if (!identified || !(await refresh.isGood(identified))) return INACTIVE
    const { grant } = identified.found
    if (clientId !== undefined && grant.clientId !== clientId) return INACTIVE
    const about = { client_id: grant.clientId, scope: grant.scopes.join(' '), sub: grant.userId, sid: grant.id }
    const times = { iat: Math.floor(grant.createdAtMs / 1000), exp: Math.floor(grant.expiresAtMs / 1000) }
    return { active: true, ...about, ...times, iss: issuer }
  }

  return {
    async trade(client, sent, caller) {
      const { found, nonce } = await deps.trade(client, sent, caller)
      const response = await respond(found, scopesNow(client, found.grant))
      deps.onTokens?.(client.kind, 'authorization_code')
      if (!found.grant.scopes.includes('openid')) return response
      const nowMs = currentTimeMs(found.grant, clock)
      const about = { nonce, accessToken: response.access_token, nowMs }
      return { ...response, id_token: await tokens.issueId(found.grant, about) }
    },

    async refresh(client, { refreshToken, scope, resource }, caller) {
      const check = (grant: GrantWithUser): void => {
        requireSameResource(resourcesFor(client, deps.resources), grant.resource, resource)
        narrowed(client, grant, scope)
      }
      const issue = (found: CachedGrant) => respond(found, narrowed(client, found.grant, scope))
      const response = await refresh.refresh(refreshToken, { client, check, issue }, caller)
      deps.onTokens?.(client.kind, 'refresh_token')
      return response
    },

    async userInfo(accessToken) {
      const found = await findByAccess(accessToken)
      if (!found)
        throw oauthError('invalid_token', 'The access token is not good: it has expired, or its access has ended.')
      const scopes = scopesIn(found.token.scope)
      if (!scopes.includes('openid')) throw oauthError('insufficient_scope', 'The access token lacks the scope openid.')
      return { sub: found.grant.userId, ...claimsOf(found.grant, scopes) }
    },

    async introspect(text, clientId) {
      const found = await findByAccess(text)
      if (!found) return introspectRefresh(text, clientId)
      const { userId: sub, clientId: client_id, audience: aud, scope, id: jti, sessionId: sid, iat, exp } = found.token
      if (clientId !== undefined && client_id !== clientId) return INACTIVE
      // Of all that a token says, they alone may have changed since.
      const roles = scopesIn(scope).includes('roles') && { roles: found.grant.user.roles }
      return {
        active: true,
        client_id,
        scope,
        token_type: 'Bearer',
        sub,
        aud,
        iss: issuer,
        sid,
        jti,
        iat,
        exp,
        ...roles,
      }
    },

    async revoke(client, text, caller) {
      const sent = (await refresh.identify(text))?.found.grant ?? (await tokens.readAccess(text))
      if (!sent) return
      if (sent.clientId !== client.id) throw oauthError('invalid_request', 'This token was not issued to this client.')
      const id = 'salt' in sent ? sent.id : sent.sessionId
      await db.inTransaction((transaction) =>
        clientGrants.endGrants(transaction, { id, clientId: client.id }, 'revoked_by_client', caller),
      )
    },
  }
}

const INACTIVE = { active: false } as const
