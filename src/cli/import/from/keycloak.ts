import { readJsonObjects } from '../json.ts'
import { type Format, nameIn, objectsIn, textIn, timeIn, unreadableHash, type Values, valuesOf } from './format.ts'

/**
 * Reads the files of `kc.sh export --realm REALM`: that of the realm with its users, or those of the users alone
 * (keycloak.org: "Importing and exporting realms"; UserRepresentation and CredentialRepresentation of its API).
 */
export const keycloak: Format = {
  read: (chunks) => readJsonObjects(chunks, 'users'),
  convert(entry) {
    if (textIn(entry, 'serviceAccountClientId') !== undefined) return undefined
    const credentials = objectsIn(entry.credentials)
    const has = (...types: string[]) => credentials.some(({ type }) => types.includes(String(type)))
    const roles = rolesOf(entry)
    const kept = roles.filter((role) => ROLE.test(role))
    return {
      id: textIn(entry, 'id'),
      email: textIn(entry, 'email'),
      emailVerified: entry.emailVerified === true,
      username: textIn(entry, 'username'),
      name: nameIn(entry, 'firstName', 'lastName'),
      roles: kept,
      disabled: entry.enabled === false,
      createdAt: timeIn(entry, 'createdTimestamp'),
      accounts: objectsIn(entry.federatedIdentities).map((account) => ({
        provider: textIn(account, 'identityProvider'),
        subject: textIn(account, 'userId'),
      })),
      hashOf: () => hashOf(credentials.find(({ type }) => type === 'password')),
      losses: {
        'second factors': has('otp', 'webauthn', 'recovery-authn-codes'),
        passkeys: has('webauthn-passwordless'),
        roles: kept.length < roles.length,
      },
    }
  },
}

/** Keycloak gives these roles to every user itself. */
const OF_KEYCLOAK = /^(?:offline_access|uma_authorization|default-roles-.*)$/

/** The roles that svc accepts have these characters. */
const ROLE = /^[a-z0-9_:.-]{1,64}$/

const rolesOf = ({ realmRoles }: Values): string[] =>
  Array.isArray(realmRoles) ? realmRoles.map(String).filter((role) => !OF_KEYCLOAK.test(role)) : []

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

/** Reads an object that is written as a JSON text. */
const parsedIn = (values: Values, name: string): Values => {
  try {
    return valuesOf(JSON.parse(textIn(values, name) ?? '{}'))
  } catch {
    return {}
  }
}

/** PHC strings have Base64 without padding. */
const withoutPadding = (base64: string): string => base64.replace(/=+$/, '')

/** Each parameter is a list of one text. */
const argon2Hash = (parameters: Values, salt: string, hash: string): string => {
  const additional = valuesOf(parameters.additionalParameters)
  const valueOf = (name: string): string => String([additional[name]].flat()[0])
  const version = valueOf('version') === '1.0' ? 16 : 19
  const cost = `m=${valueOf('memory')},t=${String(parameters.hashIterations)},p=${valueOf('parallelism')}`
  return `$argon2${valueOf('type')}$v=${version}$${cost}$${salt}$${hash}`
}
