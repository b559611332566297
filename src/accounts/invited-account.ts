import type { RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import type { UserChange } from '../lib/user-change.ts'
import type { Clock } from '../lib/time.ts'
import type { SessionRules } from '../sessions/sign-in-grant.ts'
import type { Transaction } from '../storage/database.ts'
import type { AnnounceUpdate } from './announcement.ts'
import { changeEvents } from './change-events.ts'
import { enterInvitedUser } from './invited-account-store.ts'
import { takenError } from './taken.ts'
import type { ApplySecurityEvent } from './security-events.ts'
import { findUserById, lockUserToChange, updateUsername } from './user-store.ts'

interface EnteredAccount {
  userId: string
  /** The address that was proved, in the form that is compared. */
  emailLower: string
  /** Undefined: the account has no password. */
  passwordHash?: string | undefined
  /** Checked; undefined: it stays. */
  username?: string | undefined
  caller: Caller
}

/**
 * Lets the user enter an account that was made by an invitation: by its link, or with a provider that has verified the
 * address. The email is verified from then on, and no other link of the account is good any more. False, and nothing is
 * changed, when the account was entered before, has another email by now, or is disabled; `conflict` for a taken
 * username. What signs the user in from now on, such as a provider, is added after the call.
 */
export type EnterInvited = (transaction: Transaction, account: EnteredAccount) => Promise<boolean>

interface EnterInvitedDeps extends Pick<SessionRules, 'userChanged'> {
  clock: Clock
  applySecurityEvent: ApplySecurityEvent
  announceUpdate: AnnounceUpdate
  recordEvent: RecordEvent
}

export const createEnterInvited =
  ({ clock, applySecurityEvent, announceUpdate, userChanged, recordEvent }: EnterInvitedDeps): EnterInvited =>
  async (transaction, { userId, emailLower, passwordHash, username, caller }) => {
    await lockUserToChange(transaction, userId)
    const before = await findUserById(transaction, userId)
    const nowMs = clock.now()
    const entered = await enterInvitedUser(transaction, { id: userId, emailLower, passwordHash, nowMs })
    if (entered === 0) return false
    const changed: UserChange[] = before?.emailVerifiedAtMs === undefined ? ['email_verified'] : []
    if (username !== undefined && (await changeUsername(transaction, { id: userId, username, nowMs })))
      changed.push('username')
    await recordEvent(transaction, { type: 'signup', userId, details: { method: 'invitation' } }, caller)
    await applySecurityEvent(transaction, 'taken_over', { userId, caller })
    await userChanged(transaction, userId)
    await announceUpdate(transaction, userId, changed)
    for (const event of changeEvents(userId, changed)) await recordEvent(transaction, event, caller)
    return true
  }

const changeUsername = async (
  transaction: Transaction,
  change: { id: string; username: string; nowMs: number },
): Promise<boolean> => {
  try {
    return (await updateUsername(transaction, change)) > 0
  } catch (error) {
    throw takenError(error)
  }
}
