import { insertRow, type Queries } from '../storage/database.ts'

/** It is a row of `pending_links`. Times are in milliseconds since 1970. */
export interface PendingLinkRow {
  /** It is a UUID of version 7. */
  id: string
  userId: string
  /** It is the SHA-256 of the browser's secret. */
  browser: string
  /** It is the SHA-256 of the provider's profile. */
  content: string
  expiresAtMs: number
}

/** A user does not open more in ten minutes. */
const MAX_OF_USER = 20

/** It must be called within a transaction: beyond the maximum for one user, the oldest rows are deleted. */
export const insertPendingLink = async (db: Queries, link: PendingLinkRow): Promise<void> => {
  await insertRow(db, 'pending_links', {
    id: link.id,
    user_id: link.userId,
    browser: link.browser,
    content: link.content,
    expires_at: link.expiresAtMs,
  })
  await db.run(
    `DELETE FROM pending_links WHERE user_id = ? AND id NOT IN
       (SELECT id FROM pending_links WHERE user_id = ? ORDER BY id DESC LIMIT ${MAX_OF_USER})`,
    link.userId,
    link.userId,
  )
}

/** Tells whether there is such a row, which has not expired. */
export const hasPendingLink = async (
  db: Queries,
  { id, userId, browser, content }: Omit<PendingLinkRow, 'expiresAtMs'>,
  nowMs: number,
): Promise<boolean> => {
  const sql =
    'SELECT id FROM pending_links WHERE id = ? AND user_id = ? AND browser = ? AND content = ? AND expires_at > ?'
  return (await db.get(sql, id, userId, browser, content, nowMs)) !== undefined
}

/** Deletes the row; resolves to 0 when there is no such row, or when it has expired. */
export const consumePendingLink = (
  db: Queries,
  { id, userId, browser, content }: Omit<PendingLinkRow, 'expiresAtMs'>,
  nowMs: number,
): Promise<number> =>
  db.run(
    'DELETE FROM pending_links WHERE id = ? AND user_id = ? AND browser = ? AND content = ? AND expires_at > ?',
    id,
    userId,
    browser,
    content,
    nowMs,
  )

/** Deletes the rows before an id, which means before a time. */
export const deletePendingLinksBefore = (db: Queries, id: string): Promise<number> =>
  db.run('DELETE FROM pending_links WHERE id < ?', id)
