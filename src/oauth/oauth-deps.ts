import type { Notify } from '../accounts/account-notice.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { HasPassword } from '../accounts/authentication.ts'
import type { EmailDomains, Names } from '../accounts/fields.ts'
import type { Ownership } from '../accounts/ownership.ts'
import type { ApplySecurityEvent } from '../accounts/security-events.ts'
import type { RecordEvent } from '../audit/audit-event.ts'
import type { RootSecret } from '../lib/derived-keys.ts'
import type { Clock } from '../lib/time.ts'
import type { SessionRules } from '../sessions/sign-in-grant.ts'
import type { Database, Queries } from '../storage/database.ts'
import type { ProviderFactor } from './provider-factor.ts'
import type { ProviderProfile } from './providers/profile.ts'
import type { ProviderSettings } from './providers/presets.ts'
import type { ProviderFetch } from './providers/provider-fetch.ts'

export interface OAuthDeps
  extends Pick<SessionRules, 'requireSession' | 'requireRecentAuthentication'>,
    Pick<Ownership, 'reclaim' | 'enterInvited' | 'markVerified'> {
  db: Database
  applySecurityEvent: ApplySecurityEvent
  notify: Notify
  recordEvent: RecordEvent
  clock: Clock
  rootSecret: RootSecret
  baseUrl: string
  users: Pick<Accounts, 'createFromProfile'>
  names: Names
  signupOpen: boolean
  emailDomains: EmailDomains
  hasPassword: HasPassword
  /** It tells whether every user can sign in by mail. */
  signsInByMail: boolean
  /** It tells whether the user can sign in with a passkey. */
  hasPasskey: (queries: Queries, userId: string) => Promise<boolean>
  /** They are in the order of their buttons. */
  providers: ProviderSettings[]
  /** Limits each request to a provider. */
  timeoutMs: number
  /** Answers for a provider that is in this process, by its issuer; all others are asked over the network. */
  fetchFrom?: ((issuer: string) => ProviderFetch | undefined) | undefined
}

/** The functions of this folder are handed the same, each a part, with what follows from the settings. */
export interface ProvidersDeps extends OAuthDeps {
  /** Gives the name that people have for a provider. */
  labelOf: (provider: string) => string
  /** These are the names of the providers that are configured now. */
  providerNames: readonly string[]
  /** Tells whether a sign-in by this profile spares our second factor. */
  factorOf: (profile: ProviderProfile) => ProviderFactor
}
