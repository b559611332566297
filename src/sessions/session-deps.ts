import type { RecordEvent } from '../audit/audit-event.ts'
import type { RecordRevocations } from '../revocations/recording.ts'
import type { Log } from '../lib/log.ts'
import type { Clock } from '../lib/time.ts'
import type { Database, Transaction } from '../storage/database.ts'
import type { ClientGrants } from './client-grants.ts'
import type { IssueTokens } from './issue-tokens.ts'
import type { SigningKeys } from './keys/signing-keys.ts'
import type { Lifetimes } from './lifetime.ts'
import type { RecentAuthentication } from './recent-authentication.ts'
import type { CachedSessions } from './session-store.ts'
import type { AccessTokens } from './tokens/access-token.ts'
import type { RefreshTokens } from './tokens/refresh-token.ts'

/** The functions of this folder are handed these; each takes a part. */
export interface SessionDeps extends Pick<RecentAuthentication, 'requireRecentAuthentication' | 'requireFactors'> {
  db: Database
  log: Log
  clock: Clock
  lifetimes: Lifetimes
  defaultAudience: string
  signingKeys: SigningKeys
  accessTokens: AccessTokens
  refreshTokens: RefreshTokens
  issueTokens: IssueTokens
  cachedSessions: CachedSessions
  recordEvent: RecordEvent
  revocations: RecordRevocations
  /** What hangs on a session ends with it. */
  clientGrants: ClientGrants
  /**
   * Ends the sign-ins that have proved a password or a provider, and wait for a second factor. It comes first, and
   * locks the user.
   */
  endPendingSignIns: (transaction: Transaction, userId: string) => Promise<unknown>
  /**
   * Does the same for the users who follow one in order of id. It resolves to the last of them, or undefined for none.
   */
  endPendingSignInsAfter: (db: Database, from: { after: string; limit: number }) => Promise<string | undefined>
}
