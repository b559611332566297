import { setImmediate } from 'node:timers/promises'
import type { Database } from '../../storage/database.ts'
import { findPasswordHashes } from './password-hash-store.ts'
import type { Passwords } from './passwords.ts'

const BATCH = 1000

/** How many users have a password hash that no password can be checked with here. */
export const countUncheckableHashes = async (db: Database, passwords: Passwords): Promise<number> => {
  let count = 0
  let after = ''
  for (;;) {
    const rows = await findPasswordHashes(db, after, BATCH)
    for (const { hash } of rows) if (!(await passwords.isCheckable(hash))) count += 1
    const last = rows.at(-1)
    if (!last || rows.length < BATCH) return count
    after = last.id
    await setImmediate()
  }
}
