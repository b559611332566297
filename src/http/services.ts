import type { ApiKeys, Idempotency } from '../api-keys/api-keys.ts'
import type { Audit } from '../audit/audit.ts'
import type { KnownBrowsers } from '../sign-in/known-browsers.ts'
import type { UserDirectory } from '../accounts/directory/directory.ts'
import type { RootSecret } from '../lib/derived-keys.ts'
import type { Log } from '../lib/log.ts'
import type { Clock } from '../lib/time.ts'
import type { Limits } from '../limits/limits.ts'
import type { Mail } from '../mail/mail.ts'
import type { OAuth } from '../oauth/oauth.ts'
import type { Pages } from '../pages/pages.ts'
import type { Frame } from '../pages/site/frame.ts'
import type { ProviderView } from '../pages/site/providers.ts'
import type { Passkeys } from '../passkeys/passkeys.ts'
import type { Recovery } from '../links/links.ts'
import type { SecondFactors } from '../second-factor/second-factors.ts'
import type { PendingSignIns } from '../sign-in/pending-sign-ins.ts'
import type { SigningKeys } from '../sessions/keys/signing-keys.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { EmailDomains } from '../accounts/fields.ts'
import type { Notify } from '../accounts/account-notice.ts'
import type { Users } from '../accounts/accounts.ts'
import type { AccountLog } from '../audit/account-log.ts'
import type { CookieWriter } from './cookie-writer.ts'
import type { CookieTable } from './cookies.ts'
import type { FindCurrentSession } from './current-session.ts'
import type { FinishRefresh } from './finish-refresh.ts'
import type { RequestMetrics } from './request-metrics.ts'

/** What the composition root hands to the HTTP side. */
export interface ServerDeps {
  baseUrl: string
  /** Whether the base URL was set, and is no default. */
  isBaseUrlSet: boolean
  /** The path where a login without `return_to` and a logout end. */
  homeUrl: string
  /** The audiences that clients may request; empty: any. */
  audiences: string[]
  /** Who may create an account; `providers`: users who come from a provider alone. */
  signup: 'on' | 'providers' | 'off'
  /** Whether a password is asked for anywhere; otherwise users sign in with a provider. */
  passwords: boolean
  /** Whether users choose a username and see it. */
  usernames: boolean
  /** Whether the names of all cookies begin with `__Host-` or `__Secure-`. */
  cookiePrefix: boolean
  /** Binds CSRF tokens to sessions. */
  rootSecret: RootSecret
  /** Whether an address is a proxy whose `X-Forwarded-*` headers are believed. */
  isTrustedProxy: (address: string) => boolean
  clock: Clock
  log: Log
  apiKeys: ApiKeys
  idempotency: Idempotency
  users: Users
  /** Loaded with the first request that needs it, as the pages are. */
  loadDirectory: () => Promise<UserDirectory>
  emailDomains: EmailDomains
  sessions: Sessions
  signingKeys: SigningKeys
  oauth: OAuth
  secondFactors: SecondFactors
  passkeys: Passkeys
  knownBrowsers: KnownBrowsers
  audit: Audit
  pendingSignIns: PendingSignIns
  /** Whether a second factor is asked for where there is one, or even required of those who sign in with a password. */
  secondFactorMode: 'off' | 'optional' | 'required'
  notify: Notify
  mail: Mail
  recovery: Recovery
  /** In the order of their buttons. */
  providers: ProviderView[]
  frame: Frame
  /** All pages, which are loaded with the first request for one of them. */
  loadPages: () => Promise<Pages>
  limits: Limits
  /** A keyed hash of an email, for the log. */
  pseudonymOf: (email: string) => string
  /** How long browsers use https only, in milliseconds; undefined: the proxy decides. */
  hstsMs: number | undefined
  /** How many connections this process holds open at once. */
  maxConnections: number
  /** Undefined where metrics are off. */
  requestMetrics?: RequestMetrics | undefined
  /** While the service stops, each response closes its connection, so that clients go to another replica. */
  isStopping: () => boolean
  /** Resolves when the service can do its work; otherwise `unavailable`, and the message says what is down. */
  requireReady: () => Promise<void>
}

/** What handlers are made from, each with a `Pick` of it. */
export interface Services extends ServerDeps {
  cookieTable: CookieTable
  cookieWriter: CookieWriter
  findCurrentSession: FindCurrentSession
  accountLog: AccountLog
  finishRefresh: FinishRefresh
  /** Loaded with the first request for a page. */
  pages: Pages
  /** Loaded with the first request of the server API that needs it. */
  directory: UserDirectory
}

/** What starts a session, and recognises its browser. */
export type SessionServices = Pick<Services, 'cookieWriter' | 'knownBrowsers' | 'limits' | 'notify' | 'sessions'>

/** The ways to sign in that pages offer. */
export type OfferedWays = Pick<Services, 'passkeys' | 'passwords' | 'providers'>

/** Without those that are loaded later. */
export type RouteDeps = Omit<Services, 'pages' | 'directory'>
