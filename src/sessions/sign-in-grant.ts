import type { Queries, Transaction } from '../storage/database.ts'

/**
 * One value of `amr` (RFC 8176): `pwd` a password, or a link that replaces one; `fed` an external provider; `otp` a
 * one-time code; `hwk` a passkey that is bound to its device, `swk` one that is synced; `mfa` more than one factor.
 */
export type AuthenticationMethod = 'pwd' | 'fed' | 'otp' | 'hwk' | 'swk' | 'mfa'

/**
 * Permission to start a session for a user. It is given once a user has authenticated: by a password, by a provider, or
 * by making the account.
 */
export interface SignInGrant {
  userId: string
  /**
   * When the user was last seen to authenticate, in milliseconds since 1970 by the clock of this process; undefined
   * when a provider does not say.
   */
  authenticatedAtMs: number | undefined
  /** The user proved this then, and nothing older; empty where it is not known. */
  amr: readonly AuthenticationMethod[]
  /** The provider by which they authenticated, as the settings name it. */
  provider?: string | undefined
  /** The connection of a provider that has proved the account. */
  identityId?: string | undefined
  /**
   * Asked in the transaction that starts the session. Checking a password or asking a provider is slow: the account may
   * have been disabled, its password changed or the provider disconnected since.
   */
  isStillValid: (transaction: Queries) => Promise<boolean>
}

/** The session of a user who changes their ways to sign in. It must not have ended when the change commits. */
export interface OwnSession {
  userId: string
  sessionId: string
}

/** Changes to an account call these in their transaction. */
export interface SessionRules {
  /** Ends all sessions of a user, or all but one; resolves to how many ended. */
  endSessions: (transaction: Transaction, userId: string, exceptSessionId?: string) => Promise<number>
  /** To be called first in a transaction. `unauthorized` when the session has ended; else it lasts until the commit. */
  requireSession: (transaction: Transaction, sessionId: string, userId: string) => Promise<unknown>
  /**
   * The same, and `forbidden` unless the user has authenticated within the last ten minutes; where the account has a
   * second factor or a passkey, with `mfa` or by a provider that is trusted with it.
   */
  requireRecentAuthentication: (transaction: Transaction, sessionId: string, userId: string) => Promise<unknown>
  /** As `requireRecentAuthentication` for an account with a second factor or a passkey, else as `requireSession`. */
  requireFactors: (transaction: Transaction, sessionId: string, userId: string) => Promise<unknown>
  /**
   * The user of a session has shown more than one factor since they authenticated; does nothing where they had done so
   * then. When they authenticated stays as it is.
   */
  noteMfa: (transaction: Transaction, sessionId: string, amr: readonly AuthenticationMethod[]) => Promise<void>
  /** To be called in a transaction that changes the row of a user, and before the row is deleted. */
  userChanged: (transaction: Transaction, userId: string) => Promise<void>
}
