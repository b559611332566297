import type { RecordEvent } from '../audit/audit-event.ts'
import { type Caller, userDeviceOf } from '../lib/caller.ts'
import type { Email } from '../lib/email-address.ts'
import type { Clock } from '../lib/time.ts'
import type { UserChange } from '../lib/user-change.ts'
import type { SessionRules } from '../sessions/sign-in-grant.ts'
import type { Database, Transaction } from '../storage/database.ts'
import type { Notify } from '../accounts/account-notice.ts'
import type { AnnounceUpdate } from '../accounts/announcement.ts'
import { requireEmail } from '../accounts/email.ts'
import { changeEvents, changesOf } from '../accounts/change-events.ts'
import { deleteEndedReservations, updateEmail } from '../accounts/email-store.ts'
import type { ApplySecurityEvent } from '../accounts/security-events.ts'
import { lockUserToChange, requireUserById, type UserRecord } from '../accounts/user-store.ts'
import { isOwnAlready, orTaken } from './email-refusals.ts'
import { emailOfLink, type Link } from './link.ts'
import type { Links } from './issued-links.ts'
import type { UndoLinks } from './undo-links.ts'

interface OperatorsEmail {
  email: Email
  /** By default a new address is not verified, and that of the account stays what it is. */
  verified?: boolean | undefined
  /** The default is true where the account is disabled. */
  stolen?: boolean | undefined
  caller?: Caller | undefined
}

/** Changes of address that are made: confirmed by a link, or by an operator. */
export interface EmailChanges {
  /** The address of the account, and the one that it gets when the link is confirmed. */
  describe(link: Link): Promise<{ email: string; newEmail: string }>
  /** `gone` when the link is no longer good, `conflict` when another account has the address by now. */
  confirm(link: Link, caller: Caller): Promise<void>
  /**
   * By an operator. `verified`: the operator vouches for the address. `unprocessable` when it is no address, or the
   * account's own; after a theft that may be it, and everything that would put another one back ends.
   */
  set(userId: string, entered: string, options: Omit<OperatorsEmail, 'email' | 'caller'>): Promise<void>
  /**
   * The same in the transaction of the caller, which has locked the user, and makes other changes of them too; resolves
   * to what has changed, for the event and the record that tell of it. The address is checked, and not the account's own.
   */
  setIn(transaction: Transaction, user: UserRecord, to: OperatorsEmail): Promise<UserChange[]>
  /** Cleanup: deletes reservations of old addresses that have ended; resolves to how many. */
  deleteEndedReservations(nowMs: number): Promise<number>
}

export interface EmailChangesDeps extends Pick<SessionRules, 'userChanged'> {
  db: Database
  clock: Clock
  links: Links
  undoLinks: UndoLinks
  applySecurityEvent: ApplySecurityEvent
  announceUpdate: AnnounceUpdate
  notify: Notify
  recordEvent: RecordEvent
}

interface NewEmail {
  user: UserRecord
  email: Email
  isVerified: boolean
  askedAtMs: number
  /** Whether the other addresses of the account may be a thief's. */
  isStolen: boolean
  /** Undefined: an operator changes it by a command. */
  caller?: Caller | undefined
}

export const createEmailChanges = (deps: EmailChangesDeps): EmailChanges => {
  const { db, clock, links, undoLinks, applySecurityEvent, announceUpdate, notify, recordEvent } = deps

  const change = async (transaction: Transaction, newEmail: NewEmail) => {
    const { user, email, isVerified, askedAtMs, isStolen, caller } = newEmail
    const { id } = user
    const nowMs = clock.now()
    await updateEmail(transaction, { id, email, verifiedAtMs: isVerified ? nowMs : undefined, nowMs })
    await applySecurityEvent(transaction, isStolen ? 'email_taken_back' : 'email_changed', { userId: id, caller })
    const cancelled = { type: 'email.change_cancelled', userId: id, details: { reason: 'stolen' } } as const
    if (isStolen) await recordEvent(transaction, cancelled, caller)
    if (user.emailLower === email.lower) return changesOf(user, email, isVerified)
    // Before the old address is reserved: it gets the message with the link that undoes the change, and not both.
    await notify(transaction, id, { kind: 'email_changed', oldEmail: user.email, newEmail: email.shown }, caller)
    const moving = { user, newEmail: email.shown, askedAtMs, device: userDeviceOf(caller) }
    if (!isStolen) await undoLinks.sendAtChange(transaction, moving)
    return changesOf(user, email, isVerified)
  }

  const changeAndTell = async (transaction: Transaction, newEmail: NewEmail): Promise<void> => {
    const { user, caller } = newEmail
    const changed = await change(transaction, newEmail)
    await announceUpdate(transaction, user.id, changed)
    for (const event of changeEvents(user.id, changed)) await recordEvent(transaction, event, caller)
    await deps.userChanged(transaction, user.id)
  }

  const byOperator = async (
    transaction: Transaction,
    user: UserRecord,
    { email, verified, stolen: isStolen = user.disabled, caller }: OperatorsEmail,
  ): Promise<NewEmail> => {
    const isOwn = user.emailLower === email.lower
    if (isOwn && !isStolen) throw isOwnAlready()
    const isVerified = verified ?? (isOwn && user.emailVerifiedAtMs !== undefined)
    const askedAtMs = await undoLinks.timeOfRequest(transaction, user.id)
    return { user, email, isVerified, askedAtMs, isStolen, caller }
  }

  return {
    setIn: async (transaction, user, to) => change(transaction, await byOperator(transaction, user, to)),

    async describe(link) {
      const { email } = await requireUserById(db, link.userId ?? '')
      return { email, newEmail: emailOfLink(link).shown }
    },

    confirm: (link, caller) =>
      orTaken(() =>
        db.inTransaction(async (transaction) => {
          const { userId = '', createdAtMs: askedAtMs } = link
          await lockUserToChange(transaction, userId)
          await links.use(transaction, link)
          const user = await requireUserById(transaction, userId)
          const email = emailOfLink(link)
          await changeAndTell(transaction, { user, email, isVerified: true, askedAtMs, isStolen: false, caller })
        }),
      ),

    async set(userId, entered, options) {
      const email = requireEmail(entered)
      await orTaken(() =>
        db.inTransaction(async (transaction) => {
          await lockUserToChange(transaction, userId)
          const user = await requireUserById(transaction, userId)
          await changeAndTell(transaction, await byOperator(transaction, user, { email, ...options }))
        }),
      )
    },

    deleteEndedReservations: (nowMs) => deleteEndedReservations(db, nowMs),
  }
}
