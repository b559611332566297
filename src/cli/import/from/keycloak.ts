import { readJsonObjects } from '../json-objects.ts'
import type { Converted, Format, Loss } from './format.ts'
import { identitiesOf } from './identities.ts'
import { usernameField } from './username.ts'
import { objectsIn, parsedIn, textIn, timeIn, unreadableHash, type Values, valuesOf, withoutPadding } from './values.ts'

/**
 * The files of `kc.sh export --realm REALM`: that of the realm with its users, or those of the users alone
 * (keycloak.org: "Importing and exporting realms"; UserRepresentation and CredentialRepresentation of its API).
 */
export const keycloak: Format = {
  read: (chunks) => readJsonObjects(chunks, 'users'),
  convert(value, options): Converted {
    const exported = valuesOf(value)
    if (textIn(exported, 'serviceAccountClientId') !== undefined)
      return { user: undefined, hashOf: () => undefined, losses: [] }
    const credentials = objectsIn(exported.credentials)
    const { username, losses } = usernameField(textIn(exported, 'username'))
    const roles = rolesOf(exported)
    const connections = identitiesOf(
      objectsIn(exported.federatedIdentities).map((account) => ({
        provider: textIn(account, 'identityProvider'),
        subject: textIn(account, 'userId'),
      })),
      options,
    )
    return {
      user: {
        id: textIn(exported, 'id'),
        email: textIn(exported, 'email'),
        username,
        roles: roles.filter((role) => ROLE.test(role)),
        email_verified: exported.emailVerified === true,
        disabled: exported.enabled === false,
        created_at: timeIn(exported, 'createdTimestamp'),
        identities: connections.identities,
      },
      hashOf: () => hashOf(credentials.find(({ type }) => type === 'password')),
      losses: [
        ...losses,
        ...connections.losses,
        ...factorsOf(credentials),
        ...(roles.every((role) => ROLE.test(role)) ? [] : (['roles'] as const)),
      ],
    }
  },
}

/** Roles that Keycloak gives to every user itself. */
const OF_KEYCLOAK = /^(?:offline_access|uma_authorization|default-roles-.*)$/

/** The roles that svc accepts have these characters. */
const ROLE = /^[a-z0-9_:.-]{1,64}$/

const rolesOf = ({ realmRoles }: Values): string[] =>
  Array.isArray(realmRoles) ? realmRoles.map(String).filter((role) => !OF_KEYCLOAK.test(role)) : []

const factorsOf = (credentials: Values[]): Loss[] => {
  const has = (...types: string[]) => credentials.some(({ type }) => types.includes(String(type)))
  return [
    ...(has('otp', 'webauthn', 'recovery-authn-codes') ? (['second factors'] as const) : []),
    ...(has('webauthn-passwordless') ? (['passkeys'] as const) : []),
  ]
}

const PBKDF2: Record<string, string> = { pbkdf2: 'sha1', 'pbkdf2-sha256': 'sha256', 'pbkdf2-sha512': 'sha512' }

const hashOf = (credential: Values | undefined): string | undefined => {
  if (credential === undefined) return undefined
  const parameters = parsedIn(credential, 'credentialData')
  const secret = parsedIn(credential, 'secretData')
  const [value, salt] = [textIn(secret, 'value') ?? '', withoutPadding(textIn(secret, 'salt') ?? '')]
  const algorithm = textIn(parameters, 'algorithm') ?? 'pbkdf2'
  const pbkdf2 = PBKDF2[algorithm]
  if (pbkdf2 !== undefined) {
    return `$pbkdf2-${pbkdf2}$i=${String(parameters.hashIterations)}$${salt}$${withoutPadding(value)}`
  }
  if (algorithm === 'argon2') return argon2Hash(parameters, salt, withoutPadding(value))
  if (value.startsWith('$')) return value
  throw unreadableHash(`svc cannot check hashes of ${JSON.stringify(algorithm.slice(0, 40))}.`)
}

/** Each parameter is a list of one text. */
const argon2Hash = (parameters: Values, salt: string, hash: string): string => {
  const additional = valuesOf(parameters.additionalParameters)
  const valueOf = (name: string): string => String([additional[name]].flat()[0])
  const version = valueOf('version') === '1.0' ? 16 : 19
  const cost = `m=${valueOf('memory')},t=${String(parameters.hashIterations)},p=${valueOf('parallelism')}`
  return `$argon2${valueOf('type')}$v=${version}$${cost}$${salt}$${hash}`
}
