import type { Queries } from '../storage/database.ts'

/** What the tally of a row begins with that tells of a deleted user, until their other rows are erased. */
export const ERASURE = 'erase'

interface Erasure {
  userId: string
  /** Only rows whose ids sort before this. */
  before: string
  limit: number
}

/**
 * Of the latest rows of a user, erases address, agent, request, session and details where they are; resolves to how
 * many had some. By a request or a session, the log tells an address. The tally goes too: with the id of the user, an
 * IPv4 address is soon found from its hash.
 */
export const eraseEvents = (db: Pick<Queries, 'run'>, { userId, before, limit }: Erasure): Promise<number> =>
  db.run(
    `UPDATE audit_events
     SET address = NULL, user_agent = NULL, request_id = NULL, session_id = NULL, details = '{}', tally = NULL
     WHERE id IN (SELECT id FROM audit_events WHERE user_id = ? AND id < ? ORDER BY id DESC LIMIT ?)
       AND (address IS NOT NULL OR user_agent IS NOT NULL OR request_id IS NOT NULL OR session_id IS NOT NULL
         OR details <> '{}')`,
    userId,
    before,
    limit,
  )

/** The id of the last row that `eraseEvents` has looked at; undefined when there are none after it. */
export const findNextToErase = async (db: Queries, { userId, before, limit }: Erasure): Promise<string | undefined> => {
  const row = await db.get<{ id: string }>(
    'SELECT id FROM audit_events WHERE user_id = ? AND id < ? ORDER BY id DESC LIMIT 1 OFFSET ?',
    userId,
    before,
    limit - 1,
  )
  return row?.id
}

export interface DeletedUser {
  /** Of the row that tells of it. */
  id: string
  userId: string
  deletedAtMs: number
}

export const findDeletedUsers = async (db: Queries, beforeMs: number, limit: number): Promise<DeletedUser[]> => {
  const rows = await db.all<{ id: string; user_id: string; at: number }>(
    'SELECT id, user_id, at FROM audit_events WHERE tally > ? AND tally < ? AND at <= ? ORDER BY tally LIMIT ?',
    `${ERASURE}/`,
    // The character after the slash.
    `${ERASURE}0`,
    beforeMs,
    limit,
  )
  return rows.map(({ id, user_id: userId, at }) => ({ id, userId, deletedAtMs: at }))
}

export const endErasure = async (db: Pick<Queries, 'run'>, id: string): Promise<void> => {
  await db.run('UPDATE audit_events SET tally = NULL WHERE id = ?', id)
}
