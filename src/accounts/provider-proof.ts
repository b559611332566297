import type { Email } from '../lib/email-address.ts'
import type { Transaction } from '../storage/database.ts'

/** An account at a provider, whose owner has just signed in there, or a new passkey. */
export interface ProviderProof {
  /** The provider's name in the settings, or `passkey`. */
  method: string
  /** Undefined where the provider has verified none. */
  verifiedEmail: Email | undefined
  /**
   * Connects it to a user whose row the transaction has locked. Nothing is to be done where it is connected to them
   * already; `conflict` where it is connected to another user.
   */
  connect: (transaction: Transaction, userId: string) => Promise<void>
}
