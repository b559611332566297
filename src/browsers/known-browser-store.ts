import type { Queries } from '../storage/database.ts'

/** No browser is known to the account any longer. */
export const deleteKnownBrowsers = (db: Queries, userId: string): Promise<number> =>
  db.run('DELETE FROM known_browsers WHERE user_id = ?', userId)

/** Each known browser stays known, and none is trusted any longer. */
export const endTrust = (db: Queries, userId: string): Promise<number> =>
  db.run('UPDATE known_browsers SET trusted_until = NULL WHERE user_id = ? AND trusted_until IS NOT NULL', userId)
