import { readdirSync, readFileSync } from 'node:fs'
import { AppError } from '../lib/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { Database } from './database.ts'

const FOLDER = new URL('./migrations/', import.meta.url)

interface Migration {
  name: string
  statements: string[]
}

/** Every migration in order; a file is a list of statements, each ended by `;` at the end of a line. */
const readMigrations = (): Migration[] =>
  readdirSync(FOLDER)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({
      name: file.replace(/\.sql$/, ''),
      statements: readFileSync(new URL(file, FOLDER), 'utf8')
        .split(/;$/m)
        .map((statement) => statement.trim())
        .filter(Boolean),
    }))

const findApplied = async (db: Pick<Database, 'all'>): Promise<string[]> => {
  const rows = await db.all<{ name: string }>('SELECT name FROM migrations ORDER BY name')
  return rows.map((row) => row.name)
}

/** A start that was killed early leaves a database without any table. */
const hasNoTable = (error: unknown): boolean =>
  error instanceof AppError && error.cause instanceof Error && error.cause.message.includes('no such table')

/**
 * Brings the schema up to date and resolves to the names of what was applied. Forward only; each step is one
 * transaction that looks again at what is there, so that two starts at once and a kill half-way are harmless.
 * A schema that is newer than this program is an error: an older program must not guess at it.
 */
export const migrate = async (db: Database, clock: Clock): Promise<string[]> => {
  await db.run('CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at BIGINT NOT NULL)')
  const known = readMigrations()
  const done: string[] = []
  refuseNewer(await findApplied(db), known)
  for (const migration of known) {
    if (await applyOnce(db, migration, clock.now())) done.push(migration.name)
  }
  return done
}

const findAppliedIfAny = (db: Database): Promise<string[]> =>
  findApplied(db).catch((error: unknown) => {
    if (hasNoTable(error)) return []
    throw error
  })

/** The names of what `migrate` would apply; without a database, of everything. */
export const findPendingMigrations = async (db: Database | undefined): Promise<string[]> => {
  const names = readMigrations().map(({ name }) => name)
  const applied = db ? await findAppliedIfAny(db) : []
  return names.filter((name) => !applied.includes(name))
}

const applyOnce = async (db: Database, { name, statements }: Migration, nowMs: number): Promise<boolean> => {
  if ((await findApplied(db)).includes(name)) return false
  return db.inTransaction(async (transaction) => {
    if ((await findApplied(transaction)).includes(name)) return false
    for (const statement of statements) await transaction.run(statement)
    await transaction.run('INSERT INTO migrations (name, applied_at) VALUES (?, ?)', name, nowMs)
    return true
  })
}

const refuseNewer = (applied: string[], known: Migration[]): void => {
  const newer = applied.filter((name) => !known.some((migration) => migration.name === name))
  if (newer.length === 0) return
  throw new AppError('internal_error', `The database was made by a newer svc (it has ${newer.join(', ')}).`)
}
