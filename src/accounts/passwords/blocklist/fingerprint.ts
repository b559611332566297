/**
 * A whole number of 53 bits that stands for a text in UTF-8, without the case of ASCII letters. It keeps lists small and
 * no secret: who finds two texts with the same number gets a password refused that is on no list.
 */
export const fingerprintOf = (text: Uint8Array): number => {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (const byte of text) {
    const folded = byte >= UPPER_A && byte <= UPPER_Z ? byte + CASE : byte
    high = Math.imul(high ^ folded, 2_654_435_761)
    low = Math.imul(low ^ folded, 1_597_334_677)
  }
  high = mix(high, low)
  low = mix(low, high)
  return (low >>> 11) * 2 ** 32 + (high >>> 0)
}

const UPPER_A = 0x41
const UPPER_Z = 0x5a
const CASE = 0x20

/** Spreads every bit over all of them, as the end of MurmurHash3 does. */
const mix = (word: number, other: number): number => {
  let mixed = Math.imul(word ^ (word >>> 16), 2_246_822_507) ^ Math.imul(other ^ (other >>> 13), 3_266_489_909)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 3_266_489_909)
  return mixed ^ (mixed >>> 16)
}
