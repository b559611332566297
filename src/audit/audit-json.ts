import { toTimestamp } from '../lib/time.ts'
import type { AuditRow } from './audit-store.ts'

/** A record as operators and clients see it: in the log, on the command line and from the server API. */
export const toAuditJson = (row: AuditRow) => ({
  id: row.id,
  at: toTimestamp(row.atMs),
  type: row.type,
  user_id: row.userId ?? null,
  actor: row.actor,
  address: row.address ?? null,
  user_agent: row.userAgent ?? null,
  request_id: row.requestId ?? null,
  session_id: row.sessionId ?? null,
  details: JSON.parse(row.details) as Record<string, unknown>,
})
