/**
 * Finds the origin of an absolute http(s) URL with nothing after the host, judged as it is written; otherwise returns
 * undefined.
 */
export const readOrigin = (text: string): string | undefined => {
  if (!/^https?:\/\/[^/?#\\@\s]+\/?$/i.test(text)) return undefined
  return URL.canParse(text) ? new URL(text).origin : undefined
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/** Tells whether a URL leads to this machine itself, where TLS protects nothing. */
export const isLoopbackUrl = (text: string): boolean => URL.canParse(text) && LOOPBACK.includes(new URL(text).hostname)

/**
 * Tells whether a browser finds an origin on its own machine. For names below localhost it asks no name server, unlike
 * the library of the system (RFC 6761 section 6.3).
 */
export const isLocalOrigin = (origin: string): boolean =>
  isLoopbackUrl(origin) || (URL.canParse(origin) && new URL(origin).hostname.endsWith('.localhost'))

const THIS_MACHINE =
  /^(?:(?:.+\.)?localhost\.*|(?:127|0)(?:\.\d+){3}|\[::1?\]|\[::ffff:(?:7f[0-9a-f]{2}|[0-9a-f]{1,2}):[0-9a-f]{1,4}\])$/

/**
 * Tells whether a URL may lead to this machine: loopback and the unspecified address (RFC 6890 section 2.2), IPv4
 * within IPv6 included, and every name under localhost (RFC 6761 section 6.3). The URL parser has already normalized
 * all other forms of an address (decimal, octal, shortened) to one of these.
 */
export const mayReachThisMachine = (text: string): boolean =>
  URL.canParse(text) && THIS_MACHINE.test(new URL(text).hostname)

/**
 * Removes the secret parts of a URL, valid or not: user and password, and query and fragment, which may contain a
 * token.
 */
export const redactUrl = (url: string): string =>
  url.replace(/^([^?#]*?\/\/)[^/?#]*@/, '$1…@').replace(/([?#]).+$/s, '$1…')

/** A user is not accepted, since it must be refused (RFC 9110 section 4.2.4). */
const ABSOLUTE = /^https?:\/\/((?:[\w.~-]+|\[[\da-f:.]+\])(?::\d*)?)(\/[^#]*|\?[^#]*)?$/i

/**
 * Parses a request target in absolute form (RFC 9112 section 3.2.2), which clients send to proxies, and some to any
 * server. `host` counts in place of the `Host` header. Returns undefined for any other form.
 */
export const readAbsoluteForm = (url: string): { host: string; target: string } | undefined => {
  const [, host, target = '/'] = ABSOLUTE.exec(url) ?? []
  if (host === undefined) return undefined
  return { host, target: target.startsWith('?') ? `/${target}` : target }
}
