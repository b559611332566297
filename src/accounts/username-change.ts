import type { RecordEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import type { Clock } from '../lib/time.ts'
import type { SessionRules } from '../sessions/sign-in-grant.ts'
import type { Database, Transaction } from '../storage/database.ts'
import type { Notify } from './account-notice.ts'
import type { AnnounceUpdate } from './announcement.ts'
import { takenError } from './taken.ts'
import { requireUserById, updateUsername } from './user-store.ts'
import { requireUsername } from './username.ts'

interface UsernameChangeDeps extends Pick<SessionRules, 'userChanged'> {
  db: Database
  clock: Clock
  announceUpdate: AnnounceUpdate
  notify: Notify
  recordEvent: RecordEvent
}

interface UsernameChange {
  id: string
  entered: string
  /** Throws unless the change may be made; left out for an operator. */
  requirePermission?: (transaction: Transaction) => Promise<unknown>
  /** Left out for an operator too. */
  caller?: Caller | undefined
}

/** Changes a username; `unprocessable` when it is none, `conflict` when it is taken. */
export const renameUser = async (
  { db, clock, userChanged, announceUpdate, notify, recordEvent }: UsernameChangeDeps,
  { id, entered, requirePermission, caller }: UsernameChange,
): Promise<void> => {
  const username = requireUsername(entered)
  try {
    await db.inTransaction(async (transaction) => {
      await requirePermission?.(transaction)
      const { username: oldUsername } = await requireUserById(transaction, id)
      if ((await updateUsername(transaction, { id, username, nowMs: clock.now() })) === 0) return
      await userChanged(transaction, id)
      await announceUpdate(transaction, id, ['username'])
      await notify(transaction, id, { kind: 'username_changed', oldUsername, newUsername: username }, caller)
      await recordEvent(transaction, { type: 'username.changed', userId: id }, caller)
    })
  } catch (error) {
    throw takenError(error)
  }
}
