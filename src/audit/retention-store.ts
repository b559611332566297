import type { Queries } from '../storage/database.ts'

/** Deletes rows whose ids sort before this one, the oldest first; resolves to how many. */
export const deleteOldEvents = (db: Pick<Queries, 'run'>, before: string, limit: number): Promise<number> =>
  db.run(
    'DELETE FROM audit_events WHERE id IN (SELECT id FROM audit_events WHERE id < ? ORDER BY id LIMIT ?)',
    before,
    limit,
  )
