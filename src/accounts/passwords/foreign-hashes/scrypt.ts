import { scrypt, timingSafeEqual } from 'node:crypto'
import { fromBase64 } from './base64.ts'
import { asKey, type PasswordHash, type ReadForm, WORK_A_SECOND } from './password-hash.ts'

export interface ScryptParameters {
  /** A power of two. */
  N: number
  r: number
  p: number
}

/** The key of a password by scrypt (RFC 7914), on the thread pool. */
export const deriveByScrypt = (
  password: Buffer,
  salt: Buffer,
  { N, r, p }: ScryptParameters,
  bytes: number,
): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const maxmem = 128 * r * (N + p + 8)
    scrypt(password, salt, bytes, { N, r, p, maxmem }, (error, key) => (error ? reject(error) : resolve(key)))
  })

/** What scrypt costs with these parameters; undefined where it is not defined for them (RFC 7914, section 6). */
export const scryptCost = ({ N, r, p }: ScryptParameters): Pick<PasswordHash, 'memoryBytes' | 'seconds'> | undefined =>
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

/** A PHC string, as passlib writes it too. */
export const readPhcScrypt: ReadForm = (text) => {
  const { log2, blocks, lanes, salt, key } = PHC.exec(text)?.groups ?? {}
  if (salt === undefined || key === undefined) return undefined
  return scryptHash({ N: 2 ** Number(log2), r: Number(blocks), p: Number(lanes) }, fromBase64(salt), fromBase64(key))
}

const WERKZEUG =
  /^scrypt:(?<N>\d{1,10}):(?<blocks>\d{1,4}):(?<lanes>\d{1,4})\$(?<salt>[!-#%-~]{1,64})\$(?<key>(?:[\da-f]{2})+)$/

/** That of Werkzeug, which Flask applications use: the salt is the text itself. */
export const readWerkzeugScrypt: ReadForm = (text) => {
  const { N, blocks, lanes, salt, key } = WERKZEUG.exec(text)?.groups ?? {}
  if (salt === undefined || key === undefined) return undefined
  return scryptHash({ N: Number(N), r: Number(blocks), p: Number(lanes) }, Buffer.from(salt), Buffer.from(key, 'hex'))
}

const BETTER_AUTH = /^(?<salt>[\da-f]{32}):(?<key>[\da-f]{128})$/

/** That of Better Auth, whose parameters are fixed: the salt is the hexadecimal text itself. */
export const readBetterAuthScrypt: ReadForm = (text) => {
  const { salt, key } = BETTER_AUTH.exec(text)?.groups ?? {}
  if (salt === undefined || key === undefined) return undefined
  return scryptHash({ N: 16_384, r: 16, p: 1 }, Buffer.from(salt), Buffer.from(key, 'hex'), 'NFKC')
}
