import { randomUUID } from 'node:crypto'
import type { Clock } from '../../lib/time.ts'
import { isUuid } from '../../lib/uuid.ts'
import type { KeyRing, SigningKey } from '../keys/key-ring.ts'
import { verifyEs256 } from './es256.ts'
import type { Sign } from './signer.ts'
import { createVerifiedTokens, type VerifiedToken } from './verified-tokens.ts'

type Json = Record<string, unknown>

/** Encodes a part of a compact JWT: JSON as base64url (RFC 7515 section 3.1). */
const encodePart = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/**
 * Reads the object in a part of a token; it is an empty one unless the part is spelled exactly as this service spells
 * it. Otherwise two readers could understand it differently: of two members of the same name in JSON, one takes the
 * first and another the last, and base64url has spare bits.
 */
const readPart = (part: string): Json => {
  try {
    const text = Buffer.from(part, 'base64url').toString('utf8')
    const value: unknown = JSON.parse(text)
    return isJson(value) && encodePart(value) === part ? value : {}
  } catch {
    return {}
  }
}

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null

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

// RFC 7515 section 3.1 names three parts of unpadded base64url.
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]{86}$/
const MAX_LENGTH = 8192
// These header parameters change how a token is read: critical extensions (RFC 7515 section 4.1.11), of which svc knows
// none, and an unencoded payload (RFC 7797).
const REFUSED_PARAMETERS = ['crit', 'b64']
// RFC 7638 names a key by a SHA-256 thumbprint, as all our keys are named.
const KEY_ID = /^[\w-]{43}$/

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
    if (token.length > MAX_LENGTH || !COMPACT.test(token)) return undefined
    const [header = '', payload = '', signature = ''] = token.split('.')
    const { alg, typ, kid, ...rest } = readPart(header)
    // RFC 8725 sections 3.1 and 3.11 want one algorithm, and no token of another type.
    if (alg !== 'ES256' || typ !== 'at+jwt' || typeof kid !== 'string' || !KEY_ID.test(kid)) return undefined
    if (REFUSED_PARAMETERS.some((name) => Object.hasOwn(rest, name))) return undefined
    const key = ring.verifying.get(kid)
    if (!key) return 'unknown key'
    if (!verifyEs256(key.publicKey, `${header}.${payload}`, signature)) return undefined
    const claims = readPart(payload)
    if (!isOurs(claims)) return undefined
    const facts = toFacts(claims, kid)
    // It is a copy: a slice of the Cookie header would keep the whole header in memory.
    verified.remember(Buffer.from(token, 'latin1').toString('latin1'), facts)
    return facts
  }

  return {
    async issue(claims, key) {
      const all: AccessClaims = { iss: issuer, ...claims, jti: randomUUID() }
      const header = encodePart({ alg: 'ES256', typ: 'at+jwt', kid: key.id })
      const message = `${header}.${encodePart(all)}`
      const token = `${message}.${await sign(key.privateKey, message)}`
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
  if (token.length > MAX_LENGTH) return undefined
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
