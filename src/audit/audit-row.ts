import type { Caller } from '../lib/caller.ts'
import { toSnakeCase } from '../lib/snake-case.ts'
import { toTimestamp } from '../lib/time.ts'
import type { TableRow } from '../storage/database.ts'
import type { AuditDetails, AuditEvent, AuditType } from './audit-event.ts'

/** A record. Empty and unknown values are undefined. */
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
  details: string
}

/** A header may be 8 KB long, and a browser is named at its beginning. */
const KEPT_CHARACTERS = 256

/** Headers are read as Latin-1, whose control characters a terminal would obey. */
const UNPRINTABLE = /[^\x20-\x7e\xa0-\xff]/g

const shownUserAgent = (userAgent: string): string => userAgent.slice(0, KEPT_CHARACTERS).replace(UNPRINTABLE, '?')

/** Names are as clients read them: `ended_session_id`. Undefined details are left out. */
export const detailsToJson = (details: AuditDetails): string =>
  JSON.stringify(Object.fromEntries(Object.entries(details).map(([name, value]) => [toSnakeCase(name), value])))

interface NewRow {
  id: string
  atMs: number
  event: AuditEvent
  caller: Caller | undefined
  /** The actor where there is no caller. */
  actor: string
}

export const rowOf = ({ id, atMs, event, caller, actor }: NewRow): AuditRow => ({
  id,
  atMs,
  type: event.type,
  userId: event.userId,
  actor: caller?.actor ?? (caller ? 'user' : actor),
  address: caller?.device?.address || undefined,
  userAgent: shownUserAgent(caller?.device?.userAgent ?? '') || undefined,
  requestId: caller?.requestId,
  sessionId: event.sessionId ?? ownSession(event, caller),
  // What an operator says about the act tells more than the name of the event.
  details: detailsToJson({ ...event.details, ...(caller?.reason !== undefined && { reason: caller.reason }) }),
})

/** A browser may hold a session of another account than the one that it tries to enter. */
const ownSession = ({ userId }: AuditEvent, caller: Caller | undefined): string | undefined =>
  caller?.session?.userId === userId ? caller?.session?.sessionId : undefined

/** The columns of a record as the database returns them. */
export type StoredRow = Omit<TableRow<'audit_events'>, 'count' | 'tally'> & { type: AuditType }

/** The columns are in the order of their table. */
export const toStored = (row: AuditRow): StoredRow => ({
  id: row.id,
  at: row.atMs,
  type: row.type,
  user_id: row.userId ?? null,
  actor: row.actor,
  address: row.address ?? null,
  user_agent: row.userAgent ?? null,
  request_id: row.requestId ?? null,
  session_id: row.sessionId ?? null,
  details: row.details,
})

/** Formats a record for operators and clients: in the log, on the command line and in the server API. */
export const toAuditJson = (row: AuditRow) => ({
  ...toStored(row),
  at: toTimestamp(row.atMs),
  details: JSON.parse(row.details) as Record<string, unknown>,
})
