import { AppError } from '../../../lib/errors.ts'
import { toMiB } from '../../../lib/machine.ts'
import { readArgon2 } from './argon2.ts'
import { readBcrypt } from './bcrypt.ts'
import type { PasswordHash, ReadForm } from './password-hash.ts'
import { readDjangoPbkdf2, readPasslibPbkdf2, readPhcPbkdf2 } from './pbkdf2.ts'
import { readBetterAuthScrypt, readFirebaseScrypt, readPhcScrypt, readWerkzeugScrypt } from './scrypt.ts'
import { readShaCrypt } from './sha-crypt.ts'

export type { PasswordHash } from './password-hash.ts'

/** The accepted forms, in words. No text has two of them. */
const FORMS: Record<string, ReadForm> = {
  'Argon2 ($argon2id$v=19$m=…,t=…,p=…$salt$hash, without keyid)': readArgon2,
  'bcrypt ($2a$, $2b$, $2y$)': readBcrypt,
  'scrypt ($scrypt$ln=…,r=…,p=…$salt$hash)': readPhcScrypt,
  "Werkzeug's scrypt (scrypt:N:r:p$salt$hash)": readWerkzeugScrypt,
  "Better Auth's scrypt (salt:key)": readBetterAuthScrypt,
  "Firebase's scrypt ($fbscrypt$v=1,n=…,r=…,p=1,ss=…,sk=…$salt$hash)": readFirebaseScrypt,
  'PBKDF2 with SHA-1, SHA-256 or SHA-512 ($pbkdf2-sha256$i=…$salt$hash)': readPhcPbkdf2,
  "passlib's PBKDF2 ($pbkdf2-sha256$29000$salt$hash)": readPasslibPbkdf2,
  "Django's PBKDF2 (pbkdf2_sha256$600000$salt$hash)": readDjangoPbkdf2,
  'SHA-crypt ($5$, $6$)': readShaCrypt,
}

const MAX_TEXT_LENGTH = 1024
const MAX_SECONDS = 10
/** All that need the one thread wait for each other. */
const MAX_SECONDS_OF_THREAD = 2

/**
 * Reads a password hash of svc or of another system. `unprocessable` on `password_hash` for an unknown form, and for a
 * hash whose check would take more memory than that, or more than ten seconds, or two on the one thread of its kind.
 */
export const parsePasswordHash = (text: string, maxMemoryBytes: number): PasswordHash => {
  const hash = text.length <= MAX_TEXT_LENGTH ? firstReading(text) : undefined
  if (!hash) throw refused(`This is no password hash in an accepted form. Accepted: ${Object.keys(FORMS).join('; ')}.`)
  const { memoryBytes, seconds, hasOwnThread } = hash
  const maxSeconds = hasOwnThread ? MAX_SECONDS_OF_THREAD : MAX_SECONDS
  if (memoryBytes <= maxMemoryBytes && seconds <= maxSeconds) return hash
  const cost = `${toMiB(memoryBytes)} MiB and ${seconds.toFixed(1)} s`
  const accepted = `${Math.floor(maxMemoryBytes / 2 ** 20)} MiB and ${maxSeconds} s`
  throw refused(
    `The parameters of this password hash are too expensive: a check would take ${cost}. Accepted here: up to ${accepted}.`,
  )
}

const firstReading = (text: string): PasswordHash | undefined => {
  for (const read of Object.values(FORMS)) {
    const hash = read(text)
    if (hash) return hash
  }
  return undefined
}

const refused = (message: string): AppError => new AppError('unprocessable', message, { field: 'password_hash' })
