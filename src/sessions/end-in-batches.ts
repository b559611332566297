import { setImmediate } from 'node:timers/promises'
import type { RecordEvent } from '../audit/audit-event.ts'
import type { Database } from '../storage/database.ts'
import { deleteSessionsUpTo, findSessionIds } from './all-sessions-store.ts'
import type { CachedSessions } from './cached-sessions.ts'

interface EndInBatchesDeps {
  db: Database
  cachedSessions: CachedSessions
  recordEvent: RecordEvent
  endPendingSignInsAfter: (db: Database, from: { after: string; limit: number }) => Promise<string | undefined>
}

/** Small enough that other requests do not wait long for the database. */
const BATCH = 1000

/**
 * Ends the sign-ins of all users that wait for a second factor, and then their sessions in order of id, which is the
 * order of their start. Resolves to how many sessions ended. One that starts during the call may stay.
 */
export const endInBatches = async (deps: EndInBatchesDeps): Promise<number> => {
  const { db, cachedSessions, recordEvent } = deps
  await endPendingSignIns(deps)
  let after = ''
  let ended = 0
  for (;;) {
    const ids = await findSessionIds(db, { after, limit: BATCH })
    const last = ids.at(-1)
    if (last === undefined) return ended
    const range = { after, last }
    ended += await db.inTransaction(async (transaction) => {
      const count = await deleteSessionsUpTo(transaction, range)
      transaction.afterCommit(() => cachedSessions.forgetAll())
      await recordEvent(transaction, { type: 'session.ended', details: { count } })
      return count
    })
    after = last
    await setImmediate()
  }
}

const endPendingSignIns = async ({ db, endPendingSignInsAfter }: EndInBatchesDeps): Promise<void> => {
  let after: string | undefined = ''
  while (after !== undefined) {
    after = await endPendingSignInsAfter(db, { after, limit: BATCH })
    await setImmediate()
  }
}
