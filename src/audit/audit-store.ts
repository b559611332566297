import type { Queries } from '../storage/database.ts'

/** A row as it is written. */
export interface NewAuditRow {
  id: string
  atMs: number
  type: string
  userId: string | undefined
  actor: string
  address: string | undefined
  userAgent: string | undefined
  requestId: string | undefined
  sessionId: string | undefined
  /** JSON. */
  details: string
}

export const insertAuditEvent = async (db: Pick<Queries, 'run'>, row: NewAuditRow): Promise<void> => {
  await db.run(
    `INSERT INTO audit_events
       (id, at, type, user_id, actor, address, user_agent, request_id, session_id, details, count)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)`,
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
  )
}
