import type { Queries } from '../storage/database.ts'
import type { AuditDetails } from './audit-event.ts'
import { type AuditRow, detailsToJson } from './audit-row.ts'
import { AFTER_ALL, insertAuditEvent } from './audit-store.ts'

/**
 * The tally of a row that tells of a deleted user begins with it, until the other rows of the user are erased. The slash
 * is followed by the id of the row; a zero is the character after a slash.
 */
const [FIRST_ERASURE, AFTER_ERASURES] = ['erase/', 'erase0']

/** No transaction changes more rows: of an account that was under attack, there can be millions. */
const ERASED_AT_ONCE = 1000

/** The log tells an address by the id of the request, and the requests by that of the session. */
const NOTHING_KEPT = { address: undefined, userAgent: undefined, requestId: undefined, sessionId: undefined }

/**
 * Inserts the record of a deletion, which keeps the id of the user alone, beside the actor and the reason of an operator.
 * Earlier records of the user
 * lose at once what tells where the user was, as far as there are not too many; cleanup does the rest. Resolves to the
 * row as it is stored.
 */
export const recordDeletion = async (transaction: Pick<Queries, 'run'>, row: AuditRow): Promise<AuditRow> => {
  const { id, userId = '' } = row
  await eraseEvents(transaction, { userId, before: AFTER_ALL, limit: ERASED_AT_ONCE })
  const { reason } = JSON.parse(row.details) as AuditDetails
  const erased = { ...row, ...NOTHING_KEPT, details: detailsToJson({ reason }) }
  await insertAuditEvent(transaction, erased, `${FIRST_ERASURE}${id}`)
  return erased
}

interface Erasure {
  userId: string
  /** Only rows whose ids sort before this. */
  before: string
  limit: number
}

/**
 * Erases address, agent, request, session and details of the latest rows of a user; resolves to how many rows had some.
 * The tally goes too: with the id of the user, an IPv4 address is soon found from its hash.
 */
export const eraseEvents = (db: Pick<Queries, 'run'>, { userId, before, limit }: Erasure): Promise<number> =>
  db.run(
    `UPDATE audit_events
     SET address = NULL, user_agent = NULL, request_id = NULL, session_id = NULL, details = '{}', tally = NULL
     WHERE id IN (SELECT id FROM audit_events WHERE user_id = ? AND id < ? ORDER BY id DESC LIMIT ?)
       AND type <> 'user.deleted'
       AND (address IS NOT NULL OR user_agent IS NOT NULL OR request_id IS NOT NULL OR session_id IS NOT NULL
         OR details <> '{}')`,
    userId,
    before,
    limit,
  )

/** The id of the last row that `eraseEvents` has looked at; undefined when there are none after it. */
export const findNextToErase = async (db: Queries, { userId, before, limit }: Erasure): Promise<string | undefined> => {
  const row = await db.get<{ id: string }>(
    'SELECT id FROM audit_events WHERE user_id = ? AND id < ? ORDER BY id DESC LIMIT 1 OFFSET ?',
    userId,
    before,
    limit - 1,
  )
  return row?.id
}

export interface DeletedUser {
  /** The id of the row that tells of it. */
  id: string
  userId: string
  deletedAtMs: number
}

export const findDeletedUsers = (db: Queries, beforeMs: number, limit: number): Promise<DeletedUser[]> =>
  db.all(
    `SELECT id, user_id AS "userId", at AS "deletedAtMs" FROM audit_events
     WHERE tally > ? AND tally < ? AND at <= ? ORDER BY tally LIMIT ?`,
    FIRST_ERASURE,
    AFTER_ERASURES,
    beforeMs,
    limit,
  )

export const endErasure = (db: Pick<Queries, 'run'>, id: string): Promise<number> =>
  db.run('UPDATE audit_events SET tally = NULL WHERE id = ?', id)

/** Deletes rows whose ids sort before this one, the oldest first; resolves to how many. */
export const deleteOldEvents = (db: Pick<Queries, 'run'>, before: string, limit: number): Promise<number> =>
  db.run(
    'DELETE FROM audit_events WHERE id IN (SELECT id FROM audit_events WHERE id < ? ORDER BY id LIMIT ?)',
    before,
    limit,
  )
