import { type KeyObject, sign, verify } from 'node:crypto'

/** A coordinate of P-256 has this many bytes. */
const SIZE = 32
const INTEGER = 0x02
const SEQUENCE = 0x30

/**
 * Signs with ECDSA on P-256 and SHA-256 in the form of JWS: both numbers, 32 bytes each, base64url (RFC 7518 section
 * 3.4). Node can write this form, but then takes twice as long; so DER is converted here.
 */
export const signEs256 = (key: KeyObject, message: string): string => fromDer(sign('sha256', Buffer.from(message), key))

/**
 * Tells whether a signature is good for the message, in its one spelling: the last of its 86 characters has two spare
 * bits, which decoders ignore and which must be zero here (RFC 4648 section 3.5).
 */
export const verifyEs256 = (key: KeyObject, message: string, signature: string): boolean => {
  const bytes = Buffer.from(signature, 'base64url')
  if (bytes.length !== 2 * SIZE || bytes.toString('base64url') !== signature) return false
  return verify('sha256', Buffer.from(message), key, toDer(bytes))
}

/**
 * Converts `SEQUENCE { r INTEGER, s INTEGER }` to `r || s` in base64url. An integer has a leading zero if its top bit
 * is set.
 */
export const fromDer = (der: Buffer): string => {
  const raw = Buffer.alloc(2 * SIZE)
  let offset = 2
  for (const end of [SIZE, 2 * SIZE]) {
    const length = der[offset + 1] ?? 0
    const integer = der.subarray(offset + 2, offset + 2 + length)
    const digits = integer.subarray(Math.max(0, length - SIZE))
    digits.copy(raw, end - digits.length)
    offset += 2 + length
  }
  return raw.toString('base64url')
}

const toDer = (raw: Buffer): Buffer => {
  const integers = Buffer.concat([toInteger(raw.subarray(0, SIZE)), toInteger(raw.subarray(SIZE))])
  return Buffer.concat([Buffer.of(SEQUENCE, integers.length), integers])
}

/** A number is as short as it goes, and never negative (X.690 section 8.3). */
const toInteger = (digits: Buffer): Buffer => {
  const first = digits.findIndex((byte) => byte !== 0)
  const short = digits.subarray(first < 0 ? SIZE - 1 : first)
  const padding = (short[0] ?? 0) & 0x80 ? [0] : []
  return Buffer.concat([Buffer.of(INTEGER, short.length + padding.length, ...padding), short])
}
