/** Without user: RFC 9110 section 4.2.4 has it refused. */
const ABSOLUTE = /^https?:\/\/((?:[\w.~-]+|\[[\da-f:.]+\])(?::\d*)?)(\/[^#]*|\?[^#]*)?$/i

/**
 * Takes the absolute form of a request target apart (RFC 9112 section 3.2.2), in which clients write to a proxy, and
 * some to any server. `host` counts in place of the `Host` header. Undefined for any other form.
 */
export const readAbsoluteForm = (url: string): { host: string; target: string } | undefined => {
  const [, host, target = '/'] = ABSOLUTE.exec(url) ?? []
  if (host === undefined) return undefined
  return { host, target: target.startsWith('?') ? `/${target}` : target }
}
