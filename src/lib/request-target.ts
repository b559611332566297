/** Without a user, which must be refused (RFC 9110 section 4.2.4). */
const ABSOLUTE = /^https?:\/\/((?:[\w.~-]+|\[[\da-f:.]+\])(?::\d*)?)(\/[^#]*|\?[^#]*)?$/i

/**
 * Parses a request target in absolute form (RFC 9112 section 3.2.2), which clients send to proxies, and some to any
 * server. `host` counts in place of the `Host` header. Undefined for any other form.
 */
export const readAbsoluteForm = (url: string): { host: string; target: string } | undefined => {
  const [, host, target = '/'] = ABSOLUTE.exec(url) ?? []
  if (host === undefined) return undefined
  return { host, target: target.startsWith('?') ? `/${target}` : target }
}
