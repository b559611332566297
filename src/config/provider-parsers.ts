import { AppError } from '../lib/errors.ts'
import { listOf, parser, urlParser } from './parsers.ts'

const MAX_NAME_LENGTH = 32

const NAMES =
  'comma-separated names such as google or corp, each of at most ' +
  `${MAX_NAME_LENGTH} lower-case letters and digits, with - or _ between them, and none twice`

const isProviderName = (text: string): boolean =>
  text.length <= MAX_NAME_LENGTH && /^[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*$/.test(text)

/** The beginning of the provider's variables, such as `SVC_OAUTH_GOOGLE_`. */
export const variablePrefix = (name: string): `SVC_OAUTH_${string}` =>
  `SVC_OAUTH_${name.toUpperCase().replaceAll('-', '_')}_`

/** The names of the providers, in order. The error says which names are not accepted, and why. */
export const providerNames = parser(NAMES, (text) => {
  const names = text.split(',').map((name) => name.trim())
  const mistakes = names.flatMap((name, index) => findMistakes(name, names.slice(0, index)))
  if (mistakes.length > 0) throw new AppError('invalid_request', `${mistakes.join('; ')}: ${NAMES}`)
  return names
})

const findMistakes = (name: string, earlier: readonly string[]): string[] => {
  if (!isProviderName(name)) return [`${JSON.stringify(name)} is not a valid provider name`]
  if (earlier.includes(name)) return [`"${name}" is listed twice`]
  const rival = earlier.find((other) => isProviderName(other) && variablePrefix(other) === variablePrefix(name))
  return rival ? [`"${rival}" and "${name}" have the same variables, ${variablePrefix(name)}…`] : []
}

/** The valid names of the list, so that a mistake in one name hides no mistake in the settings of another provider. */
export const validNames = (text: string): string[] => {
  const names = text.split(',').map((name) => name.trim())
  return names.filter((name, index) => findMistakes(name, names.slice(0, index)).length === 0)
}

/** RFC 6749 appendix A.1 and A.2. A space at either end is refused: it was copied by accident. */
export const credential = parser(
  'the value from the provider: at most 512 ASCII characters, no space at either end',
  (text) => (text.length <= 512 && /^[!-~](?:[ -~]*[!-~])?$/.test(text) ? text : undefined),
)

export const applePrivateKey = parser(
  'the ES256 private key from Apple in PEM format, the content of the .p8 file; in a variable, line ends may be written \\n',
  (text) => {
    try {
      // The module is loaded here, so that only services with Apple wait for it.
      const { createPrivateKey } = process.getBuiltinModule('node:crypto')
      const key = createPrivateKey(text.replace(/(?:\\r)?\\n/g, '\n'))
      if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') return undefined
      return key.export({ type: 'pkcs8', format: 'pem' }).toString()
    } catch {
      return undefined
    }
  },
)

export const appleId = parser('10 characters A-Z 0-9', (text) => (/^[A-Z0-9]{10}$/.test(text) ? text : undefined))

const ISSUERS =
  'an https:// URL without user, query or fragment, with a lower-case host; http:// only for localhost, 127.0.0.1 and [::1]'

const ISSUER = /^(?:https:\/\/[^/?#\\\s]+|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?)(?:\/[^?#\\\s]*)?$/

/** The URL of an issuer, unchanged. If a URL parser would change it, it would not equal the issuer in tokens. */
export const issuer = urlParser(ISSUERS, (text) => {
  // An error without the text: there may be a password before the @.
  if (text.includes('@')) throw new AppError('invalid_request', ISSUERS)
  const parsed = ISSUER.test(text) && URL.canParse(text) ? new URL(text).href : undefined
  return parsed === text || parsed === `${text}/` ? text : undefined
})

/** RFC 6749 section 3.3, without commas, which separate scopes here. */
export const scopes = parser('scope names, separated by spaces or commas', (text) => {
  const items = text.split(/[ ,]+/).filter((item) => item !== '')
  return items.length > 0 && items.every((item) => /^[!#-[\]-~]+$/.test(item)) ? items : undefined
})

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const DOMAIN = new RegExp(String.raw`^(?=.{1,253}$)(?:${LABEL}\.)+(?=.*[a-z])${LABEL}$`)

const readDomain = (text: string): string | undefined => {
  const domain = text.toLowerCase()
  return DOMAIN.test(domain) ? domain : undefined
}

export const domains = listOf('comma-separated domain names such as example.com, without @', readDomain)

const GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export const tenant = parser(
  'the ID of a tenant, one of its domain names, "common", "organizations" or "consumers"',
  (text) => {
    const name = text.toLowerCase()
    const isShared = name === 'common' || name === 'organizations' || name === 'consumers'
    return isShared || GUID.test(name) ? name : readDomain(name)
  },
)
