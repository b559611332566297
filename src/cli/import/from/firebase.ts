import { AppError } from '../../../lib/errors.ts'
import { readJsonObjects } from '../json.ts'
import { type Format, objectsIn, textIn, timeIn, unreadableHash, type Values } from './format.ts'

const PROVIDERS: Record<string, string> = {
  'google.com': 'google',
  'github.com': 'github',
  'apple.com': 'apple',
}

/** Reads the file of `firebase auth:export FILE --format=json` (firebase.google.com/docs/cli/auth). */
export const firebase: Format = {
  read: (chunks) => readJsonObjects(chunks, 'users'),
  convert: (entry, hashParameters) => ({
    id: textIn(entry, 'localId'),
    email: textIn(entry, 'email'),
    name: textIn(entry, 'displayName'),
    emailVerified: entry.emailVerified === true,
    disabled: entry.disabled === true,
    createdAt: timeIn(entry, 'createdAt'),
    accounts: objectsIn(entry.providerUserInfo)
      .filter(({ providerId }) => providerId !== 'password')
      .map((account) => ({
        provider: PROVIDERS[String(account.providerId)],
        subject: textIn(account, 'rawId'),
        email: textIn(account, 'email'),
      })),
    hashOf: () => hashOf(entry, hashParameters),
  }),
}

const hashOf = (entry: Values, parameters: string | undefined): string | undefined => {
  const hash = textIn(entry, 'passwordHash')
  if (hash === undefined) return undefined
  if (parameters === undefined) {
    throw unreadableHash('The hashes of Firebase need the parameters of the project: --hash-parameters FILE.')
  }
  return `$fbscrypt$${readParameters(parameters)}$${textIn(entry, 'salt') ?? ''}$${hash}`
}

/** Reads the block `hash_config { … }` of the Firebase console as it is, or the same names in JSON. */
const readParameters = (text: string): string => {
  const valueOf = (name: string): string => {
    const value = new RegExp(String.raw`\b${name}"?\s*:\s*"?([\w+/=-]+)`).exec(text)?.[1]
    if (value !== undefined) return value
    throw new AppError('invalid_request', `--hash-parameters: the file has no ${name}, as hash_config of Firebase has`)
  }
  const [memory, rounds] = [valueOf('mem_cost'), valueOf('rounds')]
  return `v=1,n=${memory},r=${rounds},p=1,ss=${valueOf('base64_salt_separator')},sk=${valueOf('base64_signer_key')}`
}
