import { countWith, type Queries } from '../storage/database.ts'

/** Finds the ids that follow `after`, of sessions of all users. */
export const findSessionIds = async (
  db: Queries,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> => {
  const rows = await db.all<{ id: string }>('SELECT id FROM sessions WHERE id > ? ORDER BY id LIMIT ?', after, limit)
  return rows.map(({ id }) => id)
}

/** Deletes the sessions after one id and up to another, the last included. */
export const deleteSessionsUpTo = (
  db: Pick<Queries, 'run'>,
  { after, last }: { after: string; last: string },
): Promise<number> => db.run('DELETE FROM sessions WHERE id > ? AND id <= ?', after, last)

/** Finds the sessions between two ids, in order of id, and when each ends. */
export const findSessionEnds = (
  db: Queries,
  { after, before, limit }: { after: string; before: string; limit: number },
): Promise<{ id: string; expires_at: number }[]> =>
  db.all('SELECT id, expires_at FROM sessions WHERE id > ? AND id < ? ORDER BY id LIMIT ?', after, before, limit)

/** Deletes the expired sessions from after one id up to another, the last included. */
export const deleteSessionsEndedBy = (
  db: Queries,
  { after, upTo, nowMs }: { after: string; upTo: string; nowMs: number },
): Promise<number> => db.run('DELETE FROM sessions WHERE id > ? AND id <= ? AND expires_at <= ?', after, upTo, nowMs)

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
