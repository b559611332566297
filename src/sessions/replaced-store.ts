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
 * Ends a session and records which one replaced it, in the transaction that has inserted the successor. Sessions that
 * it had replaced itself get the same successor, and keep the time of their replacement. It resolves to whether there
 * was one to end.
 */
export const replaceSession = async (
  db: Queries,
  { id, successorId, nowMs }: { id: string; successorId: string; nowMs: number },
): Promise<boolean> => {
  // This comes before the session is deleted: the database deletes with it the rows that name it as their successor.
  await db.run('UPDATE replaced_sessions SET successor_id = ? WHERE successor_id = ?', successorId, id)
  const ended = await db.get<{ salt: string }>('DELETE FROM sessions WHERE id = ? RETURNING salt', id)
  if (!ended) return false
  const { salt } = ended
  await insertRow(db, 'replaced_sessions', { id, successor_id: successorId, salt, replaced_at: nowMs })
  return true
}

/** Deletes records of replaced sessions whose grace is over. `nowMs` counts if there is no server. */
export const deleteReplacedSessions = (
  db: Queries,
  { graceMs, nowMs }: { graceMs: number; nowMs: number },
): Promise<number> =>
  db.run('DELETE FROM replaced_sessions WHERE replaced_at <= COALESCE(server_time(), ?) - ?', nowMs, graceMs)
