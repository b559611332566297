import { AppError } from '../../../lib/errors.ts'
import { readJsonObjects } from '../json-objects.ts'
import type { Format } from './format.ts'
import { identitiesOf } from './identities.ts'
import { objectsIn, textIn, timeIn, unreadableHash, type Values, valuesOf } from './values.ts'

const PROVIDERS: Record<string, string> = {
  'google.com': 'google',
  'github.com': 'github',
  'apple.com': 'apple',
}

/** The file of `firebase auth:export FILE --format=json` (firebase.google.com/docs/cli/auth). */
export const firebase: Format = {
  read: (chunks) => readJsonObjects(chunks, 'users'),
  convert(value, options) {
    const exported = valuesOf(value)
    const accounts = objectsIn(exported.providerUserInfo).filter(({ providerId }) => providerId !== 'password')
    const { identities, losses } = identitiesOf(
      accounts.map((account) => ({
        provider: PROVIDERS[String(account.providerId)],
        subject: textIn(account, 'rawId'),
        email: textIn(account, 'email'),
      })),
      options,
    )
    return {
      user: {
        id: textIn(exported, 'localId'),
        email: textIn(exported, 'email'),
        email_verified: exported.emailVerified === true,
        disabled: exported.disabled === true,
        created_at: timeIn(exported, 'createdAt'),
        identities,
      },
      hashOf: () => hashOf(exported, options.hashParameters),
      losses,
    }
  },
}

const hashOf = (exported: Values, parameters: string | undefined): string | undefined => {
  const hash = textIn(exported, 'passwordHash')
  if (hash === undefined) return undefined
  if (parameters === undefined) {
    throw unreadableHash('The hashes of Firebase need the parameters of the project: --hash-parameters FILE.')
  }
  return `$fbscrypt$${readParameters(parameters)}$${textIn(exported, 'salt') ?? ''}$${hash}`
}

/** The block `hash_config { … }` of the Firebase console, as it is, or the same names in JSON. */
const readParameters = (text: string): string => {
  const valueOf = (name: string): string => {
    const value = new RegExp(String.raw`\b${name}"?\s*:\s*"?([\w+/=-]+)`).exec(text)?.[1]
    if (value !== undefined) return value
    throw new AppError('invalid_request', `--hash-parameters: the file has no ${name}, as hash_config of Firebase has`)
  }
  const [memory, rounds] = [valueOf('mem_cost'), valueOf('rounds')]
  return `v=1,n=${memory},r=${rounds},p=1,ss=${valueOf('base64_salt_separator')},sk=${valueOf('base64_signer_key')}`
}
