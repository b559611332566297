import type { RootSecret } from '../lib/derived-keys.ts'
import type { Log } from '../lib/log.ts'
import type { Clock } from '../lib/time.ts'
import type { OAuth } from '../oauth/oauth.ts'
import type { Pages, ProviderView } from '../pages/pages.ts'
import type { RefreshResult, Sessions } from '../sessions/sessions.ts'
import type { SigningKeys } from '../sessions/signing-keys.ts'
import type { Users } from '../users/users.ts'
import type { AccountLog } from './account-log.ts'
import type { CookieWriter } from './cookie-writer.ts'
import type { CookieTable } from './cookies.ts'
import type { FindCurrentSession } from './current-session.ts'
import type { RateLimits } from './rate-limit.ts'
import type { RequestContext } from './request-context.ts'
import type { RequestMetrics } from './request-metrics.ts'

/** What the composition root hands to the HTTP side. */
export interface ServerDeps {
  baseUrl: string
  /** Whether the base URL was set, and is no default. */
  isBaseUrlSet: boolean
  /** Audiences that may be asked for; none listed: any. */
  audiences: string[]
  signupOpen: boolean
  /** Whether the names of all cookies begin with `__Host-` or `__Secure-`. */
  cookiePrefix: boolean
  /** What CSRF tokens are bound to a session with. */
  rootSecret: RootSecret
  /** Whether an address is a proxy whose `X-Forwarded-*` headers are believed. */
  isTrustedProxy: (address: string) => boolean
  clock: Clock
  log: Log
  users: Users
  sessions: Sessions
  keys: SigningKeys
  oauth: OAuth
  /** In the order of their buttons. */
  providers: ProviderView[]
  pages: Pages
  limits: RateLimits
  /** A keyed hash of an email, for the log. */
  pseudonymOf: (email: string) => string
  /** How long browsers shall keep to https, in milliseconds; undefined: that is left to the proxy. */
  hstsMs: number | undefined
  /** Connections that this process holds open at once. */
  maxConnections: number
  /** Undefined: nobody counts. */
  requestMetrics?: RequestMetrics | undefined
  /** While it is so, every answer is the last on its connection. */
  isStopping: () => boolean
  /** Resolves when the service can do its work; otherwise `unavailable`, and the message says what is down. */
  requireReady: () => Promise<void>
}

/** The same with what routes share. */
export interface RouteDeps extends ServerDeps {
  cookieTable: CookieTable
  cookieWriter: CookieWriter
  findCurrentSession: FindCurrentSession
  accountLog: AccountLog
  recordRefresh: (context: RequestContext, result: RefreshResult) => void
}
