import { columnsOf, insertRow, type NewRow, type Queries, type Value } from '../storage/database.ts'
import { type AuditRow, type StoredRow, toStored } from './audit-row.ts'

/** Sorts after all ids, which are hexadecimal. */
export const AFTER_ALL = 'g'

/** The columns of a record; the others say what it stands for, and what it leaves to do. */
export const COLUMNS = columnsOf('audit_events', 'count', 'tally')

export const toRow = (row: StoredRow): AuditRow => ({
  id: row.id,
  atMs: row.at,
  type: row.type,
  userId: row.user_id ?? undefined,
  actor: row.actor,
  address: row.address ?? undefined,
  userAgent: row.user_agent ?? undefined,
  requestId: row.request_id ?? undefined,
  sessionId: row.session_id ?? undefined,
  details: row.details,
})

/** `tally` names work that the row leaves to do. */
export const insertAuditEvent = (
  db: Pick<Queries, 'run'>,
  row: AuditRow,
  tally: NewRow<'audit_events'>['tally'] = null,
): Promise<number> => insertRow(db, 'audit_events', { ...toStored(row), count: 1, tally })

/** A row that stands for several events. */
export interface AuditTally {
  row: AuditRow
  count: number
  /** Place and key are counted by: the tallies of one kind and minute begin with `place`. */
  place: string
  key: string
}

/** Keeps all of the first event but the count, with which its details begin: `{"count":7,…`. */
const ADD_AND_RETURN = `ON CONFLICT (tally) WHERE tally IS NOT NULL DO UPDATE SET
  count = audit_events.count + excluded.count,
  details = '{"count":' || (audit_events.count + excluded.count)
    || SUBSTR(audit_events.details, LENGTH('{"count":' || audit_events.count) + 1)
  RETURNING ${COLUMNS}`

/**
 * Adds to the row of a tally, or makes it where it is the first, and fewer than `limit` others have its place. Resolves
 * to the row as it is stored, which another process may have made; undefined where it has no place.
 */
export const countInOwnRow = async (
  db: Pick<Queries, 'get'>,
  { row, count, place, key }: AuditTally,
  limit: number,
): Promise<AuditRow | undefined> => {
  const tally = `${place}/${key}`
  const stored = await db.get<StoredRow>(
    `INSERT INTO audit_events (${COLUMNS}, count, tally)
     SELECT ?, CAST(? AS BIGINT), ?, ?, ?, ?, ?, ?, ?, ?, CAST(? AS BIGINT), ?
     WHERE EXISTS (SELECT 1 FROM audit_events WHERE tally = ?)
       OR (SELECT COUNT(*) FROM audit_events WHERE tally > ? AND tally < ?) < ?
     ${ADD_AND_RETURN}`,
    ...Object.values<Value>(toStored(row)),
    count,
    tally,
    tally,
    `${place}/`,
    // The character after the slash.
    `${place}0`,
    limit,
  )
  return stored && toRow(stored)
}

/** Adds to the one row of a kind and minute that says nothing but how many there were; resolves to it as it is stored. */
export const countInRestRow = async (
  db: Pick<Queries, 'get'>,
  { row, count, place }: Omit<AuditTally, 'key'>,
): Promise<AuditRow> => {
  const stored = await db.get<StoredRow>(
    `INSERT INTO audit_events (id, at, type, actor, details, count, tally) VALUES (?, ?, ?, ?, ?, ?, ?) ${ADD_AND_RETURN}`,
    row.id,
    row.atMs,
    row.type,
    row.actor,
    `{"count":${count}}`,
    count,
    place,
  )
  if (!stored) throw new TypeError('The row was neither made nor changed')
  return toRow(stored)
}
