import type { OpenDatabase } from '../database/database.ts'
import { databaseChoice } from '../database/database-choice.ts'

/** Rows that were deleted, and whether the feed tells of them. */
export type WatchedEndings = {
  /** The sessions and grants whose rows are gone, and in no entry. */
  untold(): Promise<string[]>
  /** How many rows are gone. */
  count(): Promise<number>
}

const TABLES = ['sessions', 'grants']

const triggerOn = (table: string): string[] =>
  databaseChoice === 'postgres'
    ? [
        `CREATE FUNCTION watch_${table}() RETURNS trigger LANGUAGE plpgsql AS
         'BEGIN INSERT INTO ended_ids VALUES (OLD.id); RETURN NULL; END'`,
        `CREATE TRIGGER watched AFTER DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION watch_${table}()`,
      ]
    : [
        `CREATE TRIGGER watched_${table} AFTER DELETE ON ${table}
         BEGIN INSERT INTO ended_ids VALUES (OLD.id); END`,
      ]

/**
 * Has the database itself note each session and grant that is deleted from now on, by whatever path: none may be gone
 * without an entry.
 */
export const watchEndings = async (database: OpenDatabase): Promise<WatchedEndings> => {
  await database.rows('CREATE TABLE ended_ids (id TEXT)')
  for (const table of TABLES) for (const sql of triggerOn(table)) await database.rows(sql)
  const gone = async () => (await database.rows('SELECT id FROM ended_ids')).map(({ id }) => String(id))
  return {
    count: async () => (await gone()).length,
    async untold() {
      const rows: Record<string, unknown>[] = []
      for (const table of ['new_revocations', 'revocations'])
        rows.push(...(await database.rows(`SELECT session_ids FROM ${table} WHERE session_ids IS NOT NULL`)))
      const told = new Set(rows.flatMap(({ session_ids: ids }) => JSON.parse(String(ids)) as string[]))
      return (await gone()).filter((id) => !told.has(id))
    },
  }
}
