import type { Queries, Value } from '../storage/database.ts'
import type { AuditType } from './audit-event.ts'
import type { AuditRow, StoredRow as Row } from './audit-row.ts'
import { AFTER_ALL, COLUMNS, toRow } from './audit-store.ts'

type Reads = Pick<Queries, 'all' | 'get'>

/** The rows to find; conditions that are undefined do not count. */
export interface AuditFilter {
  userId?: string | undefined
  type?: AuditType | undefined
  /** The least id, which is to say the earliest time. */
  from?: string | undefined
}

/** Writes conditions with their values; those come first by which the index finds rows. */
const where = ({ userId, type, from }: AuditFilter, bound: string, id: string): { sql: string; values: Value[] } => {
  const conditions = [
    ['user_id = ?', userId],
    ['type = ?', type],
    ['id >= ?', from],
    [bound, id],
  ].filter((condition): condition is [string, string] => condition[1] !== undefined)
  return { sql: conditions.map(([sql]) => sql).join(' AND '), values: conditions.map(([, value]) => value) }
}

/** Finds rows before an id, the newest first. The filter may have `userId` or `type`. */
export const findEventsBefore = async (
  db: Reads,
  filter: AuditFilter,
  before: string,
  limit: number,
): Promise<AuditRow[]> => {
  const { sql, values } = where(filter, 'id < ?', before)
  const rows = await db.all<Row>(
    `SELECT ${COLUMNS} FROM audit_events WHERE ${sql} ORDER BY id DESC LIMIT ?`,
    ...values,
    limit,
  )
  return rows.map(toRow)
}

/**
 * Finds rows by `userId` and `type` among at most `scanned` rows of the user: there can be millions, and no index for
 * each type. `last` is the last row that was looked at, where there may be more.
 */
export const findTypeOfUserBefore = async (
  db: Reads,
  { type, ...filter }: AuditFilter & { type: AuditType },
  before: string,
  { limit, scanned }: { limit: number; scanned: number },
): Promise<{ rows: AuditRow[]; last: string | undefined }> => {
  const { sql, values } = where(filter, 'id < ?', before)
  const rows = await db.all<Row>(
    `SELECT ${COLUMNS} FROM
       (SELECT ${COLUMNS} FROM audit_events WHERE ${sql} ORDER BY id DESC LIMIT ?) AS latest
     WHERE type = ? ORDER BY id DESC LIMIT ?`,
    ...values,
    scanned,
    type,
    limit,
  )
  const last = await db.get<{ id: string }>(
    `SELECT id FROM audit_events WHERE ${sql} ORDER BY id DESC LIMIT 1 OFFSET ?`,
    ...values,
    scanned - 1,
  )
  return { rows: rows.map(toRow), last: last?.id }
}

/**
 * Finds the latest rows of a user, the newest first: at most `limit` of the types `own`, and as many of the types
 * `counted`, which strangers can make by the million. The index of own rows holds none of these, and they are looked for
 * only as far back as `limit` own rows go.
 *
 * Counted rows must be found by the index of the user's rows: with `user_id = ?`, PostgreSQL searches the rows of all
 * users where it thinks that many are this user's; with `type IN`, SQLite reads all rows of a type.
 */
export const findLatestRecords = async (
  db: Reads,
  userId: string,
  { own, counted, limit }: { own: readonly string[]; counted: readonly string[]; limit: number },
): Promise<AuditRow[]> => {
  const rows = await db.all<Row>(
    `WITH own AS
       (SELECT ${COLUMNS} FROM audit_events
        WHERE user_id = ? AND tally IS NULL AND type IN (${marksOf(own)}) ORDER BY at DESC, id DESC LIMIT ?)
     SELECT * FROM own
     UNION ALL
     SELECT * FROM
       (SELECT ${COLUMNS} FROM audit_events
        WHERE (user_id, id) > (?, COALESCE((SELECT MIN(id) FROM own HAVING COUNT(*) = ?), ''))
          AND (user_id, id) < (?, '${AFTER_ALL}') AND (type || '') IN (${marksOf(counted)})
        ORDER BY user_id DESC, id DESC LIMIT ?) AS counted
     ORDER BY id DESC`,
    userId,
    ...own,
    limit,
    userId,
    limit,
    userId,
    ...counted,
    limit,
  )
  return rows.map(toRow)
}

/**
 * Finds the id of the record by which the owner of an address last took the account over. The index of own rows holds no
 * failed logins, of which there can be millions.
 */
export const findLastReclaim = async (db: Reads, userId: string): Promise<string | undefined> => {
  const row = await db.get<{ id: string }>(
    `SELECT id FROM audit_events WHERE user_id = ? AND tally IS NULL AND type = 'identity.taken_over'
     ORDER BY at DESC, id DESC LIMIT 1`,
    userId,
  )
  return row?.id
}

const marksOf = (values: readonly unknown[]): string => values.map(() => '?').join(', ')

/** Finds rows after an id, the oldest first. */
export const findEventsAfter = async (
  db: Reads,
  filter: AuditFilter,
  after: string,
  limit: number,
): Promise<AuditRow[]> => {
  const { sql, values } = where(filter, 'id > ?', after)
  const rows = await db.all<Row>(
    `SELECT ${COLUMNS} FROM audit_events WHERE ${sql} ORDER BY id LIMIT ?`,
    ...values,
    limit,
  )
  return rows.map(toRow)
}
