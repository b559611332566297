import { readCsv } from '../csv.ts'
import type { Format } from './format.ts'
import { usernameField } from './username.ts'
import { textIn, unreadableHash, valuesOf } from './values.ts'

/**
 * The file that Clerk's dashboard makes under Settings, User exports: the only export with password digests
 * (clerk.com/docs: "Export your users from Clerk"). It names no providers.
 */
export const clerk: Format = {
  read: readCsv,
  convert(value) {
    const exported = valuesOf(value)
    const { username, losses } = usernameField(textIn(exported, 'username'))
    const email = textIn(exported, 'primary_email_address')
    const verified = (textIn(exported, 'verified_email_addresses') ?? '').split(/[\s,;|]+/)
    return {
      user: {
        id: textIn(exported, 'id'),
        email,
        username,
        email_verified: email !== undefined && verified.includes(email),
      },
      hashOf: () => hashOf(textIn(exported, 'password_digest'), textIn(exported, 'password_hasher')),
      losses: [...losses, ...(textIn(exported, 'totp_secret') === undefined ? [] : (['second factors'] as const))],
    }
  },
}

/** Those of Clerk's hashers whose digests svc reads as they are. */
const AS_THEY_ARE = [
  'argon2i',
  'argon2id',
  'bcrypt',
  'pbkdf2_sha1',
  'pbkdf2_sha256',
  'pbkdf2_sha256_django',
  'pbkdf2_sha512',
  'scrypt_werkzeug',
]

const hashOf = (digest: string | undefined, hasher: string | undefined): string | undefined => {
  if (digest === undefined) return undefined
  if (hasher === 'scrypt_firebase') return firebaseHash(digest)
  if (hasher === undefined || AS_THEY_ARE.includes(hasher)) return digest
  throw unreadableHash(`svc cannot check hashes of ${JSON.stringify(hasher.slice(0, 40))}.`)
}

/** `HASH$SALT$SIGNER_KEY$SALT_SEPARATOR$ROUNDS$MEM_COST` */
const firebaseHash = (digest: string): string => {
  const [hash, salt, key, separator, rounds, memory] = digest.split('$')
  return `$fbscrypt$v=1,n=${memory},r=${rounds},p=1,ss=${separator},sk=${key}$${salt}$${hash}`
}
