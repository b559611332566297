import { AppError } from '../lib/errors.ts'
import { authenticatorName } from './authenticator-names.ts'
import type { Passkey } from './passkey.ts'

const MAX_LENGTH = 64

/** A name as it is stored; `unprocessable` for one that cannot be shown in a line. */
export const requireName = (entered: unknown): string => {
  const name = typeof entered === 'string' ? entered.trim().normalize('NFC') : ''
  if (name.length > 0 && [...name].length <= MAX_LENGTH && !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(name)) return name
  throw new AppError('unprocessable', `A name has 1 to ${MAX_LENGTH} characters, in one line.`, {
    field: 'name',
    reason: 'passkey_name',
  })
}

/** By the kind of its authenticator, else the one that is given; with a number if the user has one of that name. */
export const defaultName = (aaguid: string, otherwise: string, others: readonly Pick<Passkey, 'name'>[]): string => {
  const name = authenticatorName(aaguid) ?? otherwise
  const taken = new Set(others.map((other) => other.name))
  if (!taken.has(name)) return name
  let number = 2
  while (taken.has(`${name} ${number}`)) number += 1
  return `${name} ${number}`
}
