import { AppError } from '../../../lib/errors.ts'
import { toTimestamp } from '../../../lib/time.ts'
import type { Item } from '../json.ts'

/** An import cannot carry these over, and the operator should know. */
export type Loss =
  | 'second factors'
  | 'passkeys'
  | 'sign-in with a provider that is not configured here'
  | 'usernames'
  | 'names'
  | 'roles'

/** Another system has exported the user. */
export interface Exported {
  id: string | undefined
  email: string | undefined
  emailVerified: boolean
  /** It may be one that svc does not accept. */
  username?: string | undefined
  /** So may this. */
  name?: string | undefined
  roles?: string[]
  disabled?: boolean
  createdAt?: string | undefined
  /** A provider has the name that it has in svc, and none where svc has none like it. */
  accounts?: { provider: string | undefined; subject: string | undefined; email?: string | undefined }[]
  /** Finds the hash of the password; `unprocessable` when svc cannot check such a hash. */
  hashOf: () => string | undefined
  losses?: Partial<Record<Loss, boolean>>
}

/** Reads the export of another system. */
export interface Format {
  read: (chunks: AsyncIterable<Buffer>) => AsyncGenerator<Item>
  /**
   * Gives undefined for no user, such as the account of a program. `hashParameters` is the content of the file with the
   * parameters of the hashes, which only Firebase has.
   */
  convert: (entry: Values, hashParameters: string | undefined) => Exported | undefined
}

/** All users of these providers have the same issuer, wherever they sign in with it. */
const ISSUERS: ReadonlyMap<string, string> = new Map([
  ['google', 'https://accounts.google.com'],
  ['github', 'https://github.com'],
  ['gitlab', 'https://gitlab.com'],
  ['apple', 'https://appleid.apple.com'],
  ['discord', 'https://discord.com'],
])

/**
 * Makes the fields of `svc users import` but the hash, and names all losses. A username that svc does not accept is
 * left out, so that svc makes another: nobody signs in with it. An email in its place is no loss.
 */
export const toFields = (
  { username, accounts = [], ...user }: Exported,
  issuerOf: (provider: string) => string | undefined,
): { fields: Values; losses: Loss[] } => {
  const keepsUsername = username === undefined || /^[A-Za-z0-9_-]{3,30}$/.test(username)
  const identities = accounts.flatMap(({ provider = '', subject, email }) => {
    const issuer = issuerOf(provider) ?? ISSUERS.get(provider)
    return issuer !== undefined && subject !== undefined ? [{ provider, issuer, subject, email }] : []
  })
  const losses: Partial<Record<Loss, boolean>> = {
    usernames: !keepsUsername && !username.includes('@'),
    'sign-in with a provider that is not configured here': identities.length < accounts.length,
    ...user.losses,
  }
  return {
    fields: {
      id: user.id,
      email: user.email,
      username: keepsUsername ? username : undefined,
      name: user.name,
      roles: user.roles,
      email_verified: user.emailVerified,
      disabled: user.disabled,
      created_at: user.createdAt,
      identities,
    },
    losses: (Object.keys(losses) as Loss[]).filter((loss) => losses[loss]),
  }
}

/** Nothing is known of the types in a JSON object of another system. */
export type Values = Record<string, unknown>

export const valuesOf = (value: unknown): Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : {}

export const objectsIn = (value: unknown): Values[] => (Array.isArray(value) ? value.map(valuesOf) : [])

/** Gives undefined for anything but a text that is not empty. */
export const textIn = (values: Values, name: string): string | undefined => {
  const value = values[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Puts together the parts of a name, those that are there. */
export const nameIn = (values: Values, ...parts: string[]): string | undefined =>
  parts.flatMap((part) => textIn(values, part) ?? []).join(' ') || undefined

/** Writes a time in milliseconds since 1970, a number or a text, in the form that an import takes. */
export const timeIn = (values: Values, name: string): string | undefined => {
  const timeMs = Number(values[name] ?? Number.NaN)
  return Number.isSafeInteger(timeMs) && timeMs >= 0 && timeMs < 8e15 ? toTimestamp(timeMs) : undefined
}

export const unreadableHash = (message: string): AppError =>
  new AppError('unprocessable', message, { field: 'password_hash' })
