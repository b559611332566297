import { createCipheriv, timingSafeEqual } from 'node:crypto'
import { fromPaddedBase64 } from './base64.ts'
import { asKey, type ReadForm } from './password-hash.ts'
import { deriveByScrypt, scryptCost } from './scrypt.ts'

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
