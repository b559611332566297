import type { JWTPayload } from 'jose'
import { AccessTokenError, createTokenReader } from '../auth/signed-token.ts'
import { createAdmission } from '../revocations/admission.ts'
import { type Feed, requireFeed } from '../revocations/feed.ts'
import type { RevocationSettings } from '../revocations/settings.ts'
import { createIntrospection } from './introspection.ts'
import type { SourceSettings } from './settings.ts'

/** What an access token of a client says. */
export interface ClientToken extends JWTPayload {
  iss: string
  /** The ID of the user. */
  sub: string
  /** The resource. */
  aud: string
  /** The client that the user has given the token to. */
  client_id: string
  /** What the user has allowed, separated by spaces; missing where that is nothing. */
  scope?: string
  /** The ID of the grant, which renewals keep. */
  sid: string
  /** Only with the scope `roles`. */
  roles?: string[]
  /** When the user authenticated, in seconds since 1970. */
  auth_time?: number
  /** What they proved then (RFC 8176), such as `['pwd', 'otp', 'mfa']`. */
  amr?: string[]
  iat: number
  exp: number
  jti: string
}

const REQUIRED_CLAIMS = ['sub', 'aud', 'client_id', 'sid', 'iat', 'exp', 'jti']

/** Compares addresses as svc does: with or without the `/` after a bare origin. */
const isSame = (audience: unknown, resource: URL): boolean =>
  typeof audience === 'string' && URL.canParse(audience) && new URL(audience).href === resource.href

/** Refuses the tokens of grants that have ended, where a reader of the feed is wanted. */
const createGrantCheck = ({ requireUrl, timeoutMs }: SourceSettings, { requireKey, stale }: RevocationSettings) => {
  const source = { requireUrl, requireKey, timeoutMs }
  let feed: Feed | undefined
  return createAdmission<ClientToken>({
    requireFeed: () => (feed ??= requireFeed(source)),
    stale,
    ask: createIntrospection(source),
  })
}

/**
 * Verifies access tokens of clients for one resource, with the keys of svc. Throws as `createTokenReader` and
 * `createAdmission` say.
 */
export const createClientTokenVerifier = (
  settings: SourceSettings,
  resource: URL,
  revocations: RevocationSettings | undefined,
): ((token: string) => Promise<ClientToken>) => {
  const admit = revocations && createGrantCheck(settings, revocations)
  const read = createTokenReader<ClientToken>(settings)
  return async (token) => {
    const claims = await read(token, { issuer: settings.requireIssuer(), requiredClaims: REQUIRED_CLAIMS })
    if (!isSame(claims.aud, resource)) throw new AccessTokenError('The access token is for another resource.')
    if (typeof claims.client_id !== 'string' || claims.client_id === '')
      throw new AccessTokenError('The access token is of no client.')
    return admit ? admit(token, claims) : claims
  }
}

/** The scopes of a token. */
export const scopesOf = ({ scope }: ClientToken): string[] => scope?.split(' ').filter(Boolean) ?? []
