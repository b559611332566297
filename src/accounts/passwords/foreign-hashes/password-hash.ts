/** A readable password hash: what it takes to check a password with it. */
export interface PasswordHash {
  /** What one check holds in memory. */
  memoryBytes: number
  /** What one check takes on one core, estimated from the parameters. */
  seconds: number
  /** The Unicode form that is tried after the password as it was typed. */
  normalForm: 'NFC' | 'NFKC'
  /** Whether all checks of this kind are made on one thread, one after the other. */
  hasOwnThread?: boolean
  matches(password: Buffer): Promise<boolean>
}

/** Reads texts of one form; undefined for any other text, and for parameters that nothing can be checked with. */
export type ReadForm = (text: string) => PasswordHash | undefined

/**
 * Work of one core in a second, measured once, on two cores of a server of 2025. A limit that each machine measured for
 * itself would accept a hash on one replica and refuse it on another.
 */
export const WORK_A_SECOND = {
  /** KiB that are filled. */
  argon2: 1_048_576,
  /** Rounds, of which there are 2 to the power of the cost. */
  bcrypt: 18_600,
  /** KiB that are filled and mixed. */
  scrypt: 307_200,
  /** Iterations for one block of output. */
  pbkdf2: { sha1: 5_800_000, sha256: 5_600_000, sha512: 2_100_000 },
  /** Rounds with the longest password, which anybody may enter: with a short one there are half as many again, or twice. */
  shaCrypt: { sha256: 700_000, sha512: 450_000 },
} as const

/** Fewer bytes would be met by too many passwords. */
const MIN_KEY_BYTES = 16
const MAX_KEY_BYTES = 128

/** What a password is compared with; undefined for a length that no system stores. */
export const asKey = (bytes: Buffer | undefined): Buffer | undefined =>
  bytes && bytes.length >= MIN_KEY_BYTES && bytes.length <= MAX_KEY_BYTES ? bytes : undefined
