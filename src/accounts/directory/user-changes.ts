import type { RecordEvent } from '../../audit/audit-event.ts'
import type { Caller } from '../../lib/caller.ts'
import type { Email } from '../../lib/email-address.ts'
import type { Clock } from '../../lib/time.ts'
import { USER_CHANGES, type UserChange } from '../../lib/user-change.ts'
import type { EmailChanges } from '../../links/email-changes.ts'
import type { SessionRules } from '../../sessions/sign-in-grant.ts'
import type { Database, Transaction } from '../../storage/database.ts'
import type { Notify } from '../account-notice.ts'
import type { AnnounceUpdate } from '../announcement.ts'
import { changeEvents, changesOf } from '../change-events.ts'
import { updateEmail } from '../email-store.ts'
import type { ApplySecurityEvent } from '../security-events.ts'
import { takenError } from '../taken.ts'
import {
  lockUserToChange,
  requireUserById,
  updateDisabled,
  updateRoles,
  updateUsername,
  type UserRecord,
} from '../user-store.ts'
import { type CheckedChanges, requireChanges, type UserChanges } from './checked-changes.ts'

export interface UserChangesDeps extends Pick<SessionRules, 'userChanged'> {
  db: Database
  clock: Clock
  emailChanges: Pick<EmailChanges, 'setIn'>
  applySecurityEvent: ApplySecurityEvent
  announceUpdate: AnnounceUpdate
  notify: Notify
  recordEvent: RecordEvent
}

/** Who changes what of whom. */
interface Changing {
  user: UserRecord
  changes: CheckedChanges
  caller: Caller
}

/**
 * Makes all changes of one user in one transaction, and tells of them with one event. A value that the user has already
 * is no change. Resolves to what has changed. `not_found`, `unprocessable` for a bad field, `conflict` for a taken email
 * or username: then nothing is changed.
 */
export const createApplyChanges = (deps: UserChangesDeps) => {
  const { db, clock, emailChanges, applySecurityEvent, announceUpdate, notify, userChanged } = deps
  const { recordEvent } = deps

  const rename = async (
    transaction: Transaction,
    { user: { id, username: oldUsername }, caller }: Changing,
    username: string,
  ) => {
    if ((await updateUsername(transaction, { id, username, nowMs: clock.now() })) === 0) return false
    await notify(transaction, id, { kind: 'username_changed', oldUsername, newUsername: username }, caller)
    return true
  }

  /** The same address may be written in other letters, and be verified or not: no message tells of that. */
  const changeEmail = async (transaction: Transaction, { user, changes, caller }: Changing) => {
    const { email, emailVerified, stolen = user.disabled || changes.disabled } = changes
    // The own address ends what other addresses could put back only where the request says so: it may repeat all fields.
    if (email && (email.lower !== user.emailLower || changes.stolen))
      return emailChanges.setIn(transaction, user, { email, verified: emailVerified, stolen, caller })
    const own: Email = email ?? { shown: user.email, lower: user.emailLower }
    const isVerified = emailVerified ?? user.emailVerifiedAtMs !== undefined
    const changed = changesOf(user, own, isVerified)
    const nowMs = clock.now()
    const verifiedAtMs = isVerified ? (user.emailVerifiedAtMs ?? nowMs) : undefined
    if (changed.length > 0) await updateEmail(transaction, { id: user.id, email: own, verifiedAtMs, nowMs })
    return changed
  }

  const setDisabled = async (
    transaction: Transaction,
    { user: { id: userId }, caller }: Changing,
    disabled: boolean,
  ) => {
    const changed = await updateDisabled(transaction, { id: userId, disabled, nowMs: clock.now() })
    if (disabled) await applySecurityEvent(transaction, 'disabled', { userId, caller })
    return changed > 0
  }

  const apply = async (transaction: Transaction, changing: Changing): Promise<UserChange[]> => {
    const {
      user: { id },
      changes,
    } = changing
    const { username, roles, disabled } = changes
    const changed: UserChange[] = []
    if (username !== undefined && (await rename(transaction, changing, username))) changed.push('username')
    if (roles && (await updateRoles(transaction, { id, roles, nowMs: clock.now() })) > 0) changed.push('roles')
    changed.push(...(await changeEmail(transaction, changing)))
    // Last: it ends the links that a new address has left.
    if (disabled !== undefined && (await setDisabled(transaction, changing, disabled))) changed.push('disabled')
    return changed
  }

  return async <T>(
    { id, changes: given, caller }: { id: string; changes: UserChanges; caller: Caller },
    then: (transaction: Transaction, changed: UserChange[]) => Promise<T>,
  ): Promise<T> => {
    const changes = requireChanges(given)
    try {
      return await db.inTransaction(async (transaction) => {
        await lockUserToChange(transaction, id)
        const user = await requireUserById(transaction, id)
        const found = await apply(transaction, { user, changes, caller })
        const changed = USER_CHANGES.filter((each) => found.includes(each))
        if (changed.length > 0) await userChanged(transaction, id)
        await announceUpdate(transaction, id, changed)
        for (const event of changeEvents(id, changed, changes)) await recordEvent(transaction, event, caller)
        return then(transaction, changed)
      })
    } catch (error) {
      throw takenError(error)
    }
  }
}
