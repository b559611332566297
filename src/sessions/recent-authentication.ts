import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { Database, Queries } from '../storage/database.ts'
import { currentTimeMs } from './lifetime.ts'
import type { SessionAuthentication } from './session.ts'
import { isByMailAlone } from './sign-in-grant.ts'

/** An authentication counts as recent for this long: it is so short that the same person is still there. */
const RECENT_MS = 10 * 60_000

/** Other subjects know these about the ways in which users authenticate. */
export interface AuthenticationRules {
  /** It tells whether the account has a password that the settings allow. */
  hasPassword: (queries: Queries, userId: string) => Promise<boolean>
  /** It tells whether the account has a second factor or a passkey that the settings allow. */
  hasFactors: (queries: Queries, userId: string) => Promise<boolean>
  /** It tells whether a provider asks for a second factor by itself, so that svc does not. */
  isTrustedProvider: (name: string) => boolean
}

export interface RecentAuthentication {
  /** Tells whether the user has authenticated within the last ten minutes, in any way. */
  isRecent(session: SessionAuthentication): boolean
  /**
   * Tells whether that counts for changes of the account, where it has no second factor and no passkey. A sign-in by
   * mail alone does not count where there is a password.
   */
  isRecentForChanges(session: SessionAuthentication, queries?: Queries): Promise<boolean>
  /** Tells whether they have proved more than one factor then: `mfa`. */
  hasRecentMfa(session: SessionAuthentication): boolean
  /** Tells whether a provider that is trusted with the second factor has proved them then. */
  isRecentlyTrusted(session: SessionAuthentication): boolean
  /** Tells whether the session may change how its user signs in (`requireRecentAuthentication`). */
  isRecentlyAuthenticated(session: SessionAuthentication): Promise<boolean>
  /** Tells whether it may not, since the account has a second factor or a passkey that was not proved then. */
  lacksMfa(session: SessionAuthentication): Promise<boolean>
  /**
   * Throws `forbidden` unless the user has authenticated within the last ten minutes (OWASP ASVS 5, 7.5.1). If the
   * account has a second factor or a passkey, that must be with `mfa` or by a trusted provider; if it has a password,
   * with more than a message.
   */
  requireRecentAuthentication(session: SessionAuthentication, queries?: Queries): Promise<void>
  /** Requires the same for an account with a second factor or a passkey; it requires nothing of others. */
  requireFactors(session: SessionAuthentication, queries?: Queries): Promise<void>
}

interface RecentAuthenticationDeps extends AuthenticationRules {
  db: Database
  clock: Clock
}

export const createRecentAuthentication = (deps: RecentAuthenticationDeps): RecentAuthentication => {
  const { db, clock, hasFactors, hasPassword, isTrustedProvider } = deps

  const isRecent: RecentAuthentication['isRecent'] = (session) => {
    const { authenticatedAtMs } = session
    return authenticatedAtMs !== undefined && currentTimeMs(session, clock) - authenticatedAtMs < RECENT_MS
  }

  const isRecentForChanges: RecentAuthentication['isRecentForChanges'] = async (session, queries = db) =>
    isRecent(session) && !(isByMailAlone(session.amr) && (await hasPassword(queries, session.userId)))

  const hasRecentMfa: RecentAuthentication['hasRecentMfa'] = (session) =>
    session.amr.includes('mfa') && isRecent(session)

  const isRecentlyTrusted: RecentAuthentication['isRecentlyTrusted'] = (session) => {
    const { provider } = session
    return provider !== undefined && isTrustedProvider(provider) && isRecent(session)
  }

  /** Says why the session may not change how its user signs in. */
  const findRefusal = async (session: SessionAuthentication, queries: Queries): Promise<ConfirmReason | undefined> => {
    if (hasRecentMfa(session) || isRecentlyTrusted(session)) return undefined
    if (await hasFactors(queries, session.userId)) return 'confirm_mfa_first'
    return (await isRecentForChanges(session, queries)) ? undefined : 'confirm_first'
  }

  return {
    isRecent,
    isRecentForChanges,
    hasRecentMfa,
    isRecentlyTrusted,
    isRecentlyAuthenticated: async (session) => (await findRefusal(session, db)) === undefined,
    lacksMfa: async (session) => (await findRefusal(session, db)) === 'confirm_mfa_first',

    async requireRecentAuthentication(session, queries = db) {
      const reason = await findRefusal(session, queries)
      if (reason) throw confirmFirst(reason)
    },

    async requireFactors(session, queries = db) {
      if ((await findRefusal(session, queries)) === 'confirm_mfa_first') throw confirmFirst('confirm_mfa_first')
    },
  }
}

/** The second reason applies if the user must confirm with more than one factor. */
type ConfirmReason = 'confirm_first' | 'confirm_mfa_first'

const confirmFirst = (reason: ConfirmReason): AppError =>
  new AppError('forbidden', 'Sign in again first, to confirm that it is you.', { reason })
