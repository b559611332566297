/** A parsed Set-Cookie header. Attribute names are lower-cased; flags have an empty value. */
export type SetCookie = { name: string; value: string; attributes: Record<string, string>; line: string }

type StoredCookie = { name: string; value: string; path: string; expiresAtMs: number }

/** A browser's cookies of one host, by name and path. */
export type CookieJar = {
  /** The value of the cookie with this name and any path. */
  get(name: string): string | undefined
  set(name: string, value: string, path?: string): void
  delete(name: string): void
  clear(): void
  names(): string[]
  keep(cookies: SetCookie[]): void
  /** The Cookie header for a request path, longest path first, or undefined when there is none to send. */
  header(requestPath: string): string | undefined
  copy(): CookieJar
}

/** Parses a Set-Cookie header (RFC 6265, section 5.2). */
export const parseSetCookie = (line: string): SetCookie => {
  const [pair = '', ...rest] = line.split(';')
  const attributes = rest.map((part) => {
    const [name = '', ...value] = part.split('=')
    return [name.trim().toLowerCase(), value.join('=').trim()]
  })
  const separator = pair.indexOf('=')
  const [name, value] = [pair.slice(0, separator).trim(), pair.slice(separator + 1).trim()]
  return { name, value, attributes: Object.fromEntries(attributes), line }
}

const expiryMs = ({ attributes }: SetCookie): number => {
  const maxAge = attributes['max-age']
  if (maxAge !== undefined) return Number(maxAge) > 0 ? Date.now() + Number(maxAge) * 1000 : 0
  return attributes.expires === undefined ? Number.POSITIVE_INFINITY : Date.parse(attributes.expires)
}

/** Whether a Set-Cookie removes the cookie. */
export const clearsCookie = (cookie: SetCookie): boolean => expiryMs(cookie) <= Date.now()

const pathMatches = (requestPath: string, cookiePath: string): boolean =>
  requestPath === cookiePath ||
  (requestPath.startsWith(cookiePath) && (cookiePath.endsWith('/') || requestPath[cookiePath.length] === '/'))

/** A jar for one host. It ignores Secure, because tests stand in for the TLS proxy. */
export const createCookieJar = (stored: StoredCookie[] = []): CookieJar => {
  const cookies = new Map(stored.map((cookie) => [`${cookie.name};${cookie.path}`, cookie]))
  const alive = () => [...cookies.values()].filter(({ expiresAtMs }) => expiresAtMs > Date.now())
  const put = (cookie: StoredCookie) => cookies.set(`${cookie.name};${cookie.path}`, cookie)
  return {
    get: (name) => alive().find((cookie) => cookie.name === name)?.value,
    set: (name, value, path = '/') => void put({ name, value, path, expiresAtMs: Number.POSITIVE_INFINITY }),
    delete: (name) => {
      for (const [key, cookie] of cookies) if (cookie.name === name) cookies.delete(key)
    },
    clear: () => cookies.clear(),
    names: () => alive().map(({ name }) => name),
    keep: (received) => {
      for (const cookie of received) {
        const path = cookie.attributes.path ?? '/'
        put({ name: cookie.name, value: cookie.value, path, expiresAtMs: expiryMs(cookie) })
      }
    },
    header: (requestPath) => {
      const sent = alive().filter(({ path }) => pathMatches(requestPath, path))
      sent.sort((a, b) => b.path.length - a.path.length)
      return sent.length === 0 ? undefined : sent.map(({ name, value }) => `${name}=${value}`).join('; ')
    },
    copy: () => createCookieJar([...cookies.values()]),
  }
}
