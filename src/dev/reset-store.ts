import type { Database } from '../storage/database.ts'
import { TABLES } from '../storage/tables.ts'

/**
 * These tables stay: verifiers of access tokens hold on to the keys that they have fetched, and would refuse those of
 * new ones for half a minute.
 */
const KEPT = ['installation', 'signing_keys']

/** Deletes every row of the database but those of the signing keys. */
export const deleteEverything = (db: Database): Promise<void> =>
  db.inTransaction(async (transaction) => {
    // A row goes before the one that it refers to.
    for (const { name } of TABLES.toReversed()) if (!KEPT.includes(name)) await transaction.run(`DELETE FROM ${name}`)
  })
