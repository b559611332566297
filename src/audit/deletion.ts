import type { Queries } from '../storage/database.ts'
import { insertAuditEvent, type AuditRow } from './audit-store.ts'
import { eraseEvents, ERASURE } from './erasure-store.ts'

/** No transaction changes more rows: of an account that was under attack, there can be millions. */
const ERASED_AT_ONCE = 1000

/** By the id of the request, the log tells an address; by that of the session, it tells the requests. */
const NOTHING_KEPT = { address: undefined, userAgent: undefined, requestId: undefined, sessionId: undefined }

/** After all ids, which are hexadecimal. */
const AFTER_ALL = 'g'

/**
 * The record that a user was deleted keeps their id alone, beside who deleted it. Those before it lose at once what
 * tells where the user was, as far as there are not too many; cleanup does the rest. Resolves to the row as it is stored.
 */
export const recordDeletion = async (transaction: Pick<Queries, 'run'>, row: AuditRow): Promise<AuditRow> => {
  const { id, userId = '' } = row
  await eraseEvents(transaction, { userId, before: AFTER_ALL, limit: ERASED_AT_ONCE })
  const erased = { ...row, ...NOTHING_KEPT, details: '{}' }
  await insertAuditEvent(transaction, erased, `${ERASURE}/${id}`)
  return erased
}
