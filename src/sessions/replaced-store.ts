import { insertRow, type Queries } from '../storage/database.ts'

/** The session ended because a later one began in the same browser. Times are in milliseconds since 1970. */
export interface ReplacedSession {
  id: string
  /** The browser has this session now. */
  successorId: string
  /** The refresh tokens of the replaced session were made with it. */
  salt: string
  replacedAtMs: number
  /** It is the time of the server as the row was read; it is null if there is no server. */
  readAtMs: number | null
}

export const findReplacedSession = (db: Queries, id: string): Promise<ReplacedSession | undefined> =>
  db.get(
    `SELECT id, successor_id AS "successorId", salt, replaced_at AS "replacedAtMs", server_time() AS "readAtMs"
     FROM replaced_sessions WHERE id = ?`,
    id,
  )

/**
 * Gives the sessions that a session had replaced its own successor, in the transaction that has inserted that; the time
 * of their replacement stays. It comes before the session is deleted: the database deletes with it what names it as the
 * successor.
 */
export const updateSuccessor = (db: Queries, id: string, successorId: string): Promise<number> =>
  db.run('UPDATE replaced_sessions SET successor_id = ? WHERE successor_id = ?', successorId, id)

export const insertReplaced = (
  db: Queries,
  { id, salt, successorId, nowMs }: { id: string; salt: string; successorId: string; nowMs: number },
): Promise<number> => insertRow(db, 'replaced_sessions', { id, successor_id: successorId, salt, replaced_at: nowMs })

/** Deletes records of replaced sessions whose grace is over. `nowMs` counts if there is no server. */
export const deleteReplacedSessions = (
  db: Queries,
  { graceMs, nowMs }: { graceMs: number; nowMs: number },
): Promise<number> =>
  db.run('DELETE FROM replaced_sessions WHERE replaced_at <= COALESCE(server_time(), ?) - ?', nowMs, graceMs)
