import { pbkdf2, timingSafeEqual } from 'node:crypto'
import { fromBase64, fromPaddedBase64 } from './base64.ts'
import { asKey, type PasswordHash, type ReadForm, WORK_A_SECOND } from './password-hash.ts'

const DIGEST_BYTES = { sha1: 20, sha256: 32, sha512: 64 } as const
type Digest = keyof typeof DIGEST_BYTES

const isDigest = (name: string | undefined): name is Digest => name !== undefined && Object.hasOwn(DIGEST_BYTES, name)

interface Stored {
  digest: string | undefined
  iterations: string | undefined
  salt: Buffer | undefined
  key: Buffer | undefined
}

const pbkdf2Hash = ({ digest, iterations: count, salt, key: storedKey }: Stored): PasswordHash | undefined => {
  const iterations = Number(count)
  const key = asKey(storedKey)
  if (!isDigest(digest) || !key || !salt || !(iterations >= 1 && iterations < 2 ** 31)) return undefined
  const blocks = Math.ceil(key.length / DIGEST_BYTES[digest])
  return {
    memoryBytes: 0,
    seconds: (iterations * blocks) / WORK_A_SECOND.pbkdf2[digest],
    normalForm: 'NFC',
    matches: (password) =>
      new Promise((resolve, reject) => {
        pbkdf2(password, salt, iterations, key.length, digest, (error, derived) =>
          error ? reject(error) : resolve(timingSafeEqual(derived, key)),
        )
      }),
  }
}

const PHC =
  /^\$pbkdf2(?:-(?<digest>sha1|sha256|sha512))?\$i=(?<iterations>\d{1,10})(?:,l=(?<length>\d{1,3}))?\$(?<salt>[\w+/]*)\$(?<key>[\w+/]+)$/

/** A PHC string; without the name of a digest, it is SHA-1. */
export const readPhcPbkdf2: ReadForm = (text) => {
  const { digest = 'sha1', iterations, length, salt, key } = PHC.exec(text)?.groups ?? {}
  const stored = fromBase64(key ?? '')
  if (salt === undefined || (length !== undefined && Number(length) !== stored?.length)) return undefined
  return pbkdf2Hash({ digest, iterations, salt: fromBase64(salt), key: stored })
}

const PASSLIB = /^\$pbkdf2(?:-(?<digest>sha256|sha512))?\$(?<iterations>\d{1,10})\$(?<salt>[\w./]*)\$(?<key>[\w./]+)$/

/** That of passlib, which writes `.` for the `+` of base64. */
export const readPasslibPbkdf2: ReadForm = (text) => {
  const { digest = 'sha1', iterations, salt, key } = PASSLIB.exec(text)?.groups ?? {}
  if (salt === undefined || key === undefined) return undefined
  const [saltBytes, keyBytes] = [salt, key].map((part) => fromBase64(part.replaceAll('.', '+')))
  return pbkdf2Hash({ digest, iterations, salt: saltBytes, key: keyBytes })
}

const DJANGO =
  /^pbkdf2_(?<digest>sha1|sha256|sha512)\$(?<iterations>\d{1,10})\$(?<salt>[!-#%-~]{1,128})\$(?<key>[\w+/]+={0,2})$/

/** That of Django: the salt is the text itself. */
export const readDjangoPbkdf2: ReadForm = (text) => {
  const { digest, iterations, salt = '', key = '' } = DJANGO.exec(text)?.groups ?? {}
  return pbkdf2Hash({ digest, iterations, salt: Buffer.from(salt), key: fromPaddedBase64(key) })
}
