import type { RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import type { Clock } from '../lib/time.ts'
import type { UserChange } from '../lib/user-change.ts'
import type { Transaction } from '../storage/database.ts'
import type { AnnounceUpdate } from './announcement.ts'
import { changeEvents } from './change-events.ts'
import type { ApplySecurityEvent } from './security-events.ts'
import { takeOverUser } from './email-proof-store.ts'
import { findUserById, lockUserToChange } from './user-store.ts'

interface TakeOverFacts {
  userId: string
  /** The address that was proved, in the form that is compared. */
  emailLower: string
  /** Of the password that the owner of the address has chosen; without it, the account has none afterwards. */
  passwordHash?: string | undefined
  /** What proves the address, for the record: `link`, or the provider's name in the settings. */
  method: string
  /** What a link has set, for the record: `password`, or the provider's name. Undefined without a link. */
  signsInWith?: string | undefined
  caller: Caller
}

interface TakeOverDeps {
  clock: Clock
  applySecurityEvent: ApplySecurityEvent
  announceUpdate: AnnounceUpdate
  recordEvent: RecordEvent
}

/**
 * Gives an account to the owner of its address, by the first proof of that address. An attacker may have made the
 * account to lie in wait for its owner: with a password, sessions, providers, a change of address under way, and roles
 * that an operator meant for the owner. All of that ends in this transaction, and none of it lets the attacker back in.
 * False, and nothing is changed, where the address was proved before or is another one by now, or where the account is
 * disabled.
 *
 * The caller uses up its own link before the call, which ends all links. What proves the address from now on, such as a
 * provider, is added after it. The owner sees what is recorded from the take-over on.
 */
export type TakeOver = (transaction: Transaction, facts: TakeOverFacts) => Promise<boolean>

export const createTakeOver =
  ({ clock, applySecurityEvent, announceUpdate, recordEvent }: TakeOverDeps): TakeOver =>
  async (transaction, { userId, emailLower, passwordHash, method, signsInWith, caller }) => {
    // First, so that nobody signs in or connects a provider at the same moment.
    await lockUserToChange(transaction, userId)
    const before = await findUserById(transaction, userId)
    const nowMs = clock.now()
    if ((await takeOverUser(transaction, { id: userId, emailLower, passwordHash, nowMs })) === 0) return false
    await recordEvent(transaction, { type: 'identity.taken_over', userId, details: { method } }, caller)
    await applySecurityEvent(transaction, 'taken_over', { userId, caller })
    const losesRoles = before?.isSelfMade && before.roles.length > 0
    const changed: UserChange[] = losesRoles ? ['email_verified', 'roles'] : ['email_verified']
    await announceUpdate(transaction, userId, changed)
    for (const event of changeEvents(userId, changed, { roles: [] })) await recordEvent(transaction, event, caller)
    const reset = { type: 'password.reset', userId, details: { method: signsInWith } } as const
    if (signsInWith !== undefined) await recordEvent(transaction, reset, caller)
    return true
  }
