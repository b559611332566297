import { randomUUID } from 'node:crypto'
import type { Clock } from '../../lib/time.ts'
import { isUuid } from '../../lib/uuid.ts'
import type { KeyRing, SigningKey } from '../keys/key-ring.ts'
import { type Json, MAX_TOKEN_LENGTH, readPart, signJwt, verifyJwt } from './jwt.ts'
import type { Sign } from './signer.ts'
import { createVerifiedTokens, type VerifiedToken } from './verified-tokens.ts'

/**
 * These are the claims of an access token (CONTRACT.md 3.1; RFC 9068 section 2.2, and the session's id). Times are in
 * seconds since 1970.
 */
interface AccessClaims {
  iss: string
  sub: string
  aud: string
  sid: string
  roles: string[]
  email_verified: boolean
  /** The user last authenticated at this time (OpenID Connect Core section 2); it is absent if it is not known. */
  auth_time?: number | undefined
  /** The user proved this then (RFC 8176); it is absent if it is not known. */
  amr?: readonly string[] | undefined
  iat: number
  exp: number
  jti: string
}

/**
 * `unknown key` says that the ring may be outdated, or that the key was deleted or made up. The reading is undefined if
 * the token is not good.
 */
export type TokenReading = VerifiedToken | 'unknown key' | undefined

interface AccessTokensDeps {
  clock: Clock
  issuer: string
  /** A token may have these audiences, or any if none is listed. */
  audiences: string[]
  sign: Sign
}

/** Access tokens are JWTs (RFC 7519) of type `at+jwt` (RFC 9068), signed with ES256. */
export interface AccessTokens {
  /** Signs a token with these claims and a `jti` of its own. */
  issue(claims: Omit<AccessClaims, 'iss' | 'jti'>, key: SigningKey): Promise<string>
  /**
   * Reads a token that is ours, unchanged, and signed with a key that is still good. Its expiry is judged by the clock
   * that its session's row came with: that of this process may have been set to another hour.
   */
  read(token: string, ring: KeyRing): TokenReading
}

export const createAccessTokens = ({ clock, issuer, audiences, sign }: AccessTokensDeps): AccessTokens => {
  const verified = createVerifiedTokens()

  const isOurs = (claims: Json): claims is Json & AccessClaims =>
    claims.iss === issuer &&
    isUuid(claims.sub) &&
    isUuid(claims.sid) &&
    Number.isFinite(claims.exp) &&
    Number.isFinite(claims.iat) &&
    hasBegun(claims.nbf, clock.now()) &&
    typeof claims.aud === 'string' &&
    (audiences.length === 0 || audiences.includes(claims.aud))

  const verify = (token: string, ring: KeyRing): TokenReading => {
    const read = verifyJwt(token, ring, 'at+jwt')
    if (!read || read === 'unknown key') return read
    const { claims, keyId } = read
    if (!isOurs(claims)) return undefined
    const facts = toFacts(claims, keyId)
    // It is a copy: a slice of the Cookie header would keep the whole header in memory.
    verified.remember(Buffer.from(token, 'latin1').toString('latin1'), facts)
    return facts
  }

  return {
    async issue(claims, key) {
      const all: AccessClaims = { iss: issuer, ...claims, jti: randomUUID() }
      const token = await signJwt(sign, key, 'at+jwt', all)
      verified.replace(token, toFacts(all, key.id))
      return token
    },

    read(token, ring) {
      const facts = verified.find(token) ?? verify(token, ring)
      if (!facts || facts === 'unknown key') return facts
      const key = ring.verifying.get(facts.keyId)
      // The ring may be that of a database that was restored since.
      if (!key) return 'unknown key'
      return key.untilMs > clock.now() ? facts : undefined
    },
  }
}

/** Reads the session that an unverified token names; it returns undefined if it names none. */
export const readSessionId = (token: string): string | undefined => {
  if (token.length > MAX_TOKEN_LENGTH) return undefined
  const { sid } = readPart(token.split('.')[1] ?? '')
  return isUuid(sid) ? sid : undefined
}

const toFacts = ({ sid, sub, aud, exp }: AccessClaims, keyId: string): VerifiedToken => ({
  sessionId: sid,
  userId: sub,
  audience: aud,
  keyId,
  expiresAtMs: exp * 1000,
})

/**
 * Tells whether the time before which a token is not good has passed (RFC 7519 section 4.1.5); if absent, it counts as
 * passed.
 */
const hasBegun = (notBefore: unknown, nowMs: number): boolean =>
  notBefore === undefined || (typeof notBefore === 'number' && notBefore * 1000 <= nowMs)
