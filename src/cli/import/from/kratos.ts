import { readJsonObjects } from '../json-objects.ts'
import type { Format, Loss } from './format.ts'
import { identitiesOf } from './identities.ts'
import { usernameField } from './username.ts'
import { objectsIn, textIn, type Values, valuesOf } from './values.ts'

/**
 * Identities as Kratos' admin API returns them: `GET /admin/identities/{id}?include_credential=password&
 * include_credential=oidc`, one after another or in an array (its OpenAPI document, schema `identity`).
 */
export const kratos: Format = {
  read: (chunks) => readJsonObjects(chunks),
  convert(value, options) {
    const exported = valuesOf(value)
    const traits = valuesOf(exported.traits)
    const credentials = valuesOf(exported.credentials)
    const { username, losses } = usernameField(textIn(traits, 'username'))
    const connections = identitiesOf(
      objectsIn(configOf(credentials, 'oidc').providers).map((account) => ({
        provider: textIn(account, 'provider'),
        subject: textIn(account, 'subject'),
      })),
      options,
    )
    return {
      user: {
        id: textIn(exported, 'id'),
        ...emailOf(traits, objectsIn(exported.verifiable_addresses)),
        username,
        disabled: exported.state === 'inactive',
        created_at: textIn(exported, 'created_at'),
        identities: connections.identities,
      },
      hashOf: () => hashOf(textIn(configOf(credentials, 'password'), 'hashed_password')),
      losses: [...losses, ...connections.losses, ...factorsOf(credentials)],
    }
  },
}

const configOf = (credentials: Values, type: string): Values => valuesOf(valuesOf(credentials[type]).config)

/** The trait is called `email` in the schemas that come with Kratos; elsewhere the first address stands for it. */
const emailOf = (traits: Values, addresses: Values[]) => {
  const byMail = addresses.filter(({ via }) => via === 'email')
  const email = textIn(traits, 'email') ?? textIn(byMail[0] ?? {}, 'value')
  const address = byMail.find((each) => textIn(each, 'value')?.toLowerCase() === email?.toLowerCase())
  return { email, email_verified: address?.verified === true }
}

const factorsOf = (credentials: Values): Loss[] => {
  // Without include_credential, the type is all there is.
  const has = (...types: string[]) => types.some((type) => credentials[type] !== undefined)
  return [
    ...(has('totp', 'lookup_secret', 'webauthn') ? (['second factors'] as const) : []),
    ...(has('passkey') ? (['passkeys'] as const) : []),
  ]
}

/** Kratos writes scrypt's N itself in the place of its logarithm. */
const hashOf = (hash: string | undefined): string | undefined =>
  hash?.replace(/^(\$scrypt\$ln=)(\d+)(?=,)/, (_, start: string, cost: string) => {
    const logarithm = Math.log2(Number(cost))
    return `${start}${Number(cost) > 63 && Number.isInteger(logarithm) ? logarithm : cost}`
  })
