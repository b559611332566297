import type { Queries } from '../storage/database.ts'

/** Ends the sign-ins of a user that have proved a password or a provider, and wait for a second factor. */
export const endPendingSignIns = (db: Queries, userId: string): Promise<number> =>
  db.run('UPDATE users SET sign_in_generation = sign_in_generation + 1 WHERE id = ?', userId)
