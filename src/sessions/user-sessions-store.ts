import { countWith, type Queries } from '../storage/database.ts'
import type { Session } from './session.ts'
import { SESSION_COLUMNS, type SessionRow, toSession } from './session-store.ts'

/**
 * Locks a user who is about to get a session, so that logins of one user come one after the other; it resolves to
 * undefined when the user was deleted. `readAtMs` is the time of the database's server, if there is one.
 */
export const lockUserOfSession = async (
  db: Queries,
  userId: string,
): Promise<{ readAtMs: number | undefined; hasHadSession: boolean } | undefined> => {
  const row = await db.get<{ read_at: number | null; first_session_at: number | null }>(
    'SELECT server_time() AS read_at, first_session_at FROM users WHERE id = ? FOR UPDATE',
    userId,
  )
  return row && { readAtMs: row.read_at ?? undefined, hasHadSession: row.first_session_at !== null }
}

/** Notes the first session of a user, for lists of those who have had none. */
export const updateFirstSession = (db: Queries, userId: string, nowMs: number): Promise<number> =>
  db.run('UPDATE users SET first_session_at = ? WHERE id = ?', nowMs, userId)

/** Finds live sessions of a user: the one with `firstId` before all others, then those last seen. */
export const findSessionsOfUser = async (
  db: Queries,
  { userId, firstId, nowMs, limit }: { userId: string; firstId: string; nowMs: number; limit: number },
): Promise<Session[]> => {
  const rows = await db.all<SessionRow>(
    `SELECT ${SESSION_COLUMNS} FROM sessions WHERE user_id = ? AND expires_at > ?
     ORDER BY sessions.id = ? DESC, last_seen_at DESC, sessions.id DESC LIMIT ?`,
    userId,
    nowMs,
    firstId,
    limit,
  )
  return rows.map(toSession)
}

/** Finds the ids of all sessions of a user, expired ones included. */
export const findSessionIdsOfUser = async (db: Queries, userId: string): Promise<string[]> => {
  const rows = await db.all<{ id: string }>('SELECT id FROM sessions WHERE user_id = ?', userId)
  return rows.map(({ id }) => id)
}

export const countSessionsOfUser = (db: Queries, userId: string, nowMs: number): Promise<number> =>
  countWith(db, 'SELECT COUNT(*) AS count FROM sessions WHERE user_id = ? AND expires_at > ?', userId, nowMs)

/**
 * One login deletes at most this many sessions above the limit. More than one exist only from before there was a limit.
 */
const MOST_DELETED_AT_ONCE = 1000

/**
 * Finds the live sessions of a user above a limit: those that were not seen for longest, and never `newId`. The
 * transaction holds the user (`lockUserOfSession`).
 */
export const findSessionsAboveLimit = async (
  db: Queries,
  { userId, newId, nowMs, limit }: { userId: string; newId: string; nowMs: number; limit: number },
): Promise<string[]> => {
  const rows = await db.all<{ id: string }>(
    `SELECT id FROM sessions WHERE user_id = ? AND expires_at > ? AND id <> ?
     ORDER BY last_seen_at DESC, id DESC LIMIT ${MOST_DELETED_AT_ONCE} OFFSET ?`,
    userId,
    nowMs,
    newId,
    limit - 1,
  )
  return rows.map(({ id }) => id)
}
