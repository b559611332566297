import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { SignJWT, createLocalJWKSet, decodeJwt, decodeProtectedHeader, importJWK, jwtVerify } from 'jose'
import type { CryptoKey, JSONWebKeySet, JWK, JWTPayload, JWTVerifyResult } from 'jose'
import { createUserAgent } from './user-agent.ts'
import type { UserAgent } from './user-agent.ts'

const preload = new URL('./key-tap.ts', import.meta.url).href

/** The environment in which a service tells a test its private key, in `directory`. */
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
    requiredClaims: ['sub', 'aud', 'sid', 'roles', 'iat', 'exp', 'jti'],
  })

/** The claims of a token, unverified. */
export const claimsOf = (token: string): JWTPayload => decodeJwt(token)

/** Changes to a genuine token: claims and header fields laid over its own, undefined takes one away. */
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
