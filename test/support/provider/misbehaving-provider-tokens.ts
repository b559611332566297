import { type KeyObject, createSecretKey, generateKeyPair, randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import type { Claims } from './misbehaving-provider-faults.ts'

/** A signing key, and its public part. */
export type SigningKey = { privateKey: KeyObject; publicKey: KeyObject; kid: string }

/** A new RSA key. */
export const newSigningKey = async (): Promise<SigningKey> => {
  const pair = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 })
  return { ...pair, kid: randomUUID() }
}

/** The key as it is in a key set. */
export const publishedKey = ({ publicKey, kid }: SigningKey): Claims => ({
  ...publicKey.export({ format: 'jwk' }),
  kid,
  alg: 'RS256',
  use: 'sig',
})

const HOUR = 3600
const nowSeconds = (): number => Math.floor(Date.now() / 1000)

/** Changes of an otherwise valid ID token; undefined removes a claim. */
const CLAIMS = {
  'wrong-aud': () => ({ aud: 'another-client' }),
  'no-aud': () => ({ aud: undefined }),
  'several-aud': ({ aud }) => ({ aud: [aud, 'another-client'] }),
  'foreign-azp': ({ aud }) => ({ aud: [aud, 'another-client'], azp: 'another-client' }),
  'wrong-iss': () => ({ iss: 'http://provider.invalid' }),
  'no-iss': () => ({ iss: undefined }),
  'wrong-nonce': () => ({ nonce: 'a-nonce-of-somebody-else' }),
  'no-nonce': () => ({ nonce: undefined }),
  expired: () => ({ iat: nowSeconds() - 2 * HOUR, exp: nowSeconds() - HOUR }),
  'no-exp': () => ({ exp: undefined }),
  'future-iat': () => ({ iat: nowSeconds() + HOUR, exp: nowSeconds() + 2 * HOUR }),
  'old-iat': () => ({ iat: nowSeconds() - 24 * HOUR }),
  'no-iat': () => ({ iat: undefined }),
  'not-yet-valid': () => ({ nbf: nowSeconds() + HOUR }),
  /** Names another tenant than the one that issued it. */
  'other-tenant': () => ({ tid: randomUUID() }),
  'no-tenant': () => ({ tid: undefined }),
} satisfies Record<string, (claims: Claims) => Claims>

type Signer = (claims: JWTPayload, secrets: { key: SigningKey; clientSecret: string }) => Promise<string> | string

const signed = (claims: JWTPayload, alg: string, key: KeyObject, kid?: string): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg, typ: 'JWT', ...(kid && { kid }) }).sign(key)

const well: Signer = (claims, { key }) => signed(claims, 'RS256', key.privateKey, key.kid)

/** Changes bits in the middle of the signature. */
const spoiled = (token: string): string => {
  const at = token.lastIndexOf('.') + 100
  return `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`
}

const SIGNERS = {
  'alg-none': (claims) => new UnsecuredJWT(claims).encode(),
  'hs256-client-secret': (claims, { clientSecret }) => signed(claims, 'HS256', createSecretKey(clientSecret, 'utf8')),
  /** The public key, used as a shared secret. */
  'hs256-public-key': (claims, { key }) => {
    const pem = key.publicKey.export({ format: 'pem', type: 'spki' })
    return signed(claims, 'HS256', createSecretKey(Buffer.from(pem)), key.kid)
  },
  'es256-unknown-key': async (claims) => {
    const { privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' })
    return signed(claims, 'ES256', privateKey, randomUUID())
  },
  /** An attacker's key, with its own `kid` and with that of the provider's key. */
  'rs256-unknown-key': async (claims) => signed(claims, 'RS256', (await newSigningKey()).privateKey, randomUUID()),
  'rs256-usurped-kid': async (claims, { key }) => signed(claims, 'RS256', (await newSigningKey()).privateKey, key.kid),
  'signature-broken': async (claims, secrets) => spoiled(await well(claims, secrets)),
  'signature-missing': async (claims, secrets) => (await well(claims, secrets)).replace(/[^.]+$/, ''),
  /** Other claims with the valid signature of these. */
  'claims-replaced': async (claims, secrets) => {
    const [head, , signature] = (await well(claims, secrets)).split('.')
    const replaced = Buffer.from(JSON.stringify({ ...claims, sub: 'somebody-else' })).toString('base64url')
    return [head, replaced, signature].join('.')
  },
  'not-a-token': () => 'this is not a token',
} satisfies Record<string, Signer>

export type IdTokenFault = keyof typeof CLAIMS | keyof typeof SIGNERS

const changesOf = (table: Record<string, (claims: Claims) => Claims>, name: string | undefined, claims: Claims) =>
  name === undefined ? {} : table[name]?.(claims)

const signerOf = (table: Record<string, Signer>, name: string | undefined): Signer =>
  (name === undefined ? undefined : table[name]) ?? well

/** An ID token with these claims, valid for an hour except for its fault. */
export const idTokenOf = async (
  claims: Claims,
  { fault, ...secrets }: { fault: IdTokenFault | undefined; key: SigningKey; clientSecret: string },
): Promise<string> => {
  const good = { iat: nowSeconds(), exp: nowSeconds() + HOUR, ...claims }
  return signerOf(SIGNERS, fault)({ ...good, ...changesOf(CLAIMS, fault, good) }, secrets)
}
