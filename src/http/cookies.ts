import { randomToken } from '../lib/secrets.ts'

/** What a cookie is for. */
export type CookieRole = 'access' | 'refresh' | 'csrf' | 'oauth'

interface Cookie {
  name: string
  path: string
  httpOnly: boolean
}

/** The cookies of this service, as it is configured (CONTRACT.md 5.1). */
export type CookieTable = Readonly<Record<CookieRole, Cookie>>

/**
 * The one place that knows the cookies' names and attributes. A browser takes a cookie with the prefix `__Host-` from
 * this very host alone, over https and for every path, and one with `__Secure-` over https (RFC 6265bis section 4.1.3).
 */
export const createCookieTable = (settings: { baseUrl: string; cookiePrefix: boolean }): CookieTable => {
  const [host, secure] = settings.cookiePrefix ? ['__Host-', '__Secure-'] : ['', '']
  const isHttps = settings.baseUrl.startsWith('https:')
  return {
    access: { name: `${host}svc_access`, path: '/', httpOnly: true },
    refresh: { name: `${secure}svc_refresh`, path: '/auth', httpOnly: true },
    csrf: { name: `${host}svc_csrf`, path: '/', httpOnly: false },
    // Proves that the browser that returns from a provider is the one that was sent there.
    oauth: isHttps
      ? { name: '__Host-svc_oauth', path: '/', httpOnly: true }
      : { name: 'svc_oauth', path: '/auth/oauth', httpOnly: true },
  }
}

/** The cookies of a request. Where a name came twice, either may be an attacker's: the request counts as signed out. */
export interface RequestCookies {
  access: string | undefined
  refresh: string | undefined
  /** Whether one refresh token came, even if another cookie came twice, or the CSRF cookie does not confirm it. */
  bringsRefresh: boolean
  csrf: string | undefined
  oauth: string | undefined
  /** Every cookie that came once, even if another one came twice. */
  single: Readonly<Partial<Record<CookieRole, string>>>
  repeated: CookieRole[]
}

interface CookieReaderDeps {
  cookieTable: CookieTable
  /** Whether the other cookies confirm the refresh token; undefined: it needs no confirmation. */
  isConfirmed?: ((single: RequestCookies['single']) => boolean) | undefined
}

/**
 * Reads the cookies of the table from a `Cookie` header (RFC 6265bis section 5.8.3). An empty cookie counts as absent,
 * and so does a refresh token that `isConfirmed` refuses.
 */
export const createCookieReader = ({ cookieTable, isConfirmed }: CookieReaderDeps) => {
  const roles = new Map(Object.entries(cookieTable).map(([role, { name }]) => [name, role as CookieRole]))

  return (header = ''): RequestCookies => {
    const found: Partial<Record<CookieRole, string>> = {}
    // Only made when needed: this runs for every request.
    let repeated: Set<CookieRole> | undefined
    for (const pair of header.split(';')) {
      const equals = pair.indexOf('=')
      const role = equals < 0 ? undefined : roles.get(withoutSpaces(pair.slice(0, equals)))
      if (role === undefined) continue
      if (found[role] !== undefined) repeated = (repeated ?? new Set()).add(role)
      found[role] = withoutSpaces(pair.slice(equals + 1))
    }
    for (const role of repeated ?? []) delete found[role]
    const bringsRefresh = Boolean(found.refresh)
    if (bringsRefresh && isConfirmed?.(found) === false) delete found.refresh
    const csrf = found.csrf || undefined
    if (repeated) {
      const none = { access: undefined, refresh: undefined, oauth: undefined }
      return { ...none, bringsRefresh, csrf, single: found, repeated: [...repeated] }
    }
    return {
      access: found.access || undefined,
      refresh: found.refresh || undefined,
      bringsRefresh,
      csrf,
      oauth: found.oauth || undefined,
      single: found,
      repeated: NONE,
    }
  }
}

const NONE: CookieRole[] = []

/**
 * Removes the spaces and tabs around a text. `trim` removes more, such as a no-break space. For the browser, a cookie
 * with a no-break space in front of its name is another cookie, which any host of the domain may set; here it would
 * pass for ours.
 */
const withoutSpaces = (text: string): string => {
  let start = 0
  let end = text.length
  while (start < end && isSpace(text.charCodeAt(start))) start += 1
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1
  return text.slice(start, end)
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x09

const TOKEN = /^[\w-]{43}$/

/** Whether a text has the form of a token that `newToken` makes. */
export const isToken = (text: string | undefined): text is string => text !== undefined && TOKEN.test(text)

export const newToken = (): string => randomToken(32)
