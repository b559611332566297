import { createCipheriv, scrypt, timingSafeEqual } from 'node:crypto'
import {
  asKey,
  fromBase64,
  fromPaddedBase64,
  type PasswordHash,
  type ReadForm,
  WORK_A_SECOND,
} from './password-hash.ts'

interface ScryptParameters {
  /** A power of two. */
  N: number
  r: number
  p: number
}

/** Derives the key of a password by scrypt (RFC 7914), on the thread pool. */
const deriveByScrypt = (
  password: Buffer,
  salt: Buffer,
  { N, r, p }: ScryptParameters,
  bytes: number,
): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const maxmem = 128 * r * (N + p + 8)
    scrypt(password, salt, bytes, { N, r, p, maxmem }, (error, key) => (error ? reject(error) : resolve(key)))
  })

/** Estimates what scrypt costs; undefined where it is not defined for these parameters (RFC 7914, section 6). */
const scryptCost = ({ N, r, p }: ScryptParameters): Pick<PasswordHash, 'memoryBytes' | 'seconds'> | undefined =>
  N > 1 && N < 2 ** (16 * r) && Number.isInteger(Math.log2(N)) && p > 0
    ? { memoryBytes: 128 * r * (N + 2 * p), seconds: (N * r * p) / 8 / WORK_A_SECOND.scrypt }
    : undefined

const scryptHash = (
  parameters: ScryptParameters,
  salt: Buffer | undefined,
  storedKey: Buffer | undefined,
  normalForm: PasswordHash['normalForm'] = 'NFC',
): PasswordHash | undefined => {
  const cost = scryptCost(parameters)
  const key = asKey(storedKey)
  if (!cost || !salt || !key) return undefined
  return {
    ...cost,
    normalForm,
    matches: async (password) => timingSafeEqual(await deriveByScrypt(password, salt, parameters, key.length), key),
  }
}

const PHC =
  /^\$scrypt\$ln=(?<log2>\d{1,2}),r=(?<blocks>\d{1,4}),p=(?<lanes>\d{1,4})\$(?<salt>[\w+/]*)\$(?<key>[\w+/]+)$/

/** Reads a PHC string, as passlib writes it too. */
export const readPhcScrypt: ReadForm = (text) => {
  const { log2, blocks, lanes, salt, key } = PHC.exec(text)?.groups ?? {}
  if (salt === undefined || key === undefined) return undefined
  return scryptHash({ N: 2 ** Number(log2), r: Number(blocks), p: Number(lanes) }, fromBase64(salt), fromBase64(key))
}

const WERKZEUG =
  /^scrypt:(?<N>\d{1,10}):(?<blocks>\d{1,4}):(?<lanes>\d{1,4})\$(?<salt>[!-#%-~]{1,64})\$(?<key>(?:[\da-f]{2})+)$/

/** Reads that of Werkzeug, which Flask applications use: the salt is the text itself. */
export const readWerkzeugScrypt: ReadForm = (text) => {
  const { N, blocks, lanes, salt, key } = WERKZEUG.exec(text)?.groups ?? {}
  if (salt === undefined || key === undefined) return undefined
  return scryptHash({ N: Number(N), r: Number(blocks), p: Number(lanes) }, Buffer.from(salt), Buffer.from(key, 'hex'))
}

const BETTER_AUTH = /^(?<salt>[\da-f]{32}):(?<key>[\da-f]{128})$/

/** Reads that of Better Auth, whose parameters are fixed: the salt is the hexadecimal text itself. */
export const readBetterAuthScrypt: ReadForm = (text) => {
  const { salt, key } = BETTER_AUTH.exec(text)?.groups ?? {}
  if (salt === undefined || key === undefined) return undefined
  return scryptHash({ N: 16_384, r: 16, p: 1 }, Buffer.from(salt), Buffer.from(key, 'hex'), 'NFKC')
}

const FIREBASE =
  /^\$fbscrypt\$v=1,n=(?<log2>\d{1,2}),r=(?<r>\d{1,4}),p=1,ss=(?<separator>[\w+/-]*={0,2}),sk=(?<signer>[\w+/-]+={0,2})\$(?<salt>[\w+/-]+={0,2})\$(?<key>[\w+/-]+={0,2})$/

const AES_KEY_BYTES = 32
const ZERO_COUNTER = Buffer.alloc(16)

/** Firebase writes both alphabets of base64. */
const decode = (text: string): Buffer | undefined => fromPaddedBase64(text.replaceAll('-', '+').replaceAll('_', '/'))

/**
 * The scrypt of Firebase, with the parameters of its project beside salt and hash, as Supabase stores it: the key of the
 * password encrypts the project's signer key, and the result is what is stored.
 */
export const readFirebaseScrypt: ReadForm = (text) => {
  const groups = FIREBASE.exec(text)?.groups
  const [separator, signer, salt, key] = ['separator', 'signer', 'salt', 'key'].map((name) =>
    decode(groups?.[name] ?? ''),
  )
  const parameters = { N: 2 ** Number(groups?.['log2']), r: Number(groups?.['r']), p: 1 }
  const cost = scryptCost(parameters)
  if (!cost || !separator || !signer || !salt || !asKey(key) || key?.length !== signer.length) return undefined
  return {
    ...cost,
    normalForm: 'NFC',
    async matches(password) {
      const derived = await deriveByScrypt(password, Buffer.concat([salt, separator]), parameters, AES_KEY_BYTES)
      const cipher = createCipheriv('aes-256-ctr', derived, ZERO_COUNTER)
      return timingSafeEqual(Buffer.concat([cipher.update(signer), cipher.final()]), key)
    },
  }
}
