import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { OpenDatabase } from '../support/database/database.ts'
import { databaseChoice } from '../support/database/database-choice.ts'

const DIALECT = databaseChoice === 'sqlite' ? 'sqlite' : 'postgres'
const MIGRATIONS = path.join(import.meta.dirname, '../../src/storage/migrations')

/** Makes the schema that of the version before, as if the migration had never been. */
export const takeBack = async ({ rows }: OpenDatabase, migration: string): Promise<void> => {
  const sql = readFileSync(path.join(MIGRATIONS, `${migration}.${DIALECT}.sql`), 'utf8')
  const found = (pattern: RegExp): string[][] => [...sql.matchAll(pattern)].map(([, ...parts]) => parts.map(String))
  for (const [index] of found(/CREATE (?:UNIQUE )?INDEX (\w+)/g)) await rows(`DROP INDEX ${index}`)
  for (const [table] of found(/CREATE TABLE (\w+)/g)) await rows(`DROP TABLE ${table}`)
  for (const [table, column] of found(/ALTER TABLE (\w+) ADD COLUMN (\w+)/g))
    await rows(`ALTER TABLE ${table} DROP COLUMN ${column}`)
  for (const [table] of found(/ALTER TABLE (\w+) SET UNLOGGED/g)) await rows(`ALTER TABLE ${table} SET LOGGED`)
  await rows('DELETE FROM migrations WHERE name = ? RETURNING name', migration)
}
