import type { UserChange } from '../lib/user-change.ts'
import type { Transaction } from '../storage/database.ts'

/** Writes the event, in the transaction of the change, that tells the application. */
export type Announce = (
  transaction: Transaction,
  type: 'user.created' | 'user.deleted',
  userId: string,
) => Promise<void>

/** The same for `user.updated`. `changed` names only what really changed; when it is empty, there is no event. */
export type AnnounceUpdate = (transaction: Transaction, userId: string, changed: readonly UserChange[]) => Promise<void>
