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

const COLUMNS = 'id, at, type, user_id, actor, address, user_agent, request_id, session_id, details'

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
  /** Empty for the row that counts what has no room among the others. */
  key: string
  /** The details of the row behind their count: `,"reason":"credentials_wrong"}`. */
  detailsEnd: string
}

const ON_CONFLICT = `ON CONFLICT (tally) WHERE tally IS NOT NULL DO UPDATE SET
  count = audit_events.count + excluded.count,
  details = '{"count":' || (audit_events.count + excluded.count) || CAST(? AS TEXT)`

/** Adds to the row of a tally, or makes it where it is the first, and fewer than `limit` others have its place. */
export const countInOwnRow = async (
  db: Pick<Queries, 'run'>,
  { row, count, place, key, detailsEnd }: AuditTally,
  limit: number,
): Promise<boolean> => {
  const tally = `${place}/${key}`
  const changes = await db.run(
    `INSERT INTO audit_events (${COLUMNS}, count, tally)
     SELECT ?, CAST(? AS BIGINT), ?, ?, ?, ?, ?, ?, ?, ?, CAST(? AS BIGINT), ?
     WHERE EXISTS (SELECT 1 FROM audit_events WHERE tally = ?)
       OR (SELECT COUNT(*) FROM audit_events WHERE tally > ? AND tally < ?) < ?
     ${ON_CONFLICT}`,
    ...valuesOf(row),
    count,
    tally,
    tally,
    `${place}/`,
    // The character after the slash.
    `${place}0`,
    limit,
    detailsEnd,
  )
  return changes > 0
}

/** Adds to the one row of a kind and minute that says nothing but how many there were. */
export const countInRestRow = async (
  db: Pick<Queries, 'run'>,
  { row, count, place }: Pick<AuditTally, 'row' | 'count' | 'place'>,
): Promise<void> => {
  await db.run(
    `INSERT INTO audit_events (id, at, type, actor, details, count, tally) VALUES (?, ?, ?, ?, ?, ?, ?) ${ON_CONFLICT}`,
    row.id,
    row.atMs,
    row.type,
    row.actor,
    `{"count":${count}}`,
    count,
    place,
    '}',
  )
}
