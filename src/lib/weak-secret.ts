import { AppError } from './errors.ts'

// 32 random bytes have fewer than 16 different values once in 10^16 cases, 64 random hex digits fewer than 8 once in
// 10^18.
const MIN_DISTINCT_BYTES = 16
const MIN_DISTINCT_CHARACTERS = 8
/** Random base64 of 43 characters has letters of one case and no more digits than this once in 10^11 cases. */
const MAX_DIGITS_AMONG_WORDS = 4

/** Throws `invalid_request` if a secret, given as text and as bytes, could be guessed. `where` names its source. */
export const requireUnguessable = (text: string, bytes: Uint8Array, where = 'it'): void => {
  const weakness = findWeakness(text, bytes)
  if (weakness === undefined) return
  throw new AppError(
    'invalid_request',
    `${where} could be guessed, since it ${weakness}; take 32 random bytes, such as openssl rand -hex 32 gives`,
  )
}

/**
 * Finds the reason why a root secret could be guessed, in words that follow "it"; returns undefined if it looks random.
 * It detects the texts that people type in place of random bytes, and refuses one in 10^11 random secrets
 * (test/unit/weak-secret.test.ts).
 */
export const findWeakness = (text: string, bytes: Uint8Array): string | undefined =>
  weaknessOfText(text) ?? (isPrintable(bytes) ? weaknessOfText(Buffer.from(bytes).toString()) : weaknessOfBytes(bytes))

const weaknessOfText = (text: string): string | undefined => {
  const codes = [...text].map((character) => character.charCodeAt(0))
  if (looksLikeWords(text)) return 'is made of words'
  return weaknessOfCodes(codes, MIN_DISTINCT_CHARACTERS)
}

const weaknessOfBytes = (bytes: Uint8Array): string | undefined => weaknessOfCodes([...bytes], MIN_DISTINCT_BYTES)

const weaknessOfCodes = (codes: readonly number[], minDistinct: number): string | undefined => {
  if (isRepetition(codes)) return 'repeats itself'
  if (isSequence(codes)) return 'is a sequence'
  return new Set(codes).size < minDistinct ? 'has too few different characters' : undefined
}

/** Tells whether the codes repeat one sequence of at most half their length. */
const isRepetition = (codes: readonly number[]): boolean => {
  const half = Math.floor(codes.length / 2)
  return Array.from({ length: half }, (_, index) => index + 1).some((period) =>
    codes.every((code, index) => index < period || code === codes[index - period]),
  )
}

/** Tells whether most steps between neighbours equal the step before: `abcdef`, `00 01 02`, `975319`. */
const isSequence = (codes: readonly number[]): boolean => {
  const steps = codes.slice(1).map((code, index) => code - (codes[index] ?? 0))
  const same = steps.filter((step, index) => index > 0 && step === steps[index - 1])
  return same.length > steps.length / 2
}

/** Tells whether the text has letters of one case only, or spaces, and hardly any digits. */
const looksLikeWords = (text: string): boolean => {
  const digits = text.replace(/\D/g, '').length
  return digits <= MAX_DIGITS_AMONG_WORDS && (/^[^a-z]*$/.test(text) || /^[^A-Z]*$/.test(text) || text.includes(' '))
}

const isPrintable = (bytes: Uint8Array): boolean => bytes.every((byte) => byte >= 0x20 && byte < 0x7f)
