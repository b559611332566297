import { readCsv } from '../csv.ts'
import { type Format, nameIn, textIn, unreadableHash } from './format.ts'

/**
 * Reads the file that Clerk's dashboard makes under Settings, User exports: the only export with password digests
 * (clerk.com/docs: "Export your users from Clerk"). It names no providers.
 */
export const clerk: Format = {
  read: readCsv,
  convert(entry) {
    const email = textIn(entry, 'primary_email_address')
    const verified = (textIn(entry, 'verified_email_addresses') ?? '').split(/[\s,;|]+/)
    return {
      id: textIn(entry, 'id'),
      email,
      emailVerified: email !== undefined && verified.includes(email),
      username: textIn(entry, 'username'),
      name: nameIn(entry, 'first_name', 'last_name'),
      hashOf: () => hashOf(textIn(entry, 'password_digest'), textIn(entry, 'password_hasher')),
      losses: { 'second factors': textIn(entry, 'totp_secret') !== undefined },
    }
  },
}

/** svc reads the digests of these hashers of Clerk as they are. */
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
