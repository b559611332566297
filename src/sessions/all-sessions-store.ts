import { inPieces, rowPlaceholders } from '../lib/sql-values.ts'
import { countWith, type Queries } from '../storage/database.ts'

/** Finds the ids that follow `after`, of sessions of all users. */
export const findSessionIds = async (
  db: Queries,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> => {
  const rows = await db.all<{ id: string }>('SELECT id FROM sessions WHERE id > ? ORDER BY id LIMIT ?', after, limit)
  return rows.map(({ id }) => id)
}

/** Finds sessions that cleanup looks at now, and when each ends. They stay so until the transaction ends. */
export const lockSessionsToCheck = (
  transaction: Queries,
  nowMs: number,
  limit: number,
): Promise<{ id: string; expires_at: number }[]> =>
  transaction.all(
    'SELECT id, expires_at FROM sessions WHERE check_at <= ? ORDER BY check_at LIMIT ? FOR UPDATE',
    nowMs,
    limit,
  )

/** Has cleanup look at sessions again when they end, or at the latest time if that is sooner. */
export const updateChecks = async (
  db: Pick<Queries, 'run'>,
  ids: readonly string[],
  latestMs: number,
): Promise<void> => {
  for (const piece of inPieces(ids)) {
    await db.run(
      `UPDATE sessions SET check_at = CASE WHEN expires_at < ? THEN expires_at ELSE ? END
       WHERE id IN ${rowPlaceholders(1, piece.length)}`,
      latestMs,
      latestMs,
      ...piece,
    )
  }
}

/** Does the same for sessions that cleanup would look at later than that. */
export const updateLateChecks = (db: Pick<Queries, 'run'>, latestMs: number): Promise<number> =>
  db.run('UPDATE sessions SET check_at = ? WHERE check_at > ?', latestMs, latestMs)

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
