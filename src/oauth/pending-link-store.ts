import { insertRow, type Queries, type TableRow } from '../storage/database.ts'

/** The id is a UUID of version 7; `browser` and `content` are the SHA-256 of its secret and of the provider's profile. */
export type PendingLinkRow = TableRow<'pending_links'>

/** A user does not open more in ten minutes. */
const MAX_OF_USER = 20

/** It must be called within a transaction: beyond the maximum for one user, the oldest rows are deleted. */
export const insertPendingLink = async (db: Queries, link: PendingLinkRow): Promise<void> => {
  await insertRow(db, 'pending_links', link)
  await db.run(
    `DELETE FROM pending_links WHERE user_id = ? AND id NOT IN
       (SELECT id FROM pending_links WHERE user_id = ? ORDER BY id DESC LIMIT ${MAX_OF_USER})`,
    link.user_id,
    link.user_id,
  )
}

type LiveLink = Omit<PendingLinkRow, 'expires_at'>

const IS_LIVE = 'id = ? AND user_id = ? AND browser = ? AND content = ? AND expires_at > ?'

const valuesOf = ({ id, user_id, browser, content }: LiveLink, nowMs: number) => [id, user_id, browser, content, nowMs]

/** Tells whether there is such a row, which has not expired. */
export const hasPendingLink = async (db: Queries, link: LiveLink, nowMs: number): Promise<boolean> =>
  (await db.get(`SELECT id FROM pending_links WHERE ${IS_LIVE}`, ...valuesOf(link, nowMs))) !== undefined

/** Deletes the row; resolves to 0 when there is no such row, or when it has expired. */
export const consumePendingLink = (db: Queries, link: LiveLink, nowMs: number): Promise<number> =>
  db.run(`DELETE FROM pending_links WHERE ${IS_LIVE}`, ...valuesOf(link, nowMs))

/** Deletes the rows before an id, which means before a time. */
export const deletePendingLinksBefore = (db: Queries, id: string): Promise<number> =>
  db.run('DELETE FROM pending_links WHERE id < ?', id)
