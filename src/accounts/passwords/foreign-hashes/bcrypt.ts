import { verify } from '@node-rs/bcrypt'
import { type ReadForm, WORK_A_SECOND } from './password-hash.ts'

const ALPHABET = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** The last characters of salt and key, where some programs leave bits set that mean nothing, and the bits that count. */
const LAST_CHARACTERS = { 28: 0b110000, 59: 0b111100 }

const withoutSpareBits = (text: string): string => {
  const characters = [...text]
  for (const [index, mask] of Object.entries(LAST_CHARACTERS))
    characters[Number(index)] = ALPHABET.charAt(ALPHABET.indexOf(text.charAt(Number(index))) & mask)
  return characters.join('')
}

const BCRYPT = /^\$2[aby]\$(?<cost>0[4-9]|[12]\d|3[01])\$[./\dA-Za-z]{53}$/

/**
 * bcrypt as `$2a$`, `$2b$` and `$2y$`, which differ in the mistakes of programs that are gone. As where it was made, the
 * first 72 bytes of a password count. `$2x$` marks hashes of such a mistake, and is not read.
 */
export const readBcrypt: ReadForm = (text) => {
  const { cost } = BCRYPT.exec(text)?.groups ?? {}
  if (cost === undefined) return undefined
  return {
    memoryBytes: 4096,
    seconds: 2 ** Number(cost) / WORK_A_SECOND.bcrypt,
    normalForm: 'NFC',
    matches: (password) => verify(password, withoutSpareBits(text)),
  }
}
