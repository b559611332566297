/*
 * Whether 32 bytes are a public key of Ed25519 (RFC 8032 section 5.1). The library of Node takes any bytes: those that
 * are no point verify nothing, and a point of low order verifies signatures that nobody made.
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

/** By Fermat: P is a prime. */
const inverse = (value: bigint): bigint => power(value, P - 2n)

const D = modulo(-121665n * inverse(121666n))

/** Euler's criterion. */
const isSquare = (value: bigint): boolean => value === 0n || power(value, (P - 1n) / 2n) === 1n

/**
 * Adding a point to itself three times gives the neutral point exactly for the eight points of low order, whose y is one
 * of five: 1 and -1, 0, and the two for which y² is a root of d·y⁴ + 2·y² - 1.
 */
const isOfLowOrder = (y: bigint): boolean => {
  const ySquared = modulo(y * y)
  return y === 0n || ySquared === 1n || modulo(D * ySquared * ySquared + 2n * ySquared - 1n) === 0n
}

export const isOnEd25519 = (bytes: Uint8Array): boolean => {
  const reversed = bytes.toReversed()
  // The first bit is the sign of x.
  const y = BigInt(`0x${Buffer.from(reversed).toString('hex')}`) & (2n ** 255n - 1n)
  if (bytes.length !== 32 || y >= P || isOfLowOrder(y)) return false
  const ySquared = modulo(y * y)
  return isSquare(modulo((ySquared - 1n) * inverse(D * ySquared + 1n)))
}
