import type { Queries } from '../storage/database.ts'

/** A provider's account that waits for the proof of a user's account. Times in milliseconds since 1970. */
export interface PendingLinkRow {
  /** UUID of version 7 */
  id: string
  userId: string
  /** SHA-256 of the browser's secret. */
  browser: string
  /** SHA-256 of what the provider said. */
  content: string
  expiresAtMs: number
}

/** More than a person opens in ten minutes. */
const MAX_OF_USER = 20

/** Within a transaction. Beyond so many of one user, the oldest go. */
export const insertPendingLink = async (db: Queries, link: PendingLinkRow): Promise<void> => {
  await db.run(
    'INSERT INTO pending_links (id, user_id, browser, content, expires_at) VALUES (?, ?, ?, ?, ?)',
    link.id,
    link.userId,
    link.browser,
    link.content,
    link.expiresAtMs,
  )
  await db.run(
    `DELETE FROM pending_links WHERE user_id = ? AND id NOT IN
       (SELECT id FROM pending_links WHERE user_id = ? ORDER BY id DESC LIMIT ${MAX_OF_USER})`,
    link.userId,
    link.userId,
  )
}

/** 0 when there is no such row, or its time is over. */
export const usePendingLink = (
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

/** Those before an id, which is to say before a time. */
export const deletePendingLinksBefore = (db: Queries, id: string): Promise<number> =>
  db.run('DELETE FROM pending_links WHERE id < ?', id)
