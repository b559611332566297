import type { Notify } from '../accounts/account-notice.ts'
import type { Passwords } from '../accounts/passwords/passwords.ts'
import type { ApplySecurityEvent } from '../accounts/security-events.ts'
import type { RecordEvent } from '../audit/audit-event.ts'
import type { RootSecret } from '../lib/derived-keys.ts'
import type { Clock } from '../lib/time.ts'
import type { SessionRules } from '../sessions/sign-in-grant.ts'
import type { Database } from '../storage/database.ts'
import type { FactorLookup } from './account-factors.ts'

/** The functions of this folder are handed these; each takes a part. */
export interface FactorDeps extends Pick<SessionRules, 'requireRecentAuthentication'> {
  db: Database
  clock: Clock
  rootSecret: RootSecret
  passwords: Passwords
  applySecurityEvent: ApplySecurityEvent
  notify: Notify
  recordEvent: RecordEvent
  /** The app shows the name of the application. */
  appName: string
  /** It tells whether codes of an app can be set up and are accepted (`SVC_SECOND_FACTOR`). */
  acceptsCodes: boolean
  factors: FactorLookup
  /** It tells whether tries are limited (`SVC_RATE_LIMIT`). */
  rateLimit: boolean
}
