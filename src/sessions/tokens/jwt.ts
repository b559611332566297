import type { KeyRing, SigningKey } from '../keys/key-ring.ts'
import { verifyEs256 } from './es256.ts'
import type { Sign } from './signer.ts'

export type Json = Record<string, unknown>

/** RFC 9068 section 2.1, OpenID Connect Back-Channel Logout 1.0 section 2.4; an ID token has the usual one. */
type TokenType = 'at+jwt' | 'logout+jwt' | 'JWT'

/** Encodes a part of a compact JWT: JSON as base64url (RFC 7515 section 3.1). */
const encodePart = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/**
 * Reads the object in a part of a token; it is an empty one unless the part is spelled exactly as this service spells
 * it. Otherwise two readers could understand it differently: of two members of the same name in JSON, one takes the
 * first and another the last, and base64url has spare bits.
 */
export const readPart = (part: string): Json => {
  try {
    const text = Buffer.from(part, 'base64url').toString('utf8')
    const value: unknown = JSON.parse(text)
    return isJson(value) && encodePart(value) === part ? value : {}
  } catch {
    return {}
  }
}

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null

// RFC 7515 section 3.1 names three parts of unpadded base64url.
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]{86}$/
export const MAX_TOKEN_LENGTH = 8192
// These header parameters change how a token is read: critical extensions (RFC 7515 section 4.1.11), of which svc knows
// none, and an unencoded payload (RFC 7797).
const REFUSED_PARAMETERS = ['crit', 'b64']
// RFC 7638 names a key by a SHA-256 thumbprint, as all our keys are named.
const KEY_ID = /^[\w-]{43}$/

/** Makes a JWT (RFC 7519), signed with ES256. */
export const signJwt = async (sign: Sign, key: SigningKey, typ: TokenType, claims: object): Promise<string> => {
  const message = `${encodePart({ alg: 'ES256', typ, kid: key.id })}.${encodePart(claims)}`
  return `${message}.${await sign(key.privateKey, message)}`
}

/**
 * Reads a token of one type that is unchanged, and signed with a key of the ring. `unknown key` says that the ring may
 * be outdated, or that the key was deleted or made up; it returns undefined if the token is not good.
 */
export const verifyJwt = (
  token: string,
  ring: Pick<KeyRing, 'verifying'>,
  type: TokenType,
): { claims: Json; keyId: string } | 'unknown key' | undefined => {
  if (token.length > MAX_TOKEN_LENGTH || !COMPACT.test(token)) return undefined
  const [header = '', payload = '', signature = ''] = token.split('.')
  const { alg, typ, kid, ...rest } = readPart(header)
  // RFC 8725 sections 3.1 and 3.11 want one algorithm, and no token of another type.
  if (alg !== 'ES256' || typ !== type || typeof kid !== 'string' || !KEY_ID.test(kid)) return undefined
  if (REFUSED_PARAMETERS.some((name) => Object.hasOwn(rest, name))) return undefined
  const key = ring.verifying.get(kid)
  if (!key) return 'unknown key'
  if (!verifyEs256(key.publicKey, `${header}.${payload}`, signature)) return undefined
  return { claims: readPart(payload), keyId: kid }
}
