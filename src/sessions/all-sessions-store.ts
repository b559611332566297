import { findAll } from '../lib/sql-values.ts'
import { countWith, type Queries } from '../storage/database.ts'

/** Finds the ids that follow `after`, of sessions of all users. */
export const findSessionIds = async (
  db: Queries,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> => {
  const rows = await db.all<{ id: string }>('SELECT id FROM sessions WHERE id > ? ORDER BY id LIMIT ?', after, limit)
  return rows.map(({ id }) => id)
}

/** Finds the sessions after one id and up to another, in order of id, and when each ends. */
export const findSessionEnds = (
  db: Queries,
  { after, upTo, limit }: { after: string; upTo: string; limit: number },
): Promise<{ id: string; expires_at: number }[]> =>
  db.all('SELECT id, expires_at FROM sessions WHERE id > ? AND id <= ? ORDER BY id LIMIT ?', after, upTo, limit)

/** Finds those of the sessions that have expired. No refresh changes that before the transaction ends. */
export const lockExpired = async (transaction: Queries, ids: readonly string[], nowMs: number): Promise<string[]> => {
  const rows = await findAll(ids, (list, piece) =>
    transaction.all<{ id: string }>(
      `SELECT id FROM sessions WHERE id IN ${list} AND expires_at <= ? FOR UPDATE`,
      ...piece,
      nowMs,
    ),
  )
  return rows.map(({ id }) => id)
}

/**
 * Counts the live sessions that were last seen before a time, and the grants of clients that were last used before it,
 * and finds when the last of them ends.
 */
export const findSessionsUnseenSince = async (
  db: Queries,
  timeMs: number,
  nowMs: number,
): Promise<{ count: number; lastEndMs: number | undefined }> => {
  const row = await db.get<{ count: number; last_end: number | null }>(
    `SELECT COUNT(*) AS count, MAX(expires_at) AS last_end FROM (
       SELECT expires_at FROM sessions WHERE last_seen_at < ? AND expires_at > ?
       UNION ALL SELECT expires_at FROM grants WHERE last_used_at < ? AND expires_at > ?) AS waiting`,
    timeMs,
    nowMs,
    timeMs,
    nowMs,
  )
  return { count: row?.count ?? 0, lastEndMs: row?.last_end ?? undefined }
}

/** Counts the users who have a session that has not ended. */
export const countUsersWithSessions = (db: Pick<Queries, 'get'>, nowMs: number): Promise<number> =>
  countWith(
    db,
    'SELECT COUNT(DISTINCT user_id) AS count FROM sessions WHERE expires_at > COALESCE(server_time(), ?)',
    nowMs,
  )
