import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'

/*
 * Tells whether 32 bytes are a public key of Ed25519 (RFC 8032 section 5.1). The library of Node takes any bytes: bytes
 * that are no point verify nothing, and a point of low order verifies signatures that nobody made.
 */

const P = 2n ** 255n - 19n

const modulo = (value: bigint): bigint => ((value % P) + P) % P

const power = (base: bigint, exponent: bigint): bigint => {
  let result = 1n
  let factor = modulo(base)
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = modulo(result * factor)
    factor = modulo(factor * factor)
  }
  return result
}

/** Fermat's theorem gives it, since P is a prime. */
const inverse = (value: bigint): bigint => power(value, P - 2n)

const D = modulo(-121665n * inverse(121666n))

/** This is Euler's criterion. */
const isSquare = (value: bigint): boolean => value === 0n || power(value, (P - 1n) / 2n) === 1n

/**
 * Exactly eight points, those of low order, give the neutral point when they are added to themselves three times. Their
 * y is one of five: 1 and -1, 0, and the two for which y² is a root of d·y⁴ + 2·y² - 1.
 */
const isOfLowOrder = (y: bigint): boolean => {
  const ySquared = modulo(y * y)
  return y === 0n || ySquared === 1n || modulo(D * ySquared * ySquared + 2n * ySquared - 1n) === 0n
}

const isOnEd25519 = (bytes: Uint8Array): boolean => {
  const reversed = bytes.toReversed()
  // The first bit is the sign of x.
  const y = BigInt(`0x${Buffer.from(reversed).toString('hex')}`) & (2n ** 255n - 1n)
  if (bytes.length !== 32 || y >= P || isOfLowOrder(y)) return false
  const ySquared = modulo(y * y)
  return isSquare(modulo((ySquared - 1n) * inverse(D * ySquared + 1n)))
}

/** A COSE key (RFC 9052 section 7) has numbers for names when it is decoded. */
export type CoseKey = ReadonlyMap<number, unknown>

/** COSE names these algorithms, in the order in which svc prefers them: ES256, EdDSA with Ed25519, RS256. */
export const ALGORITHMS: readonly number[] = [-7, -8, -257]

const MIN_RSA_BITS = 2048
/** A longer one makes each sign-in slower for nothing. */
const MAX_RSA_BITS = 4096
const MAX_RSA_EXPONENT = 2n ** 32n

const KTY = 1
const ALG = 3

export const algorithmOf = (key: CoseKey): unknown => key.get(ALG)

/** A key of each algorithm has these members, and no others (WebAuthn section 6.5.1.1). */
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
 * Throws unless a key can be used: its algorithm is one that svc accepts, it is of the kind that the algorithm needs,
 * it can be imported, and it is on its curve. A key that nothing verifies would lock its owner out, and one of low
 * order verifies anything.
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
  // The function refuses a point that is not on P-256.
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
