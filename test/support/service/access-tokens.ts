import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import {
  type CryptoKey,
  type JSONWebKeySet,
  type JWK,
  type JWTPayload,
  type JWTVerifyResult,
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  importJWK,
  jwtVerify,
  SignJWT,
} from 'jose'
import { type UserAgent, createUserAgent } from '../client/user-agent.ts'
import path from 'node:path'

const preload = new URL('./key-tap.ts', import.meta.url).href

/** The environment in which a service writes its private key to a file in `directory`. */
export const keyTap = (directory: string): { NODE_OPTIONS: string; TEST_KEY_FILE: string } => ({
  NODE_OPTIONS: `--import=${preload}`,
  TEST_KEY_FILE: path.join(directory, 'private-key.json'),
})

/** The access token that the agent holds. */
export const accessToken = (agent: UserAgent): string => {
  const token = agent.cookies.get('svc_access')
  assert.ok(token, 'an access cookie')
  return token
}

/** The published keys. */
export const publishedKeys = async (service: { url: string }): Promise<JSONWebKeySet> => {
  const answer = await createUserAgent(service).get('/auth/.well-known/jwks.json')
  assert.equal(answer.status, 200, answer.text)
  return answer.json<JSONWebKeySet>()
}

/** Verifies a token as an application would: by the published keys, algorithm, type and issuer. */
export const verifyAccessToken = async (service: { url: string }, token: string): Promise<JWTVerifyResult> =>
  jwtVerify(token, createLocalJWKSet(await publishedKeys(service)), {
    algorithms: ['ES256'],
    typ: 'at+jwt',
    issuer: service.url,
    requiredClaims: ['sub', 'aud', 'sid', 'roles', 'email_verified', 'iat', 'exp', 'jti'],
  })

/** The claims of a token, unverified. */
export const claimsOf = (token: string): JWTPayload => decodeJwt(token)

/** Changes to a genuine token: claims and header fields that override its own; undefined removes one. */
export type Changes = { claims?: Record<string, unknown>; header?: Record<string, unknown> }

/** Signs a changed copy of a genuine token with any key. */
export const forge = (
  token: string,
  key: CryptoKey | Uint8Array,
  { claims = {}, header = {} }: Changes,
): Promise<string> => {
  const protectedHeader = { ...decodeProtectedHeader(token), alg: 'ES256', ...header }
  return new SignJWT({ ...decodeJwt(token), ...claims }).setProtectedHeader(protectedHeader).sign(key)
}

/** Signs exactly the given texts, which a library might write differently. */
export const signTexts = async (header: string, payload: string, key: CryptoKey): Promise<string> => {
  const message = [header, payload].map((text) => Buffer.from(text).toString('base64url')).join('.')
  return `${message}.${await signMessage(message, key)}`
}

/** The signature of an encoded header and payload. */
export const signMessage = async (message: string, key: CryptoKey): Promise<string> => {
  const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
  return Buffer.from(await crypto.subtle.sign(algorithm, key, Buffer.from(message))).toString('base64url')
}

/** The same part of a token with a bit set that decoders ignore. */
export const withSpareBit = (part: string): string => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  assert.notEqual(part.length % 4, 0, 'a part that has spare bits')
  return part.slice(0, -1) + alphabet.charAt(alphabet.indexOf(part.slice(-1)) + 1)
}

/** The key that the tapped service signs with. */
export const tappedKey = async (directory: string): Promise<CryptoKey> => {
  const jwk: JWK = JSON.parse(readFileSync(keyTap(directory).TEST_KEY_FILE, 'utf8'))
  const key = await importJWK(jwk, 'ES256')
  assert.ok(!(key instanceof Uint8Array))
  return key
}

/** A token with the algorithm `none` and no signature. */
export const unsigned = (token: string): string => {
  const [, payload = ''] = token.split('.')
  const header = Buffer.from(JSON.stringify({ ...decodeProtectedHeader(token), alg: 'none' })).toString('base64url')
  return `${header}.${payload}.`
}
