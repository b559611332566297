import type { Queries, Value } from '../storage/database.ts'
import type { AuditType } from './audit-event.ts'
import type { AuditRow, StoredRow as Row } from './audit-row.ts'
import { AFTER_ALL, COLUMNS, toRow } from './audit-store.ts'

type Reads = Pick<Queries, 'all' | 'get'>

/** The rows to find; conditions that are undefined do not count. */
export interface AuditFilter {
  requestId?: string | undefined
  userId?: string | undefined
  address?: string | undefined
  /** Any but `user`, which most rows have. */
  actor?: string | undefined
  type?: AuditType | undefined
  /** The least id, which is to say the earliest time. */
  from?: string | undefined
  /** No rows of these types. */
  without?: readonly AuditType[] | undefined
}

type Condition = readonly [sql: string, ...values: Value[]]

/** The index of requests has the beginnings of their ids alone, which are random. */
const INDEXED_CHARACTERS = 8

/** Each of these conditions has an index, in the order of how few rows they leave. */
const indexed = ({ requestId, userId, address, actor, type }: AuditFilter): Condition[] => {
  const conditions: (Condition | undefined)[] = [
    requestId === undefined
      ? undefined
      : [
          `SUBSTR(request_id, 1, ${INDEXED_CHARACTERS}) = ? AND request_id = ?`,
          requestId.slice(0, INDEXED_CHARACTERS),
          requestId,
        ],
    userId === undefined ? undefined : ['user_id = ?', userId],
    address === undefined ? undefined : ['address = ?', address],
    actor === undefined ? undefined : [`actor = ? AND actor <> 'user'`, actor],
    type === undefined ? undefined : ['type = ?', type],
  ]
  return conditions.filter((condition) => condition !== undefined)
}

/** Joins conditions with their values; the first are those by which an index finds rows. */
const joined = (conditions: readonly Condition[]): { sql: string; values: Value[] } => ({
  sql: conditions.map(([sql]) => sql).join(' AND '),
  values: conditions.flatMap(([, ...values]) => values),
})

const restOf = ({ from, without = [] }: AuditFilter): Condition[] => [
  ...(from === undefined ? [] : [['id >= ?', from] as const]),
  // No index of types helps here.
  ...(without.length === 0 ? [] : [[`(type || '') NOT IN (${marksOf(without)})`, ...without] as const]),
]

/** Finds rows before an id, the newest first. The filter may have one condition that has an index. */
export const findEventsBefore = async (
  db: Reads,
  filter: AuditFilter,
  before: string,
  limit: number,
): Promise<AuditRow[]> => {
  const { sql, values } = joined([...indexed(filter), ...restOf(filter), ['id < ?', before]])
  const rows = await db.all<Row>(
    `SELECT ${COLUMNS} FROM audit_events WHERE ${sql} ORDER BY id DESC LIMIT ?`,
    ...values,
    limit,
  )
  return rows.map(toRow)
}

/** Tells whether rows must be looked at that an index finds, to find those that are meant. */
export const needsScan = (filter: AuditFilter): boolean => indexed(filter).length > 1

/**
 * Finds rows by several conditions among at most `scanned` rows that the first of them finds: there can be millions, and
 * no index for each pair. `last` is the last row that was looked at, where there may be more.
 */
export const scanEventsBefore = async (
  db: Reads,
  filter: AuditFilter,
  before: string,
  { limit, scanned }: { limit: number; scanned: number },
): Promise<{ rows: AuditRow[]; last: string | undefined }> => {
  const [first, ...others] = indexed(filter)
  const found = joined([...(first ? [first] : []), ...restOf(filter), ['id < ?', before]])
  const meant = joined(others)
  const rows = await db.all<Row>(
    `SELECT ${COLUMNS} FROM
       (SELECT ${COLUMNS} FROM audit_events WHERE ${found.sql} ORDER BY id DESC LIMIT ?) AS latest
     WHERE ${meant.sql} ORDER BY id DESC LIMIT ?`,
    ...found.values,
    scanned,
    ...meant.values,
    limit,
  )
  const last = await db.get<{ id: string }>(
    `SELECT id FROM audit_events WHERE ${found.sql} ORDER BY id DESC LIMIT 1 OFFSET ?`,
    ...found.values,
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

/**
 * Tells whether a record of this type was made about a user by an actor since a time. The index of own rows holds no
 * failed logins.
 */
export const hasRecordSince = async (
  db: Reads,
  { userId, actor, type, sinceMs }: { userId: string; actor: string; type: AuditType; sinceMs: number },
): Promise<boolean> => {
  const sql = `SELECT id FROM audit_events
     WHERE user_id = ? AND tally IS NULL AND at > ? AND type = ? AND actor = ? LIMIT 1`
  return (await db.get(sql, userId, sinceMs, type, actor)) !== undefined
}

/**
 * Finds the user of a session or a grant that may have ended, by the records that were made when it began. The id tells
 * the time.
 */
export const findUserOfEnded = async (
  db: Reads,
  { id, fromId, toId }: { id: string; fromId: string; toId: string },
): Promise<string | undefined> => {
  const row = await db.get<{ user_id: string }>(
    `SELECT user_id FROM audit_events
     WHERE id >= ? AND id < ? AND user_id IS NOT NULL AND (session_id = ? OR details LIKE ?) LIMIT 1`,
    fromId,
    toId,
    id,
    `%"${id}"%`,
  )
  return row?.user_id
}

const marksOf = (values: readonly unknown[]): string => values.map(() => '?').join(', ')

/** Finds rows after an id, the oldest first. */
export const findEventsAfter = async (
  db: Reads,
  filter: AuditFilter,
  after: string,
  limit: number,
): Promise<AuditRow[]> => {
  const { sql, values } = joined([...indexed(filter), ...restOf(filter), ['id > ?', after]])
  const rows = await db.all<Row>(
    `SELECT ${COLUMNS} FROM audit_events WHERE ${sql} ORDER BY id LIMIT ?`,
    ...values,
    limit,
  )
  return rows.map(toRow)
}
