import { createHash, randomUUID } from 'node:crypto'
import type { Clock } from '../lib/time.ts'
import { isUuid } from '../lib/uuid.ts'
import type { SigningKeys } from '../sessions/keys/signing-keys.ts'
import { currentTimeMs } from '../sessions/lifetime.ts'
import { type Json, signJwt, verifyJwt } from '../sessions/tokens/jwt.ts'
import type { Sign } from '../sessions/tokens/signer.ts'
import { createVerifiedTokens } from '../sessions/tokens/verified-tokens.ts'
import type { GrantWithUser } from './grant.ts'

/** An access token of a client says this. Times are in seconds since 1970. */
export interface ClientToken {
  /** It is the id of its grant. */
  sessionId: string
  userId: string
  clientId: string
  audience: string
  scope: string
  /** It is the claim `jti`. */
  id: string
  /** The key that signed it, which may be revoked before the token expires. */
  keyId: string
  iat: number
  exp: number
}

/** An ID token of svc says whom it is about; whether it has expired does not count. */
export interface IdTokenHint {
  userId: string
  clientId: string
  grantId: string
}

interface AccessTokenRequest {
  scopes: readonly string[]
  nowMs: number
}

/** Makes and reads the tokens of clients. None of them ever enters the cache of tokens of cookies. */
export interface ClientTokens {
  /** Resolves to the token and its lifetime in seconds. */
  issueAccess(grant: GrantWithUser, request: AccessTokenRequest): Promise<{ token: string; seconds: number }>
  issueId(
    grant: GrantWithUser,
    about: { nonce: string | undefined; accessToken: string; nowMs: number },
  ): Promise<string>
  /** Reads an access token that svc has signed for a client, expired or not. */
  readAccess(token: string): Promise<ClientToken | undefined>
  /** Tells whether a token is good now: it has not expired, and its key was not revoked since. */
  isGood(token: ClientToken, grant: GrantWithUser): Promise<boolean>
  /** Reads an ID token that svc has signed, as a hint (OpenID Connect Core 3.1.2.1, RP-Initiated Logout 1.0). */
  readIdTokenHint(token: string): Promise<IdTokenHint | undefined>
  signLogout(about: { jti: string; clientId: string; userId: string; grantId: string }): Promise<string>
}

interface ClientTokensDeps {
  clock: Clock
  issuer: string
  tokenMs: number
  signingKeys: SigningKeys
  sign: Sign
}

const LOGOUT_TOKEN_SECONDS = 120

/** OpenID Connect Back-Channel Logout 1.0 section 2.4 wants this member. */
const LOGOUT_EVENT = { 'http://schemas.openid.net/event/backchannel-logout': {} }

export const createClientTokens = (deps: ClientTokensDeps): ClientTokens => {
  const { clock, issuer, tokenMs, signingKeys, sign } = deps
  const verified = createVerifiedTokens<ClientToken>()

  /** Reads the claims of a token; another process may have begun to sign with a new key a moment ago. */
  const readClaims = async (token: string, type: 'at+jwt' | 'JWT') => {
    const read = verifyJwt(token, signingKeys.lastRead(), type)
    const latest = read === 'unknown key' ? verifyJwt(token, await signingKeys.reload(), type) : read
    return latest === 'unknown key' || latest?.claims.iss !== issuer ? undefined : latest
  }

  const timesOf = (grant: GrantWithUser, nowMs: number) => {
    const endMs = Math.min(nowMs + tokenMs, grant.expiresAtMs, grant.sessionExpiresAtMs ?? Number.POSITIVE_INFINITY)
    return { iat: Math.floor(nowMs / 1000), exp: Math.floor(endMs / 1000) }
  }

  return {
    async issueAccess(grant, { scopes, nowMs }) {
      const claims = {
        iss: issuer,
        sub: grant.userId,
        aud: grant.resource ?? issuer,
        client_id: grant.clientId,
        scope: scopes.join(' '),
        sid: grant.id,
        jti: randomUUID(),
        ...timesOf(grant, nowMs),
        ...authenticationOf(grant),
        ...(scopes.includes('roles') && { roles: grant.user.roles }),
      }
      const key = await signingKeys.signingKey(grant.newestKeyId)
      const token = await signJwt(sign, key, 'at+jwt', claims)
      verified.replace(token, toClientToken(claims, key.id))
      return { token, seconds: claims.exp - claims.iat }
    },

    async issueId(grant, { nonce, accessToken, nowMs }) {
      const claims = {
        iss: issuer,
        sub: grant.userId,
        aud: grant.clientId,
        sid: grant.id,
        ...timesOf(grant, nowMs),
        ...authenticationOf(grant),
        ...(grant.amr.includes('mfa') && { acr: 'mfa' }),
        nonce,
        at_hash: hashOfAccessToken(accessToken),
        ...claimsOf(grant, grant.scopes),
      }
      return signJwt(sign, await signingKeys.signingKey(grant.newestKeyId), 'JWT', claims)
    },

    async readAccess(token) {
      const known = verified.find(token)
      if (known) return known
      const read = await readClaims(token, 'at+jwt')
      if (!read || !isAccess(read.claims)) return undefined
      const facts = toClientToken(read.claims, read.keyId)
      verified.remember(token, facts)
      return facts
    },

    async isGood({ keyId, exp }, grant) {
      if (exp * 1000 <= currentTimeMs(grant, clock)) return false
      const ring = await signingKeys.latest(grant.newestKeyId)
      return (ring.verifying.get(keyId)?.untilMs ?? 0) > clock.now()
    },

    async readIdTokenHint(token) {
      // A hint has no row that says which keys are good: one that was revoked a moment ago must sign no more hints.
      await signingKeys.reload()
      const { sub, aud, sid } = (await readClaims(token, 'JWT'))?.claims ?? {}
      if (!isUuid(sub) || !isUuid(sid) || typeof aud !== 'string') return undefined
      return { userId: sub, clientId: aud, grantId: sid }
    },

    async signLogout({ jti, clientId, userId, grantId }) {
      const iat = Math.floor(clock.now() / 1000)
      const about = { iss: issuer, aud: clientId, sub: userId, sid: grantId, jti, events: LOGOUT_EVENT }
      const key = await signingKeys.signingKey((await signingKeys.reload()).newestId)
      return signJwt(sign, key, 'logout+jwt', { ...about, iat, exp: iat + LOGOUT_TOKEN_SECONDS })
    },
  }
}

const authenticationOf = ({ authenticatedAtMs, amr }: GrantWithUser) => ({
  auth_time: authenticatedAtMs === undefined ? undefined : Math.floor(authenticatedAtMs / 1000),
  amr: amr.length > 0 ? amr : undefined,
})

/** OpenID Connect Core section 3.1.3.6: the left half of the hash, since the algorithm is ES256. */
const hashOfAccessToken = (token: string): string =>
  createHash('sha256').update(token, 'latin1').digest().subarray(0, 16).toString('base64url')

/** Makes the claims about the user that scopes give (OpenID Connect Core section 5.4). */
export const claimsOf = ({ user }: GrantWithUser, scopes: readonly string[]) => ({
  ...(scopes.includes('profile') && {
    preferred_username: user.username,
    updated_at: Math.floor(user.updatedAtMs / 1000),
  }),
  ...(scopes.includes('email') && { email: user.email, email_verified: user.emailVerified }),
  ...(scopes.includes('roles') && { roles: user.roles }),
})

interface AccessClaims {
  sub: string
  aud: string
  client_id: string
  scope: string
  sid: string
  jti: string
  iat: number
  exp: number
}

const isAccess = (claims: Json): claims is Json & AccessClaims =>
  isUuid(claims.sub) &&
  isUuid(claims.sid) &&
  ['aud', 'client_id', 'scope', 'jti'].every((name) => typeof claims[name] === 'string') &&
  Number.isFinite(claims.iat) &&
  Number.isFinite(claims.exp)

const toClientToken = (
  { sub, aud, client_id, scope, sid, jti, iat, exp }: AccessClaims,
  keyId: string,
): ClientToken => ({
  sessionId: sid,
  userId: sub,
  clientId: client_id,
  audience: aud,
  scope,
  id: jti,
  keyId,
  iat,
  exp,
})
