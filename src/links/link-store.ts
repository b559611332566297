import { columnsOf, insertRow, type Queries, type TableRow } from '../storage/database.ts'
import type { IssuedLink, Link, LinkEnd, LinkPurpose } from './link.ts'

type LinkRow = Omit<TableRow<'links'>, 'token_hash' | 'ended_at'> & { purpose: LinkPurpose; ended_by: LinkEnd | null }

const COLUMNS = columnsOf('links', 'token_hash', 'ended_at')

const toLink = (row: LinkRow): Link => ({
  id: row.id,
  purpose: row.purpose,
  userId: row.user_id ?? undefined,
  emailLower: row.email_lower,
  details: JSON.parse(row.details) as Link['details'],
  createdAtMs: row.created_at,
  expiresAtMs: row.expires_at,
})

export const insertLink = (db: Queries, link: Link, tokenHash: string): Promise<number> =>
  insertRow(db, 'links', {
    id: link.id,
    token_hash: tokenHash,
    purpose: link.purpose,
    user_id: link.userId ?? null,
    email_lower: link.emailLower,
    details: JSON.stringify(link.details),
    created_at: link.createdAtMs,
    expires_at: link.expiresAtMs,
  })

/** Finds a link in any state. */
export const findLink = async (
  db: Queries,
  tokenHash: string,
): Promise<{ link: Link; endedBy: LinkEnd | undefined } | undefined> => {
  const row = await db.get<LinkRow>(`SELECT ${COLUMNS} FROM links WHERE token_hash = ?`, tokenHash)
  return row && { link: toLink(row), endedBy: row.ended_by ?? undefined }
}

/** Finds a link in any state by its id. */
export const findLinkById = async (db: Queries, id: string): Promise<Link | undefined> => {
  const row = await db.get<LinkRow>(`SELECT ${COLUMNS} FROM links WHERE id = ?`, id)
  return row && toLink(row)
}

/** Finds the latest links of a user in any state, the newest first. */
export const findLatestLinks = async (db: Queries, userId: string, limit: number): Promise<IssuedLink[]> => {
  const sql = `SELECT ${COLUMNS} FROM links WHERE user_id = ? ORDER BY id DESC LIMIT ?`
  const rows = await db.all<LinkRow>(sql, userId, limit)
  return rows.map((row) => ({ ...toLink(row), endedBy: row.ended_by ?? undefined }))
}

/** Finds why a link is over that is no longer live; it resolves to undefined when its time is over. */
export const findLinkEnd = async (db: Queries, id: string): Promise<LinkEnd | undefined> =>
  (await db.get<Pick<LinkRow, 'ended_by'>>('SELECT ended_by FROM links WHERE id = ?', id))?.ended_by ?? undefined

/** Finds live links of one purpose, the newest first. A signup that waits has no user, and is found by its address. */
export const findLiveLinks = async (
  db: Queries,
  { purpose, userId, emailLower }: Pick<Link, 'purpose' | 'userId' | 'emailLower'>,
  nowMs: number,
): Promise<Link[]> => {
  const rows = await db.all<LinkRow>(
    `SELECT ${COLUMNS} FROM links
     WHERE ${userId === undefined ? 'email_lower = ? AND user_id IS NULL' : 'user_id = ?'} AND purpose = ?
       AND ended_at IS NULL AND expires_at > ? ORDER BY id DESC`,
    userId ?? emailLower,
    purpose,
    nowMs,
  )
  return rows.map(toLink)
}

/** Finds live links to one address, the newest first, whether or not it has an account. */
export const findLiveLinksTo = async (
  db: Queries,
  { purpose, emailLower }: Pick<Link, 'purpose' | 'emailLower'>,
  nowMs: number,
): Promise<Link[]> => {
  const rows = await db.all<LinkRow>(
    `SELECT ${COLUMNS} FROM links
     WHERE email_lower = ? AND purpose = ? AND ended_at IS NULL AND expires_at > ? ORDER BY id DESC`,
    emailLower,
    purpose,
    nowMs,
  )
  return rows.map(toLink)
}

/** Gives a live link that was made before its address was looked up to the account. */
export const bindLink = (db: Queries, id: string, userId: string): Promise<number> =>
  db.run('UPDATE links SET user_id = ? WHERE id = ? AND ended_at IS NULL', userId, id)

/** It resolves to 0 when the link is no longer live: another request has used it, or it has ended or expired. */
export const endLink = (db: Queries, id: string, endedBy: LinkEnd, nowMs: number): Promise<number> =>
  db.run(
    'UPDATE links SET ended_at = ?, ended_by = ? WHERE id = ? AND ended_at IS NULL AND expires_at > ?',
    nowMs,
    endedBy,
    id,
    nowMs,
  )

/**
 * Ends the links of a user, but for those of the kept purposes. Links that undo a change of address end only if they
 * were made at `undoSinceMs` or later; none of them ends if it is undefined.
 */
export const endLinksOfUser = (
  db: Queries,
  which: { userId: string; undoSinceMs: number | undefined; kept: readonly LinkPurpose[]; nowMs: number },
): Promise<number> =>
  db.run(
    `UPDATE links SET ended_at = ?, ended_by = 'ended'
     WHERE user_id = ? AND ended_at IS NULL AND (purpose <> 'undo' OR created_at >= ?)
       AND purpose NOT IN (${['', ...which.kept].map(() => '?').join(', ')})`,
    which.nowMs,
    which.userId,
    which.undoSinceMs ?? Number.MAX_SAFE_INTEGER,
    '',
    ...which.kept,
  )

/** Tells whether a link of one purpose, which this browser has asked for, was used at `sinceMs` or later. */
export const hasUsedLink = async (
  db: Queries,
  which: { userId: string; purpose: LinkPurpose; browser: string; sinceMs: number },
): Promise<boolean> => {
  const rows = await db.all<Pick<LinkRow, 'details'>>(
    `SELECT details FROM links WHERE user_id = ? AND purpose = ? AND ended_by = 'used' AND ended_at >= ?`,
    which.userId,
    which.purpose,
    which.sinceMs,
  )
  return rows.some(({ details }) => (JSON.parse(details) as Link['details']).browser === which.browser)
}

/** The links that undo a change of address of a user are good until this time at most. */
export const shortenUndoLinks = (db: Queries, userId: string, untilMs: number): Promise<number> =>
  db.run(
    `UPDATE links SET expires_at = ? WHERE user_id = ? AND purpose = 'undo' AND ended_at IS NULL AND expires_at > ?`,
    untilMs,
    userId,
    untilMs,
  )

/** Tells whether a message with this link is still worth sending. */
export const isLinkLive = async (db: Queries, id: string, nowMs: number): Promise<boolean> =>
  (await db.get(
    'SELECT id FROM links WHERE id = ? AND ended_at IS NULL AND expires_at > COALESCE(server_time(), ?)',
    id,
    nowMs,
  )) !== undefined

/** Deletes at most `limit` links that expired before a time, for cleanup; it resolves to how many. */
export const deleteLinksExpiredBefore = (db: Queries, beforeMs: number, limit: number): Promise<number> =>
  db.run(
    'DELETE FROM links WHERE id IN (SELECT id FROM links WHERE expires_at < ? ORDER BY expires_at LIMIT ?)',
    beforeMs,
    limit,
  )
