import { setImmediate } from 'node:timers/promises'
import type { Database } from '../storage/database.ts'
import type { CachedSessions } from './cached-session.ts'
import { deleteSessionsUpTo, findSessionIds } from './session-store.ts'

const WINDOW = 1000

/**
 * Ends all sessions of all users, a window at a time so that nobody else waits long for the database: in order of id,
 * which is the order of their start. Resolves to how many were ended. A session that starts meanwhile may stay.
 */
export const endEverySession = async (db: Database, known: CachedSessions): Promise<number> => {
  let after = ''
  let ended = 0
  for (;;) {
    const ids = await findSessionIds(db, { after, limit: WINDOW })
    const last = ids.at(-1)
    if (last === undefined) return ended
    const deleting = db.single(() => known.forgetAll())
    ended += await deleteSessionsUpTo(deleting, { after, last })
    after = last
    await setImmediate()
  }
}
