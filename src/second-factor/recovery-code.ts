import { randomBytes } from 'node:crypto'

/** Crockford's Base32: no letter looks like a digit or like another letter. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const LENGTH = 16
const GROUP = /.{4}(?=.)/g

const RECOVERY_CODES = 10

/** A recovery code in the form that is hashed: 16 characters without hyphens. */
export interface RecoveryCode {
  /** Its first character, which says which of the ten it is: so a try costs one hash. */
  place: string
  text: string
}

/** A new set: ten codes, each with 75 random bits behind the digit of its place. */
export const newRecoveryCodes = (): RecoveryCode[] =>
  Array.from({ length: RECOVERY_CODES }, (_, index) => {
    const place = String(index)
    // A byte has eight times as many values as the alphabet: each character is as likely as every other.
    const characters = [...randomBytes(LENGTH - 1)].map((byte) => ALPHABET[byte % ALPHABET.length])
    return { place, text: place + characters.join('') }
  })

/** As people see it: in groups of four. */
export const showRecoveryCode = ({ text }: RecoveryCode): string => text.replaceAll(GROUP, '$&-')

/**
 * Reads what a user has typed, in any case, with or without hyphens and spaces, and with the letters that Crockford
 * reads as digits; undefined for anything that cannot be a recovery code.
 */
export const readRecoveryCode = (entered: string): RecoveryCode | undefined => {
  const text = entered.toLowerCase().replaceAll(/[\s-]/g, '').replaceAll('o', '0').replaceAll(/[il]/g, '1')
  const isCode = text.length === LENGTH && [...text].every((character) => ALPHABET.includes(character))
  return isCode ? { place: text.slice(0, 1), text } : undefined
}
