import type { Client, ClientType } from './client.ts'

/** RFC 3986 section 3.1, in lower case. */
const SCHEME = /^[a-z][a-z0-9+.-]{0,62}$/

/** Browsers handle these themselves: a redirect to one could run code on the page that it comes from, or open a file. */
const BROWSER_SCHEMES = new Set(
  (
    'http https ws wss ftp ftps javascript livescript mocha data file vbscript vbs blob about view-source intent ' +
    'android-app filesystem chrome chrome-extension chrome-search chrome-untrusted devtools moz-extension ' +
    'safari-extension safari-web-extension ms-browser-extension edge extension opera brave vivaldi resource content ' +
    'jar wyciwyg feed mailto tel sms smsto facetime facetime-audio ms-appx ms-appx-web ms-msdt search-ms ldap ' +
    'gopher mhtml cid mid urn x-javascript googlechrome googlechromes microsoft-edge x-safari-https firefox'
  ).split(' '),
)

/** Tells whether a scheme, without colon, may belong to a native application (RFC 8252 section 7.1). */
export const isPrivateUseScheme = (scheme: string): boolean =>
  SCHEME.test(scheme) && !BROWSER_SCHEMES.has(scheme) && !/^(?:web|ext)\+/.test(scheme)

/** `loopback` and `private-use` lead to any program of the user's computer (RFC 8252 section 8.6). */
type RedirectKind = 'https' | 'loopback' | 'private-use'

/** The part before the port, the port, and what follows it. */
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::([0-9]{1,5}))?((?:[/?].*)?)$/

/** No wildcard is one. */
const HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:]+\])$/

const MAX_LENGTH = 1000

/** These are the characters of RFC 3986 but `#`: a parser that treats `\` or a space in its own way finds none. */
const CHARACTERS = /^[A-Za-z0-9\-._~:/?[\]@!$&'()*+,;=%]+$/

const FORMS = {
  web: 'an https URL, or an http URL of 127.0.0.1, [::1] or localhost',
  native: 'an https URL, an http URL of 127.0.0.1, [::1] or localhost, or a URI with a scheme of your own',
}

/** Says why a client of this type cannot have a redirect URI; returns undefined if it can. */
export const findUriProblem = (uri: string, type: ClientType): string | undefined => {
  const expected = `must be ${FORMS[type === 'native' ? 'native' : 'web']}`
  if (uri.length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters`
  if (uri.includes('#')) return 'must have no fragment (#)'
  if (!CHARACTERS.test(uri) || !URL.canParse(uri)) return expected
  const { href, hostname, username, password, protocol } = new URL(uri)
  const isOfServer = (protocol === 'https:' && HOST.test(hostname)) || LOOPBACK.test(uri)
  if (!isOfServer && (type !== 'native' || !isPrivateUseScheme(protocol.slice(0, -1)))) return expected
  if (username !== '' || password !== '' || /^[^:]+:\/\/[^/?]*@/.test(uri)) return 'must have no user and no password'
  // Every parser reads such a text in the same way: no case, no dots, no default port, no other form of an address.
  return isWritten(uri, href) ? undefined : `must be written as ${href}`
}

/** A text is compared as it is, and therefore has to be what the URL standard writes, but for `/` after the host. */
const isWritten = (uri: string, href: string): boolean => uri === href || withPath(uri) === href

const withPath = (uri: string): string => uri.replace(/^(https?:\/\/[^/?]+)(?=\?|$)/, '$1/')

/** Tells where a redirect URI that was accepted leads. */
export const kindOfRedirect = (uri: string): RedirectKind => {
  if (uri.startsWith('https://')) return 'https'
  return LOOPBACK.test(uri) ? 'loopback' : 'private-use'
}

/** Compares byte for byte, but for the port of a loopback URI, which is any (RFC 8252 section 7.3). */
const isOneOf = (uris: readonly string[], uri: string): boolean => {
  if (uris.includes(uri)) return true
  const sent = withoutPort(uri)
  return sent !== undefined && uris.some((each) => withoutPort(each) === sent)
}

const withoutPort = (uri: string): string | undefined => {
  const [, begin, port = '', rest = ''] = LOOPBACK.exec(uri) ?? []
  if (begin === undefined || Number(port) > 65_535 || /[^\x21-\x7e]/.test(rest)) return undefined
  return begin + rest
}

/** Tells whether a client may be sent to a URI with a code. */
export const isRedirectUriOf = ({ redirectUris }: Pick<Client, 'redirectUris'>, uri: string): boolean =>
  isOneOf(redirectUris, uri)

/** Tells whether a logout may lead to a URI. */
export const isLogoutUriOf = ({ logoutUris }: Pick<Client, 'logoutUris'>, uri: string): boolean =>
  isOneOf(logoutUris, uri)

/**
 * Tells whether a redirect URI of a metadata document or of a registered client counts: loopback, or on a host or of a
 * scheme in `SVC_CLIENT_HOSTS`.
 */
export const isOnHosts = (uri: string, hosts: readonly string[]): boolean => {
  const kind = kindOfRedirect(uri)
  const { hostname, protocol } = new URL(uri)
  return kind === 'loopback' || hosts.includes(kind === 'https' ? hostname : protocol)
}
