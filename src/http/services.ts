import type { ApiKeys, Idempotency } from '../api-keys/api-keys.ts'
import type { Audit } from '../audit/audit.ts'
import type { KnownBrowsers } from '../sign-in/known-browsers.ts'
import type { Clients } from '../clients/clients.ts'
import type { UserDirectory } from '../accounts/directory/directory.ts'
import type { RootSecret } from '../lib/derived-keys.ts'
import type { Languages } from '../languages/languages.ts'
import type { Log } from '../lib/log.ts'
import type { Clock } from '../lib/time.ts'
import type { Limits } from '../limits/limits.ts'
import type { Mail } from '../mail/mail.ts'
import type { OAuth } from '../oauth/oauth.ts'
import type { Frame } from './frame.ts'
import type { Passkeys } from '../passkeys/passkeys.ts'
import type { Links } from '../links/links.ts'
import type { RevocationFeed } from '../revocations/revocations.ts'
import type { SecondFactors } from '../second-factor/second-factors.ts'
import type { PendingSignIns } from '../sign-in/pending-sign-ins.ts'
import type { SigningKeys } from '../sessions/keys/signing-keys.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { EmailDomains, NamesMode } from '../accounts/fields.ts'
import type { Notify } from '../accounts/account-notice.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { AccountLog } from '../audit/account-log.ts'
import type { CookieWriter } from './cookie-writer.ts'
import type { CookieTable } from './cookies.ts'
import type { FindCurrentSession } from './current-session.ts'
import type { FinishRefresh } from './finish-refresh.ts'
import type { RequestMetrics } from './request-metrics.ts'

/** The form of an external provider posts to `/auth/oauth/{name}`. */
export interface ProviderView {
  name: string
  label: string
  /** It is on this origin, or on one that was named in `FrameSettings`: otherwise the policy blocks it. */
  iconUrl?: string | undefined
}

/** The composition root hands this to the HTTP side. */
export interface ServerDeps {
  baseUrl: string
  /** This tells whether the base URL was set, and is no default. */
  isBaseUrlSet: boolean
  /** A login without `return_to` and a logout end at this path. */
  homeUrl: string
  /** Users who have just created an account go to this path first. If it is undefined, they go where a login goes. */
  afterSignupUrl: string | undefined
  /** Clients may request these audiences. If the list is empty, they may request any. */
  audiences: string[]
  /** This says which users may create an account. `providers` means only users who come from a provider. */
  signup: 'on' | 'providers' | 'off'
  /** This tells whether a password is asked for anywhere; otherwise users sign in with a provider. */
  passwords: boolean
  /** This tells whether users sign in with a code or a link that svc mails to them. */
  emailSignIn: boolean
  /** This tells whether users choose a username and see it. */
  usernames: boolean
  /** This tells with what, beside the password, users log in: with the email, or with the email or the username. */
  loginWith: 'email' | 'both'
  /** This tells whether people give their name, and whether they must. */
  names: NamesMode
  /** This tells whether the names of all cookies begin with `__Host-` or `__Secure-`. */
  cookiePrefix: boolean
  /** The secret binds CSRF tokens to sessions. */
  rootSecret: RootSecret
  /** Tells whether an address is a proxy whose `X-Forwarded-*` headers are believed. */
  isTrustedProxy: (address: string) => boolean
  clock: Clock
  log: Log
  languages: Languages
  apiKeys: ApiKeys
  idempotency: Idempotency
  users: Accounts
  /** The directory is loaded with the first request that needs it, as pages are. */
  loadDirectory: () => Promise<UserDirectory>
  /** Tokens of cookies are never for these: they are for tokens of clients. */
  clientResources: string[]
  /** This tells whether svc is the OAuth server of its application; if it is false, nothing of it is loaded. */
  hasClients: boolean
  /** This tells whether clients may register themselves. */
  clientsRegister: boolean
  loadClients: () => Promise<Clients>
  loadRevocationFeed: () => Promise<RevocationFeed>
  emailDomains: EmailDomains
  sessions: Sessions
  signingKeys: SigningKeys
  oauth: OAuth
  secondFactors: SecondFactors
  passkeys: Passkeys
  knownBrowsers: KnownBrowsers
  audit: Audit
  pendingSignIns: PendingSignIns
  /**
   * This tells whether a second factor is asked for if there is one, or is even required of users who sign in with a
   * password.
   */
  secondFactorMode: 'off' | 'optional' | 'required'
  notify: Notify
  mail: Mail
  links: Links
  /** The list has the order of their buttons. */
  providers: ProviderView[]
  frame: Frame
  limits: Limits
  /** Makes a keyed hash of an email, for the log. */
  pseudonymOf: (email: string) => string
  /** Browsers use https only for this long, in milliseconds. If it is undefined, the proxy decides. */
  hstsMs: number | undefined
  /** This process holds this many connections open at once. */
  maxConnections: number
  /** This is undefined if metrics are off. */
  requestMetrics?: RequestMetrics | undefined
  /** While the service stops, each response closes its connection, so that clients go to another replica. */
  isStopping: () => boolean
  /**
   * Resolves when the service can do its work. Otherwise it throws `unavailable`, and the message says what is down.
   */
  requireReady: () => Promise<void>
}

/** Handlers are made from these services, each with a `Pick` of them. */
export interface Services extends ServerDeps {
  cookieTable: CookieTable
  cookieWriter: CookieWriter
  findCurrentSession: FindCurrentSession
  accountLog: AccountLog
  finishRefresh: FinishRefresh
  /** The directory is loaded with the first request of the server API that needs it. */
  directory: UserDirectory
}

/** These services start a session, and recognise its browser. */
export type SessionServices = Pick<
  Services,
  'cookieWriter' | 'knownBrowsers' | 'limits' | 'notify' | 'sessions' | 'users'
>

/** Pages offer these ways to sign in. */
export type OfferedWays = Pick<Services, 'emailSignIn' | 'passkeys' | 'passwords' | 'providers'>

/** These are the services except those that are loaded later. */
export type RouteDeps = Omit<Services, 'directory'>
