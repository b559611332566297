import { createHash, generateKeyPairSync, type JsonWebKey } from 'node:crypto'
import type { KeyRecord } from './key-store.ts'

interface NewKey {
  /** Encrypts the private half of the key with this id. */
  sealPrivateKey: (privateJwk: JsonWebKey, id: string) => string
  nowMs: number
  signsAtMs: number | null
}

/** A new key on P-256, not yet in the database. */
export const generateKey = ({ sealPrivateKey, nowMs, signsAtMs }: NewKey): KeyRecord => {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const publicJwk = pair.publicKey.export({ format: 'jwk' })
  const id = thumbprint(publicJwk)
  return {
    id,
    publicJwk,
    privateJwkSealed: sealPrivateKey(pair.privateKey.export({ format: 'jwk' }), id),
    createdAtMs: nowMs,
    signsAtMs,
    retiredAtMs: null,
    revokedAtMs: null,
  }
}

/** RFC 7638 section 3 for a key on a NIST curve. */
const thumbprint = ({ crv, kty, x, y }: JsonWebKey): string =>
  createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')
