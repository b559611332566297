import type { Caller } from '../lib/caller.ts'
import { toSnakeCase } from '../lib/snake-case.ts'
import type { AuditDetails, AuditEvent } from './audit-event.ts'
import type { AuditRow } from './audit-store.ts'

/** A header may be 8 KB long, and a browser is named at its beginning. */
const KEPT_CHARACTERS = 256

/** Headers are read as Latin-1, whose control characters a terminal would obey. */
const UNPRINTABLE = /[^\x20-\x7e\xa0-\xff]/g

const shownUserAgent = (userAgent: string): string => userAgent.slice(0, KEPT_CHARACTERS).replace(UNPRINTABLE, '?')

/** JSON, with names as clients read them: `ended_session_id`. Undefined details are left out. */
export const detailsToJson = (details: AuditDetails): string =>
  JSON.stringify(Object.fromEntries(Object.entries(details).map(([name, value]) => [toSnakeCase(name), value])))

interface NewRow {
  id: string
  atMs: number
  event: AuditEvent
  caller: Caller | undefined
  /** Who acts where there is no caller. */
  actor: string
}

/** The row of an event. What is empty or not known is undefined. */
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
  details: detailsToJson(event.details ?? {}),
})

/** A browser may hold a session of another account than the one that it tries to enter. */
const ownSession = ({ userId }: AuditEvent, caller: Caller | undefined): string | undefined =>
  caller?.session?.userId === userId ? caller?.session?.sessionId : undefined
