import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { isOnEd25519 } from './ed25519.ts'

/** A COSE key (RFC 9052 section 7) as it is decoded: numbers for names. */
export type CoseKey = ReadonlyMap<number, unknown>

/** COSE names of algorithms, in the order in which svc prefers them: ES256, EdDSA with Ed25519, RS256. */
export const ALGORITHMS: readonly number[] = [-7, -8, -257]

const MIN_RSA_BITS = 2048
/** A longer one makes each sign-in slower for nothing. */
const MAX_RSA_BITS = 4096
const MAX_RSA_EXPONENT = 2n ** 32n

const KTY = 1
const ALG = 3

/** What the key says that it is for. */
export const algorithmOf = (key: CoseKey): unknown => key.get(ALG)

/** The members of a key of each algorithm, which has no others (WebAuthn section 6.5.1.1). */
const FORMS: Record<number, { members: number; toJwk: (key: CoseKey) => JsonWebKey | undefined }> = {
  [-7]: {
    members: 5,
    toJwk: (key) =>
      key.get(KTY) === 2 && key.get(-1) === 1
        ? { kty: 'EC', crv: 'P-256', x: bytes(key.get(-2), 32), y: bytes(key.get(-3), 32) }
        : undefined,
  },
  [-8]: {
    members: 4,
    toJwk: (key) =>
      key.get(KTY) === 1 && key.get(-1) === 6 ? { kty: 'OKP', crv: 'Ed25519', x: bytes(key.get(-2), 32) } : undefined,
  },
  [-257]: {
    members: 4,
    toJwk: (key) => (key.get(KTY) === 3 ? { kty: 'RSA', n: bytes(key.get(-1)), e: bytes(key.get(-2)) } : undefined),
  },
}

/**
 * Throws unless a key can be used: of an algorithm that svc accepts, of the kind that the algorithm needs, importable,
 * and on its curve. A key that nothing verifies would lock its owner out, and one of low order verifies anything.
 */
export const requireUsableKey = (key: CoseKey): void => {
  const algorithm = algorithmOf(key)
  const form = typeof algorithm === 'number' ? FORMS[algorithm] : undefined
  if (!form) throw new Error(`the algorithm ${String(algorithm)} is not accepted`)
  const jwk = form.toJwk(key)
  if (!jwk || key.size !== form.members) throw new Error(`the key is not one of the algorithm ${String(algorithm)}`)
  if (jwk.kty === 'OKP' && !isOnEd25519(Buffer.from(jwk.x ?? '', 'base64url'))) {
    throw new Error('the key is no point of Ed25519')
  }
  // It refuses a point that is not on P-256.
  requireSaneRsa(createPublicKey({ key: jwk, format: 'jwk' }))
}

const bytes = (value: unknown, length?: number): string => {
  if (!(value instanceof Uint8Array) || (length !== undefined && value.length !== length)) {
    throw new Error('a member of the key has a wrong type or length')
  }
  return Buffer.from(value).toString('base64url')
}

const requireSaneRsa = ({ asymmetricKeyType, asymmetricKeyDetails: details }: KeyObject): void => {
  if (asymmetricKeyType !== 'rsa') return
  const { modulusLength: bits = 0, publicExponent: exponent = 0n } = details ?? {}
  if (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS) throw new Error(`the RSA key has ${bits} bits`)
  if (exponent < 3n || exponent > MAX_RSA_EXPONENT || exponent % 2n === 0n) {
    throw new Error(`the RSA key has the exponent ${exponent}`)
  }
}
