import { inPieces, rowPlaceholders } from '../lib/sql-values.ts'
import {
  columnsOf,
  type Database,
  insertRows,
  type Queries,
  type TableRow,
  type Transaction,
} from '../storage/database.ts'
import type { NewRevocation, Position } from './revocation.ts'

const INSERT = `INSERT INTO new_revocations (id, type, user_id, session_ids, replaced_by, reason, at, expires_at) VALUES `
const ROW_OF_VALUES = '(?, ?, ?, ?, ?, ?, COALESCE(server_time(), ?), COALESCE(server_time(), ?) + ?)'
const INSERT_ONE = INSERT + ROW_OF_VALUES

/** Writes entries that have no number yet; they matter for `keptMs`. */
export const insertRevocations = async (
  db: Pick<Queries, 'run'>,
  entries: readonly NewRevocation[],
  { nowMs, keptMs }: { nowMs: number; keptMs: number },
): Promise<void> => {
  for (const piece of inPieces(entries)) {
    const rows = piece.map(() => ROW_OF_VALUES).join(', ')
    await db.run(
      piece.length === 1 ? INSERT_ONE : INSERT + rows,
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
            (SELECT id FROM new_revocations LIMIT 1) AS unnumbered`,
    ROW,
  )
  return row?.value ? readState(row.value, row.unnumbered !== null) : undefined
}

interface Numbering {
  /** The feed begins with this mark if it has not begun. */
  newMark: string
  limit: number
  nowMs: number
}

type Unnumbered = TableRow<'new_revocations'> & { now: number }

/**
 * Gives numbers to committed entries that have none, in order of time. An entry of a transaction that commits later gets
 * a greater number than all that anybody has read (docs/decisions/048-order-of-users.md).
 */
export const numberRevocations = (db: Database, { newMark, limit, nowMs }: Numbering): Promise<FeedState> =>
  db.inTransaction(async (transaction) => {
    const { last, first } = await lockFeed(transaction, newMark)
    const found = await transaction.all<Unnumbered>(
      `SELECT ${columnsOf('new_revocations')}, COALESCE(server_time(), CAST(? AS BIGINT)) AS now
       FROM new_revocations ORDER BY id LIMIT ?`,
      nowMs,
      limit,
    )
    // Ids have the time of several machines; that of the server says what came first.
    const numbered = found
      .toSorted((one, other) => one.at - other.at)
      .map(({ now, ...row }, index) => ({
        ...row,
        seq: last.seq + 1 + index,
        not_before: row.type === 'session-revoked' ? null : Math.min(now, row.at + longestCommitMs(db)),
      }))
    for (const piece of inPieces(numbered)) {
      await insertRows(transaction, 'revocations', piece)
      const ids = piece.map(({ id }) => id)
      await transaction.run(`DELETE FROM new_revocations WHERE id IN ${rowPlaceholders(1, ids.length)}`, ...ids)
    }
    const newest = numbered.at(-1)
    const reached = newest ? { seq: newest.seq, mark: newest.id } : last
    const value = `${reached.seq} ${reached.mark} ${first.mark}`
    await transaction.run('UPDATE installation SET value = ? WHERE name = ?', value, ROW)
    const waitedMs = Math.max(0, ...found.map(({ now, at }) => now - at))
    return { last: reached, first, hasUnnumbered: found.length === limit, waitedMs }
  })

/**
 * A commit follows its entry by no more than twice the time of an operation; on SQLite, which has no server, by this.
 * Tokens that were issued before the commit may hold what was before.
 */
const longestCommitMs = ({ timeoutMs = 5000 }: Database): number => 2 * timeoutMs

const lockFeed = async (transaction: Transaction, newMark: string): Promise<FeedState> => {
  const value = `0 ${newMark} ${newMark}`
  await transaction.run('INSERT INTO installation (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING', ROW, value)
  const row = await transaction.get<{ value: string }>('SELECT value FROM installation WHERE name = ? FOR UPDATE', ROW)
  return readState(row?.value ?? value, true)
}

export type RevocationRow = TableRow<'revocations'>

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
    `DELETE FROM new_revocations WHERE id IN
     (SELECT id FROM (SELECT id, expires_at FROM new_revocations ORDER BY id LIMIT ?) AS oldest WHERE expires_at <= ?)`,
    limit,
    nowMs,
  )
