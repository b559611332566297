import type { Caller } from '../lib/caller.ts'
import type { Transaction } from '../storage/database.ts'

/** All conditions that are given hold for the grants that are meant. */
export interface WhichGrants {
  id?: string | undefined
  userId?: string | undefined
  clientId?: string | undefined
  /** They hang on this session. */
  sessionId?: string | undefined
  /** They do not hang on this session. */
  exceptSessionId?: string | undefined
  /** They hang on any session. */
  hanging?: true | undefined
}

/**
 * Grants of clients end with what ends sessions, also while the OAuth server is switched off (`SVC_CLIENTS`): switching
 * it on again revives none.
 */
export interface ClientGrants {
  /**
   * Ends grants, and records each with the reason, in the transaction of what ends them; it resolves to how many ended.
   * It comes before sessions or users are deleted: the database would delete their grants with them, unrecorded.
   */
  endGrants(transaction: Transaction, which: WhichGrants, reason: string, caller?: Caller): Promise<number>
  /** Ends grants of all users, the oldest first and no more than this many, with one record for all. */
  endSomeGrants(transaction: Transaction, limit: number): Promise<number>
  /** Hands what hangs on a session to the session of the same user that replaces it. */
  moveGrants(transaction: Transaction, sessionId: string, successorId: string): Promise<unknown>
  /** It must be called in a transaction that changes the row of a user. */
  forgetGrantsOfUser(transaction: Transaction): void
}
