import type { Caller } from '../lib/caller.ts'
import type { Clock } from '../lib/time.ts'
import { countWithin } from '../storage/counters.ts'
import type { Database } from '../storage/database.ts'
import type { Notify } from '../accounts/account-notice.ts'

/** So many wrong codes are no slip of the finger. */
const TOLD_AT = 3

const WINDOW_MS = 15 * 60_000
const DAY_MS = 24 * 3_600_000

interface WrongCodeNoticeDeps {
  db: Database
  clock: Clock
  notify: Notify
}

/**
 * Notes a wrong code of someone who has a right password, an account at a provider or a link, and lacks the second
 * factor. The user is told of the third within a quarter of an hour, once a day.
 */
export const createWrongCodeNotice =
  ({ db, clock, notify }: WrongCodeNoticeDeps) =>
  (userId: string, caller?: Caller): Promise<void> =>
    db.inTransaction(async (transaction) => {
      const nowMs = clock.now()
      const some = { id: `wrong codes ${userId}`, limit: TOLD_AT - 1, windowMs: WINDOW_MS, nowMs }
      if (await countWithin(transaction, some)) return
      const told = { id: `wrong codes told ${userId}`, limit: 1, windowMs: DAY_MS, nowMs }
      if (await countWithin(transaction, told)) await notify(transaction, userId, { kind: 'wrong_codes' }, caller)
    })
