import { setImmediate } from 'node:timers/promises'
import type { Database } from '../storage/database.ts'
import { lockSessionsToCheck, updateChecks, updateLateChecks } from './all-sessions-store.ts'
import { EXPIRED } from './client-grants.ts'
import type { RemoveSessions } from './removal.ts'

const BATCH = 500

interface ExpiryDeps {
  db: Database
  nowMs: number
  /** No session that is refreshed now ends sooner. */
  shortestLifetimeMs: number
  removeSessions: RemoveSessions
}

/**
 * Ends the sessions that have expired, a batch at a time. Each session is looked at when it would have ended without a
 * refresh since the last look: a lifetime later, if it is in use. It resolves to how many ended.
 */
export const endExpiredSessions = async (deps: ExpiryDeps): Promise<number> => {
  const { db, nowMs, removeSessions } = deps
  const latestMs = nowMs + deps.shortestLifetimeMs
  // The setting may have been longer.
  await updateLateChecks(db, latestMs)
  for (let ended = 0; ; ) {
    const checked = await db.inTransaction(async (transaction) => {
      const sessions = await lockSessionsToCheck(transaction, nowMs, BATCH)
      const { expired = [], live = [] } = Object.groupBy(sessions, (row) =>
        row.expires_at <= nowMs ? 'expired' : 'live',
      )
      await removeSessions(transaction, { ids: idsOf(expired) }, { reason: EXPIRED })
      await updateChecks(transaction, idsOf(live), latestMs)
      return { count: sessions.length, expired: expired.length }
    })
    ended += checked.expired
    if (checked.count < BATCH) return ended
    await setImmediate()
  }
}

const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id)
