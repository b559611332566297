import { FLOW_LIFETIME_MS } from '../oauth/oauth.ts'
import type { Tokens } from '../sessions/sessions.ts'
import type { CookieRole, CookieTable } from './cookies.ts'

/** Writes `Set-Cookie` headers (RFC 6265bis section 4.1). */
export interface CookieWriter {
  /**
   * Writes a new or renewed session. The CSRF token lasts as long. Two more cookies tell scripts how long the session
   * lasts.
   */
  session: (tokens: Tokens, csrfToken: string) => string[]
  clearedSession: () => string[]
  /** The cookie lasts until the browser closes if there is no session. */
  csrf: (token: string, sessionSeconds?: number) => string
  /** The cookie lasts as long as a sign-in with a provider may take. */
  oauth: (browserSecret: string) => string
  /** The cookie lasts until the browser closes if no lifetime is given. */
  stay: (value: string, seconds?: number) => string
  /** The cookie outlives sessions; browsers keep no cookie for longer (RFC 6265bis section 5.5). */
  device: (secret: string) => string
  /** The cookie names a way to sign in, and outlives sessions too. */
  lastWay: (way: string) => string
  /** The cookie names the language that was picked, and lasts as long. */
  language: (tag: string) => string
  /** The cookie says when the account page has offered a passkey. */
  offered: (atMs: number, lifetimeMs: number) => string
  /** The cookie lasts as long as a link that this browser has asked for. */
  link: (browserSecret: string, lifetimeMs: number) => string
  /** The cookie lasts until the page that shows the recovery codes; a missing value clears it. */
  codes: (sealed: string | undefined) => string
  /** The cookie says what was done, for as long as a page may say it. */
  done: (what: string) => string
  /** The cookie lasts as long as what is sealed in it; a missing value clears it. */
  pending: (sealed?: string, lifetimeMs?: number) => string
  /**
   * Expires all cookies of a name that came twice: ours, those on the parent paths of the request, and those of the
   * parent domains. A cookie with the prefix `__Host-` can exist only for this host and the path `/`.
   */
  endOfRepeated: (roles: CookieRole[], requestPath: string) => string[]
}

interface CookieWriterDeps {
  cookieTable: CookieTable
  baseUrl: string
}

export const createCookieWriter = ({ cookieTable, baseUrl }: CookieWriterDeps): CookieWriter => {
  const secure = baseUrl.startsWith('https:') ? '; Secure' : ''
  const domains = parentDomains(new URL(baseUrl).hostname)

  const write = (role: keyof CookieTable, value: string, maxAgeSeconds?: number): string => {
    const { name, path, httpOnly } = cookieTable[role]
    const maxAge = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`
    return `${name}=${value}; Path=${path}${maxAge}${httpOnly ? '; HttpOnly' : ''}${secure}; SameSite=Lax`
  }

  /** These cookies are cleared together with the access token's cookie: nothing is fresh when it is gone. */
  const clearedSignals = (): string[] => [write('session', '', 0), write('fresh', '', 0)]

  /** Expires a cookie on one path, for this host and for each parent domain, where other hosts may have set it. */
  const expire = (name: string, path: string): string[] => {
    const expired = (scope: string) => `${name}=; Path=${path}${scope}; Max-Age=0${secure}; SameSite=Lax`
    return [expired(''), ...domains.map((domain) => expired(`; Domain=${domain}`))]
  }

  return {
    session: (tokens, csrfToken) => [
      write('access', tokens.accessToken, tokens.accessTokenSeconds),
      write('refresh', tokens.refreshToken, tokens.sessionSeconds),
      write('csrf', csrfToken, tokens.sessionSeconds),
      write('session', '1', tokens.sessionSeconds),
      write('fresh', '1', freshSeconds(tokens)),
    ],

    clearedSession: () => [write('access', '', 0), write('refresh', '', 0), ...clearedSignals()],

    csrf: (token, sessionSeconds) => write('csrf', token, sessionSeconds),

    oauth: (browserSecret) => write('oauth', browserSecret, FLOW_LIFETIME_MS / 1000),

    stay: (value, seconds) => write('stay', value, seconds),

    device: (secret) => write('device', secret, FOUR_HUNDRED_DAYS_SECONDS),
    lastWay: (way) => write('lastWay', way, FOUR_HUNDRED_DAYS_SECONDS),
    language: (tag) => write('language', tag, FOUR_HUNDRED_DAYS_SECONDS),
    offered: (atMs, lifetimeMs) => write('offered', String(Math.floor(atMs / 1000)), Math.ceil(lifetimeMs / 1000)),
    link: (browserSecret, lifetimeMs) => write('link', browserSecret, Math.ceil(lifetimeMs / 1000)),
    pending: (sealed = '', lifetimeMs = 0) => write('pending', sealed, Math.ceil(lifetimeMs / 1000)),

    done: (what) => write('done', what, DONE_SECONDS),
    codes: (sealed) => write('codes', sealed ?? '', sealed === undefined ? 0 : SHOWN_CODES_SECONDS),

    endOfRepeated: (roles, requestPath) => [
      ...roles.flatMap((role) => {
        const { name } = cookieTable[role]
        if (name.startsWith('__Host-')) return [write(role, '', 0)]
        return ancestorPaths(requestPath).flatMap((path) => expire(name, path))
      }),
      ...(roles.includes('access') ? clearedSignals() : []),
    ],
  }
}

const FRESH_MARGIN_SECONDS = 60

/** A token that is about to expire is not fresh: what a script sends now may be read a moment later. */
const freshSeconds = ({ accessTokenSeconds: seconds }: Tokens): number =>
  Math.floor(seconds - Math.min(FRESH_MARGIN_SECONDS, seconds / 2))

const SHOWN_CODES_SECONDS = 600
const DONE_SECONDS = 600

const FOUR_HUNDRED_DAYS_SECONDS = 34_560_000

/** Our routes lie no deeper. */
const MAX_DEPTH = 5

/** `/auth/api/v1` becomes `/`, `/auth`, `/auth/api` and `/auth/api/v1`. */
const ancestorPaths = (path: string): string[] => {
  // The path keeps no character that could end the attribute and begin another.
  const [safe = ''] = /^[\w./~-]*/.exec(path) ?? []
  const segments = safe.split('/').filter(Boolean).slice(0, MAX_DEPTH)
  return ['/', ...segments.map((_, index) => `/${segments.slice(0, index + 1).join('/')}`)]
}

/**
 * `login.app.example.com` becomes itself, `app.example.com` and `example.com`. An IP address or a single label has
 * none.
 */
const parentDomains = (host: string): string[] => {
  const labels = host.split('.')
  if (labels.length < 2 || /^[\d.]+$|:/.test(host)) return []
  return labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'))
}

/** Keeps the last of several `Set-Cookie` values for one cookie (name, path, domain): RFC 6265bis wants one of each. */
export const lastOfEach = (cookies: string[]): string[] => {
  const last = new Map<string, string>()
  for (const cookie of cookies) {
    const [pair = '', ...attributes] = cookie.split('; ')
    const scope = attributes.filter((attribute) => /^(?:path|domain)=/i.test(attribute))
    last.set([pair.slice(0, pair.indexOf('=')), ...scope].join(';'), cookie)
  }
  return [...last.values()]
}
