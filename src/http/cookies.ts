import { randomToken } from '../lib/secrets.ts'

/** The role says what a cookie is for. */
export type CookieRole =
  | 'access'
  | 'refresh'
  | 'csrf'
  | 'oauth'
  | 'device'
  | 'link'
  | 'pending'
  | 'stay'
  | 'codes'
  | 'done'
  | 'lastWay'
  | 'language'
  | 'offered'

/** These cookies tell scripts of the application how things are. svc writes them and never reads them. */
type SignalRole = 'session' | 'fresh'

interface Cookie {
  name: string
  path: string
  httpOnly: boolean
}

/** The table holds the cookies of this service, as it is configured (CONTRACT.md 5.1). */
export type CookieTable = Readonly<Record<CookieRole | SignalRole, Cookie>>

const SIGNALS: ReadonlySet<string> = new Set<SignalRole>(['session', 'fresh'])

/** Lists the cookies of a table that svc reads, with their roles. */
export const readableCookies = (table: CookieTable): [CookieRole, Cookie][] =>
  Object.entries(table).filter(([role]) => !SIGNALS.has(role)) as [CookieRole, Cookie][]

/**
 * This is the one place that knows the cookies' names and attributes. A browser takes a cookie with the prefix
 * `__Host-` from this very host alone, over https and for every path, and one with `__Secure-` over https (RFC 6265bis
 * section 4.1.3).
 */
export const createCookieTable = (settings: { baseUrl: string; cookiePrefix: boolean }): CookieTable => {
  const [host, secure] = settings.cookiePrefix ? ['__Host-', '__Secure-'] : ['', '']
  const isHttps = settings.baseUrl.startsWith('https:')
  const ofThisHost = (name: string, path = '/auth'): Cookie =>
    isHttps ? { name: `__Host-${name}`, path: '/', httpOnly: true } : { name, path, httpOnly: true }
  return {
    access: { name: `${host}svc_access`, path: '/', httpOnly: true },
    refresh: { name: `${secure}svc_refresh`, path: '/auth', httpOnly: true },
    csrf: { name: `${host}svc_csrf`, path: '/', httpOnly: false },
    // The first says that there is a session, and the second that its access token is good for a while yet
    // (`pages/session.js`).
    session: { name: `${host}svc_session`, path: '/', httpOnly: false },
    fresh: { name: `${host}svc_fresh`, path: '/', httpOnly: false },
    // This proves that the browser that returns from a provider is the one that was sent there.
    oauth: ofThisHost('svc_oauth', '/auth/oauth'),
    // This says how often the login page has sent the browser straight on, or that it must not
    // (`web/login/straight-on.ts`).
    stay: { name: `${secure}svc_stay`, path: '/auth/login', httpOnly: true },
    // Accounts recognise the browser by this.
    device: { name: `${secure}svc_device`, path: '/auth', httpOnly: true },
    // This names the last way to sign in, and no user, so that the login page can point to it.
    lastWay: { name: `${secure}svc_last_way`, path: '/auth', httpOnly: true },
    // This is the language that was picked at the foot of a page. No other host of the domain may set it.
    language: { name: `${host}svc_language`, path: '/', httpOnly: true },
    // This says when the account page has offered a passkey, so that it does not do so on every visit.
    offered: { name: `${secure}svc_offered`, path: '/auth/account', httpOnly: true },
    // This holds new recovery codes, sealed, until the page has shown them.
    codes: { name: `${secure}svc_codes`, path: '/auth/account', httpOnly: true },
    // This tells the browser that asked for a link from others in which the link is opened.
    link: ofThisHost('svc_link'),
    // This says what the user has done last, so that no link of a stranger makes a page say it.
    done: ofThisHost('svc_done'),
    // This holds what was proved in a sign-in that waits for a second factor.
    pending: ofThisHost('svc_pending'),
  }
}

const TOKEN = /^[\w-]{43}$/

/** Tells whether a text has the form of a token that `newToken` makes. */
export const isToken = (text: string | undefined): text is string => text !== undefined && TOKEN.test(text)

export const newToken = (): string => randomToken(32)
