import { AppError } from '../lib/errors.ts'
import { listOf, parser, urlParser } from './parsers.ts'

const MAX_NAME_LENGTH = 32

const NAMES =
  'comma-separated names such as google or corp, each of at most ' +
  `${MAX_NAME_LENGTH} lower-case letters and digits, with - or _ between them, and none twice`

/** Whether a provider may be called so. */
const isProviderName = (text: string): boolean =>
  text.length <= MAX_NAME_LENGTH && /^[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*$/.test(text)

/** What the variables of a provider begin with. */
export const variablesBegin = (name: string): `SVC_OAUTH_${string}` =>
  `SVC_OAUTH_${name.toUpperCase().replaceAll('-', '_')}_`

/** Names in their order; its error says which ones cannot be, and why. */
export const providerNames = parser(NAMES, (text) => {
  const names = text.split(',').map((name) => name.trim())
  const mistakes = names.flatMap((name, index) => mistakesOf(name, names.slice(0, index)))
  if (mistakes.length > 0) throw new AppError('invalid_request', `${mistakes.join('; ')}: ${NAMES}`)
  return names
})

const mistakesOf = (name: string, earlier: readonly string[]): string[] => {
  if (!isProviderName(name)) return [`${JSON.stringify(name)} is not a valid provider name`]
  if (earlier.includes(name)) return [`"${name}" is listed twice`]
  const rival = earlier.find((other) => isProviderName(other) && variablesBegin(other) === variablesBegin(name))
  return rival ? [`"${rival}" and "${name}" have the same variables, ${variablesBegin(name)}…`] : []
}

/** The names that are right, each set of variables once, so that a mistake in one hides none of another's. */
export const usableNames = (text: string): string[] => {
  const names = text.split(',').map((name) => name.trim())
  return names.filter((name, index) => mistakesOf(name, names.slice(0, index)).length === 0)
}

/** RFC 6749 appendix A.1 and A.2. A space at an end came along with the copying. */
export const credential = parser(
  'the value from the provider: at most 512 ASCII characters, no space at either end',
  (text) => (text.length <= 512 && /^[!-~](?:[ -~]*[!-~])?$/.test(text) ? text : undefined),
)

/** Becomes PKCS #8, whatever way it was written. */
export const applePrivateKey = parser(
  'the ES256 private key from Apple in PEM format, the content of the .p8 file; in a variable, line ends may be written \\n',
  (text) => {
    try {
      // Loaded here: only those who sign in with Apple wait for it.
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

/** An issuer's URL, as it was written. One that a URL parser would change is refused: it would not compare equal. */
export const issuer = urlParser(ISSUERS, (text) => {
  // It may have a password before the @, which is not to be shown.
  if (text.includes('@')) throw new AppError('invalid_request', ISSUERS)
  const parsed = ISSUER.test(text) && URL.canParse(text) ? new URL(text).href : undefined
  return parsed === text || parsed === `${text}/` ? text : undefined
})

/** RFC 6749 section 3.3, and no comma, which stands between them here. */
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
