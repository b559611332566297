import { readJsonObjects } from '../json.ts'
import { type Format, nameIn, objectsIn, textIn, type Values, valuesOf } from './format.ts'

/**
 * Reads identities as Kratos' admin API returns them: `GET /admin/identities/{id}?include_credential=password&
 * include_credential=oidc`, one after another or in an array (its OpenAPI document, schema `identity`).
 */
export const kratos: Format = {
  read: (chunks) => readJsonObjects(chunks),
  convert(entry) {
    const traits = valuesOf(entry.traits)
    const credentials = valuesOf(entry.credentials)
    // Without include_credential, a credential has no more than its type.
    const has = (...types: string[]) => types.some((type) => credentials[type] !== undefined)
    return {
      id: textIn(entry, 'id'),
      ...emailOf(traits, objectsIn(entry.verifiable_addresses)),
      username: textIn(traits, 'username'),
      name: textIn(traits, 'name') ?? nameIn(valuesOf(traits.name), 'first', 'last'),
      disabled: entry.state === 'inactive',
      createdAt: textIn(entry, 'created_at'),
      accounts: objectsIn(configOf(credentials, 'oidc').providers).map((account) => ({
        provider: textIn(account, 'provider'),
        subject: textIn(account, 'subject'),
      })),
      hashOf: () => hashOf(textIn(configOf(credentials, 'password'), 'hashed_password')),
      losses: { 'second factors': has('totp', 'lookup_secret', 'webauthn'), passkeys: has('passkey') },
    }
  },
}

const configOf = (credentials: Values, type: string): Values => valuesOf(valuesOf(credentials[type]).config)

/** The trait is called `email` in the schemas that come with Kratos; elsewhere the first address stands for it. */
const emailOf = (traits: Values, addresses: Values[]) => {
  const byMail = addresses.filter(({ via }) => via === 'email')
  const email = textIn(traits, 'email') ?? textIn(byMail[0] ?? {}, 'value')
  const address = byMail.find((each) => textIn(each, 'value')?.toLowerCase() === email?.toLowerCase())
  return { email, emailVerified: address?.verified === true }
}

/** Kratos writes scrypt's N itself in the place of its logarithm. */
const hashOf = (hash: string | undefined): string | undefined =>
  hash?.replace(/^(\$scrypt\$ln=)(\d+)(?=,)/, (_, start: string, cost: string) => {
    const logarithm = Math.log2(Number(cost))
    return `${start}${Number(cost) > 63 && Number.isInteger(logarithm) ? logarithm : cost}`
  })
