import type { RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import type { Clock } from '../lib/time.ts'
import type { SessionRules } from '../sessions/sign-in-grant.ts'
import type { Transaction } from '../storage/database.ts'
import type { AnnounceUpdate } from './announcement.ts'
import { markEmailVerified } from './email-proof-store.ts'

interface VerifiedEmailDeps extends Pick<SessionRules, 'userChanged'> {
  clock: Clock
  announceUpdate: AnnounceUpdate
  recordEvent: RecordEvent
}

/**
 * Marks the email of an account as verified, for a user who has proved the account and the email, each by itself; in
 * their transaction, which has locked the user. The first verification counts.
 */
export type MarkVerified = (transaction: Transaction, userId: string, caller: Caller) => Promise<void>

export const createMarkVerified =
  ({ clock, userChanged, announceUpdate, recordEvent }: VerifiedEmailDeps): MarkVerified =>
  async (transaction, userId, caller) => {
    if ((await markEmailVerified(transaction, userId, clock.now())) === 0) return
    // A session that stays is cached with its user.
    await userChanged(transaction, userId)
    await announceUpdate(transaction, userId, ['email_verified'])
    await recordEvent(transaction, { type: 'email.verified', userId }, caller)
  }
