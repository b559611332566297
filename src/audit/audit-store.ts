import type { Queries } from '../storage/database.ts'
import type { AuditType } from './audit-event.ts'

/** A row. */
export interface AuditRow {
  id: string
  atMs: number
  type: AuditType
  userId: string | undefined
  actor: string
  address: string | undefined
  userAgent: string | undefined
  requestId: string | undefined
  sessionId: string | undefined
  /** JSON. */
  details: string
}

export const COLUMNS = 'id, at, type, user_id, actor, address, user_agent, request_id, session_id, details'

/** As the database returns the columns. */
export interface StoredRow {
  id: string
  at: number
  type: AuditType
  user_id: string | null
  actor: string
  address: string | null
  user_agent: string | null
  request_id: string | null
  session_id: string | null
  details: string
}

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

const valuesOf = (row: AuditRow) => [
  row.id,
  row.atMs,
  row.type,
  row.userId ?? null,
  row.actor,
  row.address ?? null,
  row.userAgent ?? null,
  row.requestId ?? null,
  row.sessionId ?? null,
  row.details,
]

/** `tally`: a name for work that the row leaves to do. */
export const insertAuditEvent = async (
  db: Pick<Queries, 'run'>,
  row: AuditRow,
  tally: string | null = null,
): Promise<void> => {
  await db.run(
    `INSERT INTO audit_events (${COLUMNS}, count, tally) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?)`,
    ...valuesOf(row),
    tally,
  )
}

/** Rows that stand for several events. */
export interface AuditTally {
  row: AuditRow
  count: number
  /** What is counted by: rows of one kind and minute begin with `place`. */
  place: string
  key: string
}

/** Of the first event, all but the count stays: its details are `{"count":7`, and what comes behind it. */
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
    ...valuesOf(row),
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
