import type { Queries } from '../storage/database.ts'
import type { SessionAuthentication } from './session.ts'
import { type SessionRow, toAmr } from './session-store.ts'

type LockedRow = Pick<SessionRow, 'user_id' | 'authenticated_at' | 'amr' | 'provider'> & { read_at: number | null }

/**
 * Locks a session, and its user before it, until the transaction ends; undefined when the session has ended. The order
 * is that of every transaction that locks both: two that wait for each other would have to be repeated.
 */
export const lockSession = async (
  db: Queries,
  id: string,
  userId: string,
): Promise<SessionAuthentication | undefined> => {
  await db.get('SELECT id FROM users WHERE id = ? FOR UPDATE', userId)
  const row = await db.get<LockedRow>(
    `SELECT user_id, authenticated_at, amr, provider, server_time() AS read_at FROM sessions
     WHERE id = ? AND user_id = ? FOR SHARE`,
    id,
    userId,
  )
  return (
    row && {
      userId: row.user_id,
      authenticatedAtMs: row.authenticated_at ?? undefined,
      amr: toAmr(row),
      provider: row.provider ?? undefined,
      readAtMs: row.read_at ?? undefined,
    }
  )
}

/** 0 where the session has `mfa` already. */
export const updateAmr = (db: Queries, id: string, amr: readonly string[]): Promise<number> =>
  db.run(`UPDATE sessions SET amr = ? WHERE id = ? AND (amr IS NULL OR amr NOT LIKE '%mfa%')`, amr.join(' '), id)
