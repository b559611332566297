import { inPieces } from '../lib/sql-values.ts'
import { columnsOf, type Database, type Queries, type TableRow, type Transaction } from '../storage/database.ts'
import type { NewRevocation, Position } from './revocation.ts'

/** Writes entries that have no number yet; they matter for `keptMs`. */
export const insertRevocations = async (
  db: Pick<Queries, 'run'>,
  entries: readonly NewRevocation[],
  { nowMs, keptMs }: { nowMs: number; keptMs: number },
): Promise<void> => {
  for (const piece of inPieces(entries)) {
    await db.run(
      `INSERT INTO revocations (id, type, user_id, session_ids, replaced_by, reason, at, expires_at)
       VALUES ${piece.map(() => '(?, ?, ?, ?, ?, ?, COALESCE(server_time(), ?), COALESCE(server_time(), ?) + ?)').join(', ')}`,
      ...piece.flatMap(({ id, type, userId, sessionIds, replacedBy, reason }) => [
        id,
        type,
        userId ?? null,
        sessionIds ? JSON.stringify(sessionIds) : null,
        replacedBy ?? null,
        reason ?? null,
        nowMs,
        nowMs,
        keptMs,
      ]),
    )
  }
}

/** Where the feed ends, and where it began. */
export interface FeedState {
  /** The oldest entry that was given a number now was written so long before. */
  waitedMs?: number
  last: Position
  first: Position
  /** Entries wait for their number. */
  hasUnnumbered: boolean
}

/** This row of `installation` holds `SEQ MARK FIRST_MARK`, and locks the numbers: one transaction at a time gives some. */
const ROW = 'last revocation'

const readState = (value: string, hasUnnumbered: boolean): FeedState => {
  const [seq, mark = '', firstMark = ''] = value.split(' ')
  return { last: { seq: Number(seq), mark }, first: { seq: 0, mark: firstMark }, hasUnnumbered }
}

/** Finds where the feed ends; it is undefined before the first entry was given a number. */
export const findFeedState = async (db: Pick<Queries, 'get'>): Promise<FeedState | undefined> => {
  const row = await db.get<{ value: string | null; unnumbered: string | null }>(
    `SELECT (SELECT value FROM installation WHERE name = ?) AS value,
            (SELECT id FROM revocations WHERE seq IS NULL LIMIT 1) AS unnumbered`,
    ROW,
  )
  return row?.value ? readState(row.value, row.unnumbered !== null) : undefined
}

/** A commit follows its entry by no more than twice the time of an operation; SQLite, which has no server, by this. */
const LONGEST_COMMIT_MS = 10_000

interface Numbering {
  /** The feed begins with this mark if it has not begun. */
  newMark: string
  limit: number
  nowMs: number
}

/**
 * Gives numbers to committed entries that have none, in order of time. An entry of a transaction that commits later gets
 * a greater number than all that anybody has read (docs/decisions/048-user-positions.md).
 */
export const numberRevocations = (db: Database, { newMark, limit, nowMs }: Numbering): Promise<FeedState> =>
  db.inTransaction(async (transaction) => {
    const { last, first } = await lockFeed(transaction, newMark)
    // Tokens that were issued before the commit may hold what was before.
    const commitMs = db.timeoutMs === undefined ? LONGEST_COMMIT_MS : 2 * db.timeoutMs
    const numbered = await transaction.all<{ id: string; seq: number; age: number }>(
      `UPDATE revocations SET seq = ? + numbered.number,
         not_before = CASE WHEN type = 'session-revoked' THEN NULL
                           WHEN COALESCE(server_time(), ?) < at + ? THEN COALESCE(server_time(), ?) ELSE at + ? END
       FROM (SELECT id AS numbered_id, ROW_NUMBER() OVER (ORDER BY at, id) AS number
             FROM (SELECT id, at FROM revocations WHERE seq IS NULL ORDER BY at, id LIMIT ?) AS first_ones) AS numbered
       WHERE id = numbered_id RETURNING id, seq, COALESCE(server_time(), ?) - at AS age`,
      last.seq,
      nowMs,
      commitMs,
      nowMs,
      commitMs,
      limit,
      nowMs,
    )
    const newest = numbered.reduce<Position>(
      (latest, { seq, id: mark }) => (seq > latest.seq ? { seq, mark } : latest),
      last,
    )
    const value = `${newest.seq} ${newest.mark} ${first.mark}`
    await transaction.run('UPDATE installation SET value = ? WHERE name = ?', value, ROW)
    const waitedMs = Math.max(0, ...numbered.map(({ age }) => age))
    return { last: newest, first, hasUnnumbered: numbered.length === limit, waitedMs }
  })

const lockFeed = async (transaction: Transaction, newMark: string): Promise<FeedState> => {
  const value = `0 ${newMark} ${newMark}`
  await transaction.run('INSERT INTO installation (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING', ROW, value)
  const row = await transaction.get<{ value: string }>('SELECT value FROM installation WHERE name = ? FOR UPDATE', ROW)
  return readState(row?.value ?? value, true)
}

export type RevocationRow = TableRow<'revocations'> & { seq: number }

const COLUMNS = columnsOf('revocations')

/** Finds the entry with a number and those after it. */
export const findRevocationsFrom = (
  db: Pick<Queries, 'all'>,
  { seq, limit }: { seq: number; limit: number },
): Promise<RevocationRow[]> =>
  db.all(`SELECT ${COLUMNS} FROM revocations WHERE seq >= ? ORDER BY seq LIMIT ?`, seq, limit)

/** Finds the first entries that still matter. */
export const findLiveRevocations = (
  db: Pick<Queries, 'all'>,
  { nowMs, limit }: { nowMs: number; limit: number },
): Promise<RevocationRow[]> =>
  db.all(
    `SELECT ${COLUMNS} FROM revocations WHERE seq >= 1 AND expires_at > COALESCE(server_time(), ?) ORDER BY seq LIMIT ?`,
    nowMs,
    limit,
  )

/** Finds the numbers of the first entries, and until when each matters. */
export const findFirstRevocations = (
  db: Pick<Queries, 'all'>,
  limit: number,
): Promise<{ seq: number; expires_at: number }[]> =>
  db.all('SELECT seq, expires_at FROM revocations WHERE seq >= 1 ORDER BY seq LIMIT ?', limit)

export const deleteRevocationsBefore = (db: Pick<Queries, 'run'>, seq: number): Promise<number> =>
  db.run('DELETE FROM revocations WHERE seq < ?', seq)

/** Deletes entries that nobody has asked for, those that are past their time among the oldest. */
export const deleteUnnumbered = (db: Pick<Queries, 'run'>, nowMs: number, limit: number): Promise<number> =>
  db.run(
    `DELETE FROM revocations WHERE id IN
     (SELECT id FROM (SELECT id, expires_at FROM revocations WHERE seq IS NULL ORDER BY at, id LIMIT ?) AS oldest
      WHERE expires_at <= ?)`,
    limit,
    nowMs,
  )
