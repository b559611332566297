import { randomToken } from '../lib/secrets.ts'

/** What a cookie is for. */
export type CookieRole = 'access' | 'refresh' | 'csrf' | 'oauth'

interface Cookie {
  name: string
  path: string
  httpOnly: boolean
}

/** The cookies of this service, as it is configured. */
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
    // Tells a browser that comes back from a provider from any other. Its name is no part of the specification.
    oauth: isHttps
      ? { name: '__Host-svc_oauth', path: '/', httpOnly: true }
      : { name: 'svc_oauth', path: '/auth/oauth', httpOnly: true },
  }
}

/** What a request brought. Where a name came twice, nobody can tell which is ours, and nobody is signed in. */
export interface RequestCookies {
  access: string | undefined
  refresh: string | undefined
  /** Whether a refresh token came, once, however it stands with the others, confirmed or not. */
  bringsRefresh: boolean
  csrf: string | undefined
  oauth: string | undefined
  /** Every cookie that came once, however it stands with the others. */
  single: Readonly<Partial<Record<CookieRole, string>>>
  repeated: CookieRole[]
}

/**
 * Reads the cookies of a table from a `Cookie` header (RFC 6265bis section 5.8.3). Empty is absent, and so is a refresh
 * token that the CSRF cookie does not confirm, where that is asked for.
 */
export const createCookieReader = (table: CookieTable, isConfirmed?: (single: RequestCookies['single']) => boolean) => {
  const roles = new Map(Object.entries(table).map(([role, { name }]) => [name, role as CookieRole]))

  return (header = ''): RequestCookies => {
    const found: Partial<Record<CookieRole, string>> = {}
    // Made where it is needed: this is done for every request.
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
 * Without spaces and tabs around it. `trim` takes more, a no-break space among it: with that in front, a cookie has
 * another name for the browser, which lets any host of the domain set it, and would be one of ours here.
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

/** Whether we could have made it. */
export const isToken = (text: string | undefined): text is string => text !== undefined && TOKEN.test(text)

export const newToken = (): string => randomToken(32)
