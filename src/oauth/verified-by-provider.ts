import type { Caller } from '../lib/caller.ts'
import type { Transaction } from '../storage/database.ts'
import { findUserById } from '../accounts/user-store.ts'
import type { MarkVerified } from '../accounts/verified-email.ts'
import type { ProviderProfile } from './profile.ts'

/**
 * Marks the email of an account as verified where a provider has verified the same one. The user, whose row the
 * transaction has locked, has proved the account in another way: by a session, or by the connection of the provider.
 */
export const createVerifyIfSame =
  (markVerified: MarkVerified) =>
  async (
    transaction: Transaction,
    { email, emailVerified }: ProviderProfile,
    userId: string,
    caller: Caller,
  ): Promise<void> => {
    const user = await findUserById(transaction, userId)
    if (emailVerified && email?.lower === user?.emailLower) await markVerified(transaction, userId, caller)
  }
