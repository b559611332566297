import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type Clock, MAX_CLOCK_SKEW_MS } from '../lib/time.ts'
import { isUuid } from '../lib/uuid.ts'
import { signEs256, verifyEs256 } from './es256.ts'
import type { KeyRing, SigningKey } from './key-ring.ts'

/** The claims of an access token (RFC 9068 section 2.2, and the session's id). Times in seconds since 1970. */
export interface AccessClaims {
  iss: string
  sub: string
  aud: string
  sid: string
  roles: string[]
  iat: number
  exp: number
  jti: string
}

/** What is remembered of a token that was checked once. */
export interface CheckedToken {
  sessionId: string
  userId: string
  audience: string
  /** The key that signed it, which may be deleted while the token is good. */
  keyId: string
  expiresAtMs: number
}

interface AccessTokensDeps {
  clock: Clock
  issuer: string
  /** Audiences that a token may have; none listed: any. */
  audiences: string[]
}

const REMEMBERED_TOKENS = 12_000
// RFC 7515 section 3.1: three parts of unpadded base64url.
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]{86}$/
const MAX_LENGTH = 8192
// Extensions that must be understood (RFC 7515 section 4.1.11), of which there are none here; a payload that is not
// encoded (RFC 7797).
const CHANGES_MEANING = ['crit', 'b64']
// RFC 7638: a SHA-256 thumbprint, as all our keys are named.
const KEY_ID = /^[\w-]{43}$/

/** Access tokens: JWTs (RFC 7519) of type `at+jwt` (RFC 9068), signed with ES256. */
export const createAccessTokens = ({ clock, issuer, audiences }: AccessTokensDeps) => {
  // A check of a signature costs more than all the rest of a request, and the same token comes again and again. They
  // are found by their signature, a seventh of the whole, and then compared in whole.
  const checked = new LRUCache<string, { token: string; facts: CheckedToken }>({ max: REMEMBERED_TOKENS })

  const isOurs = (claims: Json): claims is Json & AccessClaims =>
    claims.iss === issuer &&
    isUuid(claims.sub) &&
    isUuid(claims.sid) &&
    Number.isFinite(claims.exp) &&
    Number.isFinite(claims.iat) &&
    hasBegun(claims.nbf, clock.now()) &&
    typeof claims.aud === 'string' &&
    (audiences.length === 0 || audiences.includes(claims.aud))

  const check = (token: string, ring: KeyRing): CheckedToken | 'unknown key' | undefined => {
    if (token.length > MAX_LENGTH || !COMPACT.test(token)) return undefined
    const [header = '', payload = '', signature = ''] = token.split('.')
    const { alg, typ, kid, ...rest } = readJson(header)
    // RFC 8725 sections 3.1 and 3.11: one algorithm, and no token of another kind.
    if (alg !== 'ES256' || typ !== 'at+jwt' || typeof kid !== 'string' || !KEY_ID.test(kid)) return undefined
    if (CHANGES_MEANING.some((name) => Object.hasOwn(rest, name))) return undefined
    const key = ring.verifying.get(kid)
    if (!key) return 'unknown key'
    if (!verifyEs256(key.publicKey, `${header}.${payload}`, signature)) return undefined
    const claims = readJson(payload)
    return isOurs(claims) ? remember(token, claims, kid) : undefined
  }

  const remember = (token: string, claims: AccessClaims, keyId: string): CheckedToken => {
    const facts = {
      sessionId: claims.sid,
      userId: claims.sub,
      audience: claims.aud,
      keyId,
      expiresAtMs: claims.exp * 1000,
    }
    // A copy: a piece of the header would keep the whole header alive.
    const copy = Buffer.from(token, 'latin1').toString('latin1')
    checked.set(signatureOf(copy), { token: copy, facts })
    return facts
  }

  const recall = (token: string): CheckedToken | undefined => {
    const known = checked.get(signatureOf(token))
    return known?.token === token ? known.facts : undefined
  }

  return {
    /** A signed token for these claims, and what is left to fill in: the issuer and a number of its own. */
    issue(claims: Omit<AccessClaims, 'iss' | 'jti'>, key: SigningKey): string {
      const all: AccessClaims = { iss: issuer, ...claims, jti: randomUUID() }
      const header = encodeJson({ alg: 'ES256', typ: 'at+jwt', kid: key.id })
      const message = `${header}.${encodeJson(all)}`
      const token = `${message}.${signEs256(key.privateKey, message)}`
      remember(token, all, key.id)
      return token
    },

    /**
     * What a token says if it is ours, unchanged, and of a key that is still good. Whether it has run out is told by the
     * clock that it was issued by, which is that of its session's row; here it is only refused when no clock could differ.
     */
    read(token: string, ring: KeyRing): CheckedToken | 'unknown key' | undefined {
      const facts = recall(token) ?? check(token, ring)
      if (!facts || facts === 'unknown key') return facts
      const key = ring.verifying.get(facts.keyId)
      const nowMs = clock.now()
      return key && key.untilMs > nowMs && facts.expiresAtMs + MAX_CLOCK_SKEW_MS > nowMs ? facts : undefined
    },
  }
}

/** The session that a token names, before anybody has checked it; undefined where it names none. */
export const readSessionId = (token: string): string | undefined => {
  if (token.length > MAX_LENGTH) return undefined
  const { sid } = readJson(token.split('.')[1] ?? '')
  return isUuid(sid) ? sid : undefined
}

export type AccessTokens = ReturnType<typeof createAccessTokens>

const SIGNATURE_LENGTH = 86
const signatureOf = (token: string): string => token.slice(-SIGNATURE_LENGTH)

const encodeJson = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

type Json = Record<string, unknown>

/**
 * The object in a part of a token; an empty one unless the part is spelled as this service spells it. JSON is read with
 * the last of two members of the same name, and base64url with spare bits: a reader elsewhere may take another.
 */
const readJson = (part: string): Json => {
  try {
    const text = Buffer.from(part, 'base64url').toString('utf8')
    const value: unknown = JSON.parse(text)
    return isJson(value) && encodeJson(value) === part ? value : {}
  } catch {
    return {}
  }
}

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null

/** RFC 7519 section 4.1.5: whether the time before which a token is not good has passed. Absent is always. */
const hasBegun = (notBefore: unknown, nowMs: number): boolean =>
  notBefore === undefined || (typeof notBefore === 'number' && notBefore * 1000 <= nowMs)
