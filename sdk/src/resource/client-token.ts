import type { JWTPayload } from 'jose'
import { AccessTokenError, createTokenReader } from '../auth/signed-token.ts'
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

// The place of the revocation feed: a token whose grant has ended (`sid`, `iat`) is refused here, where a reader of the
// feed runs. Without one, a token is good until it expires.
const requireUnended = async (claims: ClientToken): Promise<ClientToken> => claims

/** Verifies access tokens of clients for one resource, with the keys of svc. Throws as `createTokenReader` says. */
export const createClientTokenVerifier = (
  settings: SourceSettings,
  resource: URL,
): ((token: string) => Promise<ClientToken>) => {
  const read = createTokenReader<ClientToken>(settings)
  return async (token) => {
    const claims = await read(token, { issuer: settings.requireIssuer(), requiredClaims: REQUIRED_CLAIMS })
    if (!isSame(claims.aud, resource)) throw new AccessTokenError('The access token is for another resource.')
    if (typeof claims.client_id !== 'string' || claims.client_id === '')
      throw new AccessTokenError('The access token is of no client.')
    return requireUnended(claims)
  }
}

/** The scopes of a token. */
export const scopesOf = ({ scope }: ClientToken): string[] => scope?.split(' ').filter(Boolean) ?? []
