import { readEmail } from '../../lib/email-address.ts'
import { type UserFields, objectOf, stringOf, wrong } from './fields.ts'

/** An account at a provider that signs the user in. */
export interface ImportedIdentity {
  provider: string
  issuer: string
  subject: string
  email: string | undefined
}

const MAX_IDENTITIES = 32
const PROVIDER = /^[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*$/
/** OpenID Connect Core section 2: at most 255 characters of ASCII. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/
const ISSUER = /^[\x21-\x7e]{1,2048}$/

/** Reads the field `identities`; the issuer of a configured provider may be left out. */
export const requireIdentities = (
  value: unknown,
  issuerOf: (provider: string) => string | undefined,
): ImportedIdentity[] => {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value) || value.length > MAX_IDENTITIES) {
    throw wrong('identities', `It must be an array of at most ${MAX_IDENTITIES} objects.`)
  }
  return value.map((each, index) => requireIdentity(each, `identities[${index}]`, issuerOf))
}

const NAMES = ['provider', 'issuer', 'subject', 'email']

const requireIdentity = (
  value: unknown,
  path: string,
  issuerOf: (provider: string) => string | undefined,
): ImportedIdentity => {
  const fields = objectOf(value, 'It must be an object such as {"provider":"google","subject":"112233"}.', path)
  const unknown = Object.keys(fields).find((name) => !NAMES.includes(name))
  if (unknown !== undefined) {
    throw wrong(`${path}.${unknown.slice(0, 40)}`, `There is no such field. A connection has ${NAMES.join(', ')}.`)
  }
  const provider = matching(fields, path, { name: 'provider', pattern: PROVIDER, what: 'a name such as google' })
  const subject = matching(fields, path, {
    name: 'subject',
    pattern: SUBJECT,
    what: 'the ID of the user at the provider, 1 to 255 ASCII characters',
  })
  return { provider, issuer: requireIssuer(fields, path, issuerOf(provider)), subject, email: emailOf(fields, path) }
}

const matching = (
  fields: UserFields,
  path: string,
  { name, pattern, what }: { name: string; pattern: RegExp; what: string },
): string => {
  const text = stringOf(fields, name, `${path}.${name}`)
  if (text !== undefined && pattern.test(text)) return text
  throw wrong(`${path}.${name}`, `It must be ${what}.`)
}

const requireIssuer = (fields: UserFields, path: string, configured: string | undefined): string => {
  const issuer = stringOf(fields, 'issuer', `${path}.issuer`) ?? configured
  if (issuer !== undefined && ISSUER.test(issuer)) return issuer
  throw wrong(
    `${path}.issuer`,
    issuer === undefined
      ? 'It may be left out only for a provider in SVC_OAUTH_PROVIDERS whose users all have the same issuer.'
      : 'It must be the issuer as ID tokens have it, such as https://accounts.google.com.',
  )
}

const emailOf = (fields: UserFields, path: string): string | undefined => {
  const text = stringOf(fields, 'email', `${path}.email`)
  if (text === undefined) return undefined
  const email = readEmail(text)
  if (email) return email.shown
  throw wrong(`${path}.email`, 'It must be an email address.')
}
