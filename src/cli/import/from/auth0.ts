import { readJsonObjects } from '../json-objects.ts'
import type { Format } from './format.ts'
import { identitiesOf } from './identities.ts'
import { usernameField } from './username.ts'
import { objectsIn, numberIn, textIn, type Values, valuesOf } from './values.ts'

/** Names of Auth0's connections to providers, and those of svc. */
const PROVIDERS: Record<string, string> = {
  'google-oauth2': 'google',
  github: 'github',
  apple: 'apple',
}

/** The users' own database, and no provider. */
const DATABASE = 'auth0'

/**
 * The export of password hashes that Auth0's support makes, or the bulk export of users, which has no hashes: JSON Lines
 * (support.auth0.com: "How to Use the Password Hashes Export from Auth0"; auth0.com/docs: "Bulk Export User Data").
 */
export const auth0: Format = {
  read: (chunks) => readJsonObjects(chunks),
  convert(value, options) {
    const exported = valuesOf(value)
    const { username, losses } = usernameField(textIn(exported, 'username'))
    const accounts = objectsIn(exported.identities).filter(({ provider }) => provider !== DATABASE)
    const connections = identitiesOf(
      accounts.map((account) => ({
        provider: PROVIDERS[String(account.provider)],
        subject: textIn(account, 'user_id') ?? numberIn(account, 'user_id'),
      })),
      options,
    )
    const hasSecondFactor = Array.isArray(exported.multifactor) && exported.multifactor.length > 0
    return {
      user: {
        id: idOf(exported),
        ...emailOf(exported),
        username,
        disabled: exported.blocked === true,
        created_at: textIn(exported, 'created_at'),
        identities: connections.identities,
      },
      hashOf: () => textIn(exported, 'passwordHash'),
      losses: [...losses, ...connections.losses, ...(hasSecondFactor ? (['second factors'] as const) : [])],
    }
  },
}

/** The user ID as tokens have it; in the export of hashes, it is put together from two fields. */
const idOf = (exported: Values): string | undefined => {
  const id = textIn(exported, 'alt_id') ?? textIn(valuesOf(exported['_id']), '$oid')
  return textIn(exported, 'user_id') ?? (id === undefined ? undefined : `${DATABASE}|${id}`)
}

/** Some users have their email among the identifiers only. */
const emailOf = (exported: Values) => {
  const email = textIn(exported, 'email')
  if (email !== undefined) return { email, email_verified: exported.email_verified === true }
  const identifier = objectsIn(exported.identifiers).find(({ type }) => type === 'email') ?? {}
  return { email: textIn(identifier, 'value'), email_verified: identifier.verified === true }
}
