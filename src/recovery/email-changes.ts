import type { RecordEvent } from '../audit/audit-event.ts'
import { type Caller, userDeviceOf } from '../lib/caller.ts'
import { type Email, readEmail } from '../lib/email-address.ts'
import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { UserChange } from '../lib/user-change.ts'
import type { SessionRules } from '../sessions/sign-in-grant.ts'
import { type Database, isUniqueViolation, type Transaction } from '../storage/database.ts'
import type { Notify } from '../users/account-notice.ts'
import type { AnnounceUpdate } from '../users/announcement.ts'
import { requireEmail } from '../users/email.ts'
import { changeEvents, changesOf } from '../users/change-events.ts'
import { deleteEndedReservations, updateEmail } from '../users/email-store.ts'
import type { ApplySecurityEvent } from '../users/security-events.ts'
import { lockUserToChange, requireUserById, type UserRecord } from '../users/user-store.ts'
import type { Link } from './link.ts'
import type { Links } from './links.ts'
import type { UndoLinks } from './undo-links.ts'

/** Changes of address that are made: confirmed by a link, or by an operator. */
export interface EmailChanges {
  /** The address of the account, and the one that it gets when the link is confirmed. */
  describe(link: Link): Promise<{ email: string; newEmail: string }>
  /** `gone` when the link is no longer good, `conflict` when another account has the address by now. */
  confirm(link: Link, caller: Caller): Promise<void>
  /**
   * By an operator. `verified`: the operator vouches for the address. `unprocessable` when it is no address, or the
   * account's own.
   */
  set(userId: string, entered: string, options: { verified: boolean }): Promise<void>
  /**
   * The same in the transaction of the caller, which has locked the user, and makes other changes of them too; resolves
   * to what has changed, for the event and the record that tell of it. The address is checked, and not the account's own.
   */
  setIn(
    transaction: Transaction,
    user: UserRecord,
    to: { email: Email; verified: boolean; caller?: Caller | undefined },
  ): Promise<UserChange[]>
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
  /** Undefined: an operator changes it by a command. */
  caller?: Caller | undefined
}

export const createEmailChanges = (deps: EmailChangesDeps): EmailChanges => {
  const { db, clock, links, undoLinks, applySecurityEvent, announceUpdate, notify, recordEvent } = deps

  const change = async (transaction: Transaction, { user, email, isVerified, askedAtMs, caller }: NewEmail) => {
    const { id } = user
    const nowMs = clock.now()
    await updateEmail(transaction, { id, email, verifiedAtMs: isVerified ? nowMs : undefined, nowMs })
    await applySecurityEvent(transaction, 'email_changed', { userId: id, caller })
    // Before the old address is reserved: it gets the message with the link that undoes the change, and not both.
    await notify(transaction, id, { kind: 'email_changed', oldEmail: user.email, newEmail: email.shown }, caller)
    await undoLinks.sendAtChange(transaction, { user, newEmail: email.shown, askedAtMs, device: userDeviceOf(caller) })
    return changesOf(user, email, isVerified)
  }

  const changeAndTell = async (transaction: Transaction, newEmail: NewEmail): Promise<void> => {
    const { user, caller } = newEmail
    const changed = await change(transaction, newEmail)
    await announceUpdate(transaction, user.id, changed)
    for (const event of changeEvents(user.id, changed)) await recordEvent(transaction, event, caller)
    await deps.userChanged(transaction, user.id)
  }

  const setIn: EmailChanges['setIn'] = async (transaction, user, { email, verified: isVerified, caller }) => {
    const askedAtMs = await undoLinks.timeOfRequest(transaction, user.id)
    return change(transaction, { user, email, isVerified, askedAtMs, caller })
  }

  return {
    setIn,

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
          await changeAndTell(transaction, { user, email: emailOfLink(link), isVerified: true, askedAtMs, caller })
        }),
      ),

    async set(userId, entered, { verified }) {
      const email = requireEmail(entered)
      await orTaken(() =>
        db.inTransaction(async (transaction) => {
          await lockUserToChange(transaction, userId)
          const user = await requireUserById(transaction, userId)
          if (user.emailLower === email.lower) throw isOwnAlready()
          const askedAtMs = await undoLinks.timeOfRequest(transaction, userId)
          await changeAndTell(transaction, { user, email, isVerified: verified, askedAtMs })
        }),
      )
    },

    deleteEndedReservations: (nowMs) => deleteEndedReservations(db, nowMs),
  }
}

/** The address that a link is about, as it was entered. */
export const emailOfLink = ({ details }: Link): Email => {
  const email = readEmail(details.email ?? '')
  if (!email) throw new TypeError('The link names no address')
  return email
}

export const isOwnAlready = (): AppError =>
  new AppError('unprocessable', 'This is the email address of the account already.', {
    field: 'email',
    reason: 'email_same',
  })

/** Runs the work; `conflict` where the address belongs to another account, or could be put back to it. */
export const orTaken = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (!isUniqueViolation(error, 'users.email_lower')) throw error
    const details = { field: 'email', reason: 'email_taken', cause: error }
    throw new AppError('conflict', 'Another account has this email address. Nothing was changed.', details)
  }
}
