import type { Caller } from '../lib/caller.ts'
import type { Queries, Transaction } from '../storage/database.ts'

/**
 * It is one value of `amr` (RFC 8176). `pwd` is a password, or a link that replaces one; `fed` is an external provider;
 * `otp` is a one-time code: of an app beside another proof, or alone, of a message; `hwk` is a passkey that is bound to its device, `swk` one that is synced; `mfa` is more
 * than one factor.
 */
export type AuthenticationMethod = 'pwd' | 'fed' | 'otp' | 'hwk' | 'swk' | 'mfa'

/** Tells whether a user has proved that they read their mail, and nothing else: a code of an app comes with `mfa`. */
export const isByMailAlone = (amr: readonly AuthenticationMethod[]): boolean =>
  amr.includes('otp') && !amr.includes('mfa')

/**
 * A grant permits the start of a session for a user. It is given once a user has authenticated: by a password, by a
 * provider, or by making the account.
 */
export interface SignInGrant {
  userId: string
  /**
   * The user was last seen to authenticate at this time, in milliseconds since 1970 by the clock of this process. It is
   * undefined when a provider does not say.
   */
  authenticatedAtMs: number | undefined
  /** The user proved this then, and nothing older; it is empty if it is not known. */
  amr: readonly AuthenticationMethod[]
  /** They authenticated by this provider, as the settings name it. */
  provider?: string | undefined
  /** This connection of a provider has proved the account. */
  identityId?: string | undefined
  /**
   * It is asked in the transaction that starts the session. The check of a password or the request to a provider is
   * slow: the account may have been disabled, its password changed or the provider disconnected since.
   */
  isStillValid: (transaction: Queries) => Promise<boolean>
}

/** It is the session of a user who changes their ways to sign in. It must not have ended when the change commits. */
export interface OwnSession {
  userId: string
  sessionId: string
}

/** A session that lasts until the commit: what was proved in it, and the time of the database's server, if there is one. */
interface HeldSession extends Pick<SignInGrant, 'authenticatedAtMs' | 'amr'> {
  readAtMs: number | undefined
}

/** Changes to an account call these in their transaction. */
export interface SessionRules {
  /**
   * Ends all sessions of a user, or all but one, and the grants of clients that hang on them; it resolves to how many
   * sessions ended. The records of the grants have the reason. It comes before the user is deleted.
   */
  endSessions: (
    transaction: Transaction,
    userId: string,
    reason: string,
    options?: { exceptId?: string | undefined; caller?: Caller | undefined },
  ) => Promise<number>
  /**
   * It must be called first in a transaction. It throws `unauthorized` when the session has ended; else it lasts until
   * the commit.
   */
  requireSession: (transaction: Transaction, sessionId: string, userId: string) => Promise<HeldSession>
  /**
   * Requires the same, and throws `forbidden` unless the user has authenticated within the last ten minutes. If the
   * account has a second factor or a passkey, that must be with `mfa` or by a provider that is trusted with it.
   */
  requireRecentAuthentication: (transaction: Transaction, sessionId: string, userId: string) => Promise<unknown>
  /**
   * Does what `requireRecentAuthentication` does for an account with a second factor or a passkey, else what
   * `requireSession` does.
   */
  requireFactors: (transaction: Transaction, sessionId: string, userId: string) => Promise<unknown>
  /**
   * Notes that the user of a session has shown more than one factor since they authenticated. It does nothing if they
   * had done so then. The time of the authentication stays as it is.
   */
  noteMfa: (transaction: Transaction, sessionId: string, amr: readonly AuthenticationMethod[]) => Promise<void>
  /** It must be called in a transaction that changes the row of a user. */
  userChanged: (transaction: Transaction, userId: string) => Promise<void>
}
