import type { Queries } from '../storage/database.ts'
import { insertAuditEvent, type AuditRow } from './audit-store.ts'
import { eraseEvents, ERASURE } from './erasure-store.ts'

/** No transaction changes more rows: of an account that was under attack, there can be millions. */
const ERASED_AT_ONCE = 1000

/** After all ids, which are hexadecimal. */
const AFTER_ALL = 'g'

/**
 * The record that a user was deleted keeps their id alone. Those before it lose address, agent and details at once, as
 * far as there are not too many; cleanup does the rest.
 */
export const recordDeletion = async (transaction: Pick<Queries, 'run'>, row: AuditRow): Promise<void> => {
  const { id, userId = '' } = row
  await eraseEvents(transaction, { userId, before: AFTER_ALL, limit: ERASED_AT_ONCE })
  const erased = { ...row, address: undefined, userAgent: undefined, details: '{}' }
  await insertAuditEvent(transaction, erased, `${ERASURE}/${id}`)
}
