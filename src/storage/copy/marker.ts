import { AppError } from '../../lib/errors.ts'
import type { Queries } from '../database.ts'

/** The marker is written before the first row, so that svc never starts on half a copy. */
export const markUnfinished = (db: Queries, from: string): Promise<number> =>
  db.run(`INSERT INTO installation (name, value) VALUES ('copy', ?)`, from)

export const markFinished = (db: Queries): Promise<number> => db.run(`DELETE FROM installation WHERE name = 'copy'`)

/** Throws `conflict` while a copy to this database is unfinished: users would be missing, and could sign up again. */
export const requireNoUnfinishedCopy = async (db: Queries): Promise<void> => {
  const row = await db.get<{ value: string }>(`SELECT value FROM installation WHERE name = 'copy'`)
  if (!row) return
  throw new AppError(
    'conflict',
    `The database holds an unfinished copy of ${row.value}: delete it, and run svc database copy again, to a new, empty database.`,
  )
}
