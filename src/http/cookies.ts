import { randomToken } from '../lib/secrets.ts'
import { FLOW_LIFETIME_MS } from '../oauth/oauth.ts'
import type { Tokens } from '../sessions/sessions.ts'

/** The one place that knows the cookies' names and attributes. */
const COOKIES = {
  svc_access: { path: '/', httpOnly: true },
  svc_refresh: { path: '/auth', httpOnly: true },
  svc_csrf: { path: '/', httpOnly: false },
  // tells a browser that comes back from a provider from any other
  svc_oauth: { path: '/auth/oauth', httpOnly: true },
} as const

type CookieName = keyof typeof COOKIES

/** The one cookie that scripts read, to send its value in a header. */
export const CSRF_COOKIE = 'svc_csrf' satisfies CookieName

/** What a request brought. Where a name came twice, nobody can tell which is ours, and nobody is signed in. */
export interface RequestCookies {
  access: string | undefined
  refresh: string | undefined
  /** Whether a refresh token came, once, however it stands with the others. */
  bringsRefresh: boolean
  csrf: string | undefined
  oauth: string | undefined
  /** Every cookie that came once, however it stands with the others. */
  single: Readonly<Partial<Record<CookieName, string>>>
  repeated: CookieName[]
}

const TOKEN = /^[\w-]{43}$/

/** Reads our cookies from a `Cookie` header (RFC 6265bis section 5.8.3). Empty is absent. */
export const readCookies = (header = ''): RequestCookies => {
  const found: Partial<Record<CookieName, string>> = {}
  const repeated = new Set<CookieName>()
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=')
    const name = pair.slice(0, equals).trim()
    if (equals < 0 || !isCookieName(name)) continue
    if (found[name] !== undefined) repeated.add(name)
    found[name] = pair.slice(equals + 1).trim()
  }
  for (const name of repeated) delete found[name]
  const csrf = found.svc_csrf || undefined
  const bringsRefresh = Boolean(found.svc_refresh)
  if (repeated.size > 0) {
    const none = { access: undefined, refresh: undefined, oauth: undefined }
    return { ...none, bringsRefresh, csrf, single: found, repeated: [...repeated] }
  }
  const { svc_access: access, svc_refresh: refresh, svc_oauth: oauth } = found
  return {
    access: access || undefined,
    refresh: refresh || undefined,
    bringsRefresh,
    csrf,
    oauth: oauth || undefined,
    single: found,
    repeated: [],
  }
}

const isCookieName = (name: string): name is CookieName => Object.hasOwn(COOKIES, name)

/** Whether we could have made it. */
export const isToken = (text: string | undefined): text is string => text !== undefined && TOKEN.test(text)

export const newToken = (): string => randomToken(32)

/** Writes `Set-Cookie` headers (RFC 6265bis section 4.1). */
export const createCookieWriter = ({ baseUrl }: { baseUrl: string }) => {
  const secure = baseUrl.startsWith('https:') ? '; Secure' : ''

  const write = (name: CookieName, value: string, maxAgeSeconds?: number): string => {
    const { path, httpOnly } = COOKIES[name]
    const maxAge = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`
    return `${name}=${value}; Path=${path}${maxAge}${httpOnly ? '; HttpOnly' : ''}${secure}; SameSite=Lax`
  }

  return {
    /** A new or renewed session. The CSRF token lasts as long. */
    session: (tokens: Tokens, csrfToken: string): string[] => [
      write('svc_access', tokens.accessToken, tokens.accessTokenSeconds),
      write('svc_refresh', tokens.refreshToken, tokens.sessionSeconds),
      write('svc_csrf', csrfToken, tokens.sessionSeconds),
    ],

    clearedSession: (): string[] => [write('svc_access', '', 0), write('svc_refresh', '', 0)],

    /** Lasts until the browser closes where there is no session to outlast it. */
    csrf: (token: string, sessionSeconds?: number): string => write('svc_csrf', token, sessionSeconds),

    /** For as long as a sign-in by a provider may take. */
    oauth: (binding: string): string => write('svc_oauth', binding, FLOW_LIFETIME_MS / 1000),

    /**
     * Ends all cookies of a name that came twice: ours, those on other paths that lead to this one, and those of the
     * whole domain, which other hosts may have set.
     */
    endOfRepeated: (names: CookieName[], requestPath: string): string[] => {
      const domains = parentDomains(new URL(baseUrl).hostname)
      return names.flatMap((name) =>
        ancestorPaths(requestPath).flatMap((path) => [
          `${name}=; Path=${path}; Max-Age=0${secure}; SameSite=Lax`,
          ...domains.map((domain) => `${name}=; Path=${path}; Domain=${domain}; Max-Age=0${secure}; SameSite=Lax`),
        ]),
      )
    },
  }
}

export type CookieWriter = ReturnType<typeof createCookieWriter>

/** No route of ours lies deeper. */
const MAX_DEPTH = 5

/** `/auth/api/v1` → `/`, `/auth`, `/auth/api`, `/auth/api/v1` */
const ancestorPaths = (path: string): string[] => {
  // Nothing that could end the attribute and begin another.
  const [safe = ''] = /^[\w./~-]*/.exec(path) ?? []
  const parts = safe.split('/').filter(Boolean).slice(0, MAX_DEPTH)
  return ['/', ...parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`)]
}

/** `login.app.example.com` → itself, `app.example.com`, `example.com`. None of an address or a bare name. */
const parentDomains = (host: string): string[] => {
  const labels = host.split('.')
  if (labels.length < 2 || /^[\d.]+$|:/.test(host)) return []
  return labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'))
}

/** Of several `Set-Cookie` values for one cookie (name, path, domain), the last: RFC 6265bis wants one of each. */
export const lastOfEach = (cookies: string[]): string[] => {
  const last = new Map<string, string>()
  for (const cookie of cookies) {
    const [pair = '', ...attributes] = cookie.split('; ')
    const scope = attributes.filter((attribute) => /^(?:path|domain)=/i.test(attribute))
    last.set([pair.slice(0, pair.indexOf('=')), ...scope].join(';'), cookie)
  }
  return [...last.values()]
}
