import type { AuditEvent, RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import type { Clock } from '../lib/time.ts'
import type { UserChange } from '../lib/user-change.ts'
import type { SessionRules } from '../sessions/sign-in-grant.ts'
import type { Database, Transaction } from '../storage/database.ts'
import type { AccountNotice, Notify } from './account-notice.ts'
import {
  type Cause,
  CAUSES,
  changedUser,
  type Changes,
  changesOf,
  type Consequences,
  firstRecord,
  hasMoved,
  type Moved,
  nameNoticesOf,
  noticesOf,
  recordsOf,
} from './causes.ts'
import type { ApplySecurityEvent, SecurityEvent } from './security-events.ts'
import { deleteUser, lockUserToChange, requireUserToChange, updateUser, type UserRecord } from './user-store.ts'

export type { Cause, Changes } from './causes.ts'

/** Writes the event, in the transaction of the change, that tells the application. */
export type Announce = (
  transaction: Transaction,
  type: 'user.created' | 'user.deleted',
  userId: string,
) => Promise<void>

/** Does the same for `user.updated`. `changed` names only real changes; there is no event when it is empty. */
type AnnounceUpdate = (transaction: Transaction, userId: string, changed: readonly UserChange[]) => Promise<void>

interface Changed extends Moved {
  changed: UserChange[]
  /** These providers were disconnected. */
  disconnected: string[]
}

export interface LeftEmail {
  /** The account, as it was before. */
  user: UserRecord
  newEmail: string
  askedAtMs: number | undefined
  caller: Caller | undefined
}

/**
 * Changes a user, and does all that follows from it, in the transaction of the caller. `not_found` for a user who does
 * not exist; `UniqueViolation` for a taken email or username.
 */
export type Change = (transaction: Transaction, userId: string, changes: Changes, cause: Cause) => Promise<Changed>

export interface ChangeDeps extends Pick<SessionRules, 'userChanged'> {
  clock: Clock
  /** Tells the verifiers of tokens. */
  claimsChanged: (transaction: Transaction, userId: string) => Promise<unknown>
  recordEvent: RecordEvent
  announceUpdate: AnnounceUpdate
  applySecurityEvent: ApplySecurityEvent
  notify: Notify
  /** Sends the link that undoes a change of address, and reserves the address. */
  leaveEmail: (transaction: Transaction, left: LeftEmail) => Promise<unknown>
}

/** Tokens hold these. */
const CLAIMS: ReadonlySet<UserChange> = new Set(['roles', 'email', 'email_verified'])

export const createChange = (deps: ChangeDeps): Change => {
  const { clock, recordEvent, announceUpdate, applySecurityEvent, notify, userChanged, claimsChanged } = deps

  return async (transaction, userId, changes, cause) => {
    const { caller, sessionId, sinceMs, keepsConnections, askedAtMs } = cause
    const { event, emailEvent, passwordEvent }: Consequences = CAUSES[cause.by]
    const tell = async (notices: AccountNotice[]): Promise<void> => {
      for (const notice of notices) await notify(transaction, userId, notice, caller)
    }
    const record = async (recorded: AuditEvent | undefined): Promise<void> => {
      if (recorded) await recordEvent(transaction, { ...recorded, userId, sessionId }, caller)
    }
    const disconnected: string[] = []
    let { applicationsEnded = false } = cause
    const apply = async (applied: SecurityEvent | undefined): Promise<void> => {
      if (applied === undefined) return
      const facts = { userId, sessionId, sinceMs, keepsConnections, caller }
      const ended = await applySecurityEvent(transaction, applied, facts)
      disconnected.push(...ended.providers)
      applicationsEnded ||= ended.grants > 0
    }

    const before = await requireUserToChange(transaction, userId)
    const after = changedUser(before, changes, clock.now())
    const moved = { before, after }
    const changed = changesOf(moved)
    await tell(nameNoticesOf(moved, cause))
    await updateUser(transaction, before, after, clock.now())
    // A cached session has its user in it, and sessions that have ended could not be found afterwards.
    if (changed.length > 0) await userChanged(transaction, userId)
    if (changed.some((each) => CLAIMS.has(each))) await claimsChanged(transaction, userId)
    await record(firstRecord(cause))
    await apply(event)
    for (const each of recordsOf(moved, changes, cause)) await record(each)
    const newEmailEvent = hasMoved(moved) ? emailEvent : undefined
    await apply(newEmailEvent)
    await apply(changes.passwordHash === undefined ? undefined : passwordEvent)
    await tell(noticesOf(moved, changes, { ...cause, applicationsEnded }))
    // After the notice: the address that is left gets the message with the link that undoes the change, and not both.
    if (newEmailEvent) await deps.leaveEmail(transaction, { user: before, newEmail: after.email, askedAtMs, caller })
    await apply(changes.disabled ? 'disabled' : undefined)
    await announceUpdate(transaction, userId, changed)
    return { ...moved, changed, disconnected }
  }
}

/** Deletes a user; resolves to whether there was one. */
export type Remove = (transaction: Transaction, userId: string, caller?: Caller) => Promise<boolean>

export interface RemoveDeps extends Pick<ChangeDeps, 'notify' | 'recordEvent'>, Pick<SessionRules, 'endSessions'> {
  db: Database
  announce: Announce
  /** Ends what clients were given. */
  endGrants: (transaction: Transaction, which: { userId: string }, reason: string, caller?: Caller) => Promise<unknown>
  /** Forgets to which address messages about a deleted user went, and what they said. */
  forgetMessages: (transaction: Transaction, userId: string) => Promise<unknown>
}

/**
 * Ends all access of a user, in the transaction that deletes them: the database deletes no user with sessions or grants.
 * It resolves to whether there is such a user; none of it begins again before the commit.
 */
export const endAll = async (
  transaction: Transaction,
  userId: string,
  { endGrants, endSessions }: Pick<RemoveDeps, 'endGrants' | 'endSessions'>,
  caller?: Caller,
): Promise<boolean> => {
  if (!(await lockUserToChange(transaction, userId))) return false
  await endGrants(transaction, { userId }, 'deleted', caller)
  await endSessions(transaction, userId, 'deleted', { caller })
  return true
}

export const createRemove = (deps: RemoveDeps): Remove => {
  const { db, notify, forgetMessages, announce, recordEvent } = deps
  return async (transaction, userId, caller) => {
    if (!(await endAll(transaction, userId, deps, caller))) return false
    // Before the row is deleted: the address stands there.
    await notify(transaction, userId, { kind: 'account_deleted' }, caller)
    await deleteUser(transaction, userId)
    transaction.afterCommit(() => db.clearLog())
    await forgetMessages(transaction, userId)
    await announce(transaction, 'user.deleted', userId)
    await recordEvent(transaction, { type: 'user.deleted', userId }, caller)
    return true
  }
}
