import { AppError } from '../../lib/errors.ts'
import type { Queries } from '../database.ts'

/** Where the copy comes from that this database is not yet a whole one of; undefined when it is whole. */
export const findUnfinishedCopy = async (db: Queries): Promise<string | undefined> => {
  const row = await db.get<{ value: string }>(`SELECT value FROM installation WHERE name = 'copy'`)
  return row?.value
}

/** Written before the first row, so that nobody takes half a copy for the whole. */
export const markUnfinished = (db: Queries, from: string): Promise<number> =>
  db.run(`INSERT INTO installation (name, value) VALUES ('copy', ?)`, from)

export const markFinished = (db: Queries): Promise<number> => db.run(`DELETE FROM installation WHERE name = 'copy'`)

/** Throws `conflict` for a database that a copy has not been finished to: people would be missing, or sign up anew. */
export const requireWhole = async (db: Queries): Promise<void> => {
  const from = await findUnfinishedCopy(db)
  if (from === undefined) return
  throw new AppError(
    'conflict',
    `The database holds an unfinished copy of ${from}: run the same svc database copy again, which goes on where it stopped.`,
  )
}
