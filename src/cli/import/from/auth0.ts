import { readJsonObjects } from '../json.ts'
import { type Format, objectsIn, textIn, type Values, valuesOf } from './format.ts'

/** Auth0 has other names for its connections to providers. */
const PROVIDERS: Record<string, string> = {
  'google-oauth2': 'google',
  github: 'github',
  apple: 'apple',
}

/** This is the users' own database, and no provider. */
const DATABASE = 'auth0'

/**
 * Reads the export of password hashes that Auth0's support makes, or the bulk export without hashes: JSON Lines
 * (support.auth0.com: "How to Use the Password Hashes Export from Auth0"; auth0.com/docs: "Bulk Export User Data").
 */
export const auth0: Format = {
  read: (chunks) => readJsonObjects(chunks),
  convert: (entry) => ({
    id: idOf(entry),
    ...emailOf(entry),
    username: textIn(entry, 'username'),
    name: nameOf(entry),
    disabled: entry.blocked === true,
    createdAt: textIn(entry, 'created_at'),
    accounts: objectsIn(entry.identities)
      .filter(({ provider }) => provider !== DATABASE)
      .map(({ provider, user_id: id }) => ({
        provider: PROVIDERS[String(provider)],
        subject: (typeof id === 'string' && id !== '') || Number.isSafeInteger(id) ? String(id) : undefined,
      })),
    hashOf: () => textIn(entry, 'passwordHash'),
    losses: { 'second factors': Array.isArray(entry.multifactor) && entry.multifactor.length > 0 },
  }),
}

/** Finds the user ID as tokens have it; in the export of hashes, it is put together from two fields. */
const idOf = (entry: Values): string | undefined => {
  const id = textIn(entry, 'alt_id') ?? textIn(valuesOf(entry['_id']), '$oid')
  return textIn(entry, 'user_id') ?? (id === undefined ? undefined : `${DATABASE}|${id}`)
}

/** Auth0 calls users by their email who have given no name. */
const nameOf = (entry: Values): string | undefined => {
  const name = textIn(entry, 'name')
  return name === textIn(entry, 'email') ? undefined : name
}

/** Some users have their email among the identifiers only. */
const emailOf = (entry: Values) => {
  const email = textIn(entry, 'email')
  if (email !== undefined) return { email, emailVerified: entry.email_verified === true }
  const identifier = objectsIn(entry.identifiers).find(({ type }) => type === 'email') ?? {}
  return { email: textIn(identifier, 'value'), emailVerified: identifier.verified === true }
}
