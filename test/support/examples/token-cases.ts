import { randomUUID } from 'node:crypto'
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, importJWK, type JWK } from 'jose'
import { claimsOf, forge, unsigned } from '../service/access-tokens.ts'

const secondsFromNow = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds

/**
 * Tokens that a verifier of the audience `app` must refuse, each with what is wrong with it. The key of the service
 * signs them, except where a foreign one is named.
 */
export const forgedTokens = async (good: string, key: CryptoKey, published: JWK): Promise<Record<string, string>> => {
  const foreign = await generateKeyPair('ES256', { extractable: true })
  const foreignJwk = await exportJWK(foreign.publicKey)
  const publicKey = await importJWK(published, 'ES256', { extractable: true })
  if (publicKey instanceof Uint8Array) throw new Error('not a public key')
  const pem = Buffer.from(await exportSPKI(publicKey))
  const [header = '', payload = '', signature = ''] = good.split('.')
  return {
    expired: await forge(good, key, { claims: { iat: secondsFromNow(-1200), exp: secondsFromNow(-600) } }),
    'without an end': await forge(good, key, { claims: { exp: undefined } }),
    'of another audience': await forge(good, key, { claims: { aud: 'admin' } }),
    'without an audience': await forge(good, key, { claims: { aud: undefined } }),
    'of another issuer': await forge(good, key, { claims: { iss: 'https://evil.example' } }),
    'without an issuer': await forge(good, key, { claims: { iss: undefined } }),
    'of another type': await forge(good, key, { header: { typ: 'JWT' } }),
    'without a type': await forge(good, key, { header: { typ: undefined } }),
    'with the algorithm none': unsigned(good),
    'with the public key as a secret': await forge(good, pem, { header: { alg: 'HS256' } }),
    'signed with another key': await forge(good, foreign.privateKey, {}),
    'with its own key in the header': await forge(good, foreign.privateKey, { header: { jwk: foreignJwk } }),
    'of a key that nobody knows': await forge(good, foreign.privateKey, { header: { kid: randomUUID() } }),
    'without the name of a key': await forge(good, key, { header: { kid: undefined } }),
    'with changed claims': [
      header,
      Buffer.from(JSON.stringify({ ...claimsOf(good), sub: randomUUID() })).toString('base64url'),
      signature,
    ].join('.'),
    'without a signature': `${header}.${payload}.`,
    'that is none': 'x.y.z',
    'that is half one': `${header}.${payload}`,
  }
}
