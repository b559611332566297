import type { UserRecord } from '../accounts/user-store.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Notify } from '../accounts/account-notice.ts'
import type { EmailDomains, Names } from '../accounts/fields.ts'
import type { Change } from '../accounts/change.ts'
import type { Ownership } from '../accounts/ownership.ts'
import type { RequireGoodPassword } from '../accounts/passwords/password-rules.ts'
import type { Passwords } from '../accounts/passwords/passwords.ts'
import type { ApplySecurityEvent } from '../accounts/security-events.ts'
import type { RecordEvent } from '../audit/audit-event.ts'
import type { RootSecret } from '../lib/derived-keys.ts'
import type { Clock } from '../lib/time.ts'
import type { Mail } from '../mail/mail.ts'
import type { SessionRules } from '../sessions/sign-in-grant.ts'
import type { FindAsked } from '../sign-in/asked-factor.ts'
import type { Database, Queries, Transaction } from '../storage/database.ts'
import type { IssuedLinks } from './issued-links.ts'
import type { MailLimits } from './mail-limits.ts'

/** The functions of this folder are handed these; each takes a part. */
export interface LinksDeps
  extends Pick<SessionRules, 'requireSession' | 'requireRecentAuthentication'>,
    Pick<Ownership, 'enterInvited' | 'makeInvited' | 'markVerified' | 'reclaim'> {
  db: Database
  clock: Clock
  baseUrl: string
  mail: Mail
  issued: IssuedLinks
  limits: MailLimits
  notify: Notify
  recordEvent: RecordEvent
  users: Pick<Accounts, 'createInvited' | 'createVerified'>
  names: Names
  passwords: Passwords
  requireGoodPassword: RequireGoodPassword
  change: Change
  applySecurityEvent: ApplySecurityEvent
  findAsked: FindAsked
  /** It tells whether the account has a second factor or a passkey that the settings allow. */
  hasFactors: (queries: Queries, userId: string) => Promise<boolean>
  /** It tells whether the account has a passkey that the settings allow. */
  hasPasskey: (queries: Queries, userId: string) => Promise<boolean>
  emailDomains: EmailDomains
  rootSecret: RootSecret
  /** Lets logins of the account begin to count from zero. */
  unlockLogins: (
    transaction: Transaction,
    account: Pick<UserRecord, 'emailLower' | 'username'> & { userId: string },
  ) => Promise<void>
  /** Links are good for this long: the settings `SVC_RESET_TTL`, `SVC_VERIFY_TTL` and `SVC_INVITE_TTL`. */
  lifetimes: { resetMs: number; verifyMs: number; inviteMs: number }
  /** `off` means that there are no messages, and `required` that there is no session before the email is verified. */
  mode: 'off' | 'optional' | 'required'
  /**
   * It tells whether users have passwords: then links to a new password, and those that undo a change, are for a new
   * one.
   */
  acceptsPasswords: boolean
  signIn: {
    /** It tells whether users sign in by mail (`SVC_EMAIL_SIGN_IN`). */
    isOn: boolean
    /** It tells in which browsers they do if they have a passkey (`SVC_EMAIL_SIGN_IN_WITH_PASSKEY`). */
    withPasskey: 'known' | 'always'
    /** It tells whether a message to an address without an account begins one. */
    signupOpen: boolean
  }
}
