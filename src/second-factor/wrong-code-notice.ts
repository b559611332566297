import type { Caller } from '../lib/caller.ts'
import type { Clock } from '../lib/time.ts'
import { counterFor } from '../limits/counter.ts'
import { countTry } from '../limits/counter-store.ts'
import type { MessageLimitName } from '../limits/limit-table.ts'
import type { Database } from '../storage/database.ts'
import type { Notify } from '../accounts/account-notice.ts'

interface WrongCodeNoticeDeps {
  db: Database
  clock: Clock
  notify: Notify
}

/**
 * Notes a wrong code after a right password, a provider or a link. The user is told of the third within a quarter of an
 * hour, once a day.
 */
export const createWrongCodeNotice =
  ({ db, clock, notify }: WrongCodeNoticeDeps) =>
  (userId: string, caller?: Caller): Promise<void> =>
    db.inTransaction(async (transaction) => {
      const isWithin = async (limit: MessageLimitName): Promise<boolean> =>
        (await countTry(transaction.all, { counters: [counterFor(limit, userId)], nowMs: clock.now() })).length > 0
      if (await isWithin('untoldWrongCodes')) return
      if (await isWithin('wrongCodesNotice')) await notify(transaction, userId, { kind: 'wrong_codes' }, caller)
    })
