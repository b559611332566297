import type { Caller } from '../lib/caller.ts'
import type { Transaction } from '../storage/database.ts'

/** All conditions that are given hold for the grants that are meant. */
export interface WhichGrants {
  id?: string | undefined
  userId?: string | undefined
  clientId?: string | undefined
  /** They do not hang on this session. */
  exceptSessionId?: string | undefined
}

/** Why grants end. */
export interface GrantsEnd {
  /** Their records have it. */
  reason: string
  caller?: Caller | undefined
}

/** It is the reason of what nobody has ended: its time is up. */
export const EXPIRED = 'expired'

/**
 * Grants of clients end with what ends sessions, also while the OAuth server is switched off (`SVC_CLIENTS`): switching
 * it on again revives none. The database refuses to delete users, clients and sessions whose grants are left.
 */
export interface ClientGrants {
  /** Ends grants in the transaction of what ends them, and records each; it resolves to how many ended. */
  endGrants(transaction: Transaction, which: WhichGrants, reason: string, caller?: Caller): Promise<number>
  /** Ends what hangs on sessions, in the transaction that has deleted these. There is no record if these have expired. */
  endHanging(transaction: Transaction, sessionIds: readonly string[], end: GrantsEnd): Promise<unknown>
  /** Ends grants of all users, the oldest first and no more than this many, with one record for all. */
  endSomeGrants(transaction: Transaction, limit: number): Promise<number>
  /** Hands what hung on a session to the session of the same user that has replaced it. */
  moveGrants(transaction: Transaction, sessionId: string, successorId: string): Promise<unknown>
  /** It must be called in a transaction that changes the row of a user. */
  forgetGrantsOfUser(transaction: Transaction): void
}
