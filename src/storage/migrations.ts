import { readdirSync, readFileSync } from 'node:fs'
import { AppError } from '../lib/errors.ts'
import { type Clock, sleep } from '../lib/time.ts'
import { type Database, type Dialect, isUniqueViolation, type Queries } from './database.ts'
import { isPoolerUnfit } from './postgres/errors.ts'

const FOLDER = new URL('./migrations/', import.meta.url)

/** How long a migration goes on asking for a table that is in use: each time it lets everybody else go before it. */
const BUSY_PATIENCE_MS = 30_000

interface Migration {
  name: string
  /** The oldest migration that a program must know to work on the schema that this one makes. */
  worksWith: string
  statements: string[]
}

/** Every migration in order; a file is a list of statements, each ended by `;` at the end of a line. */
const readMigrations = (dialect: Dialect): Migration[] =>
  readdirSync(FOLDER)
    .filter((file) => file.endsWith(`.${dialect}.sql`))
    .sort()
    .map((file) => readMigration(file.replace(`.${dialect}.sql`, ''), readFileSync(new URL(file, FOLDER), 'utf8')))

const readMigration = (name: string, text: string): Migration => ({
  name,
  worksWith: /^-- works with: (\S+)$/m.exec(text)?.[1] ?? name,
  statements: text
    .replace(/^\s*--.*$/gm, '')
    .split(/;$/m)
    .map((statement) => statement.trim())
    .filter(Boolean),
})

const findApplied = async (db: Pick<Database, 'all'>): Promise<string[]> => {
  const rows = await db.all<{ name: string }>('SELECT name FROM migrations ORDER BY name')
  return rows.map((row) => row.name)
}

const UNDEFINED_TABLE = '42P01'

/** A start that was killed early leaves a database without any table. */
const hasNoTable = (error: unknown): boolean => {
  const cause = error instanceof AppError ? error.cause : undefined
  if (!(cause instanceof Error)) return false
  return cause.message.includes('no such table') || ('code' in cause && cause.code === UNDEFINED_TABLE)
}

const findAppliedIfAny = (db: Database): Promise<string[]> =>
  findApplied(db).catch((error: unknown) => {
    if (hasNoTable(error)) return []
    throw error
  })

/**
 * Brings the schema up to date and resolves to the names of what was applied. Forward only; each step is one
 * transaction that begins by writing its name down, so that of two starts at once the second waits for the first and
 * then has nothing to do, and a kill half-way leaves nothing. A table in use makes it wait its turn without standing in
 * anybody's way, and in the end `unavailable`. A schema that this program is too old for is an error.
 */
export const migrate = async (db: Database, clock: Clock): Promise<string[]> => {
  const known = readMigrations(db.dialect)
  const applied = await findAppliedIfAny(db)
  await requireOldEnough(db, applied, known)
  const done: string[] = []
  const pending = known.filter(({ name }) => !applied.includes(name))
  if (pending.length > 0) await createTable(db)
  for (const migration of pending) {
    if (await patiently(() => applyOnce(db, migration, clock.now()))) done.push(migration.name)
  }
  return done
}

/** The names of what `migrate` would apply; without a database, of everything. */
export const findPendingMigrations = async (dialect: Dialect, db: Database | undefined): Promise<string[]> => {
  const names = readMigrations(dialect).map(({ name }) => name)
  const applied = db ? await findAppliedIfAny(db) : []
  return names.filter((name) => !applied.includes(name))
}

/** PostgreSQL answers two at once with an error of its own catalogue to one of them. */
const createTable = (db: Database): Promise<unknown> => {
  const create = () =>
    db.run(
      'CREATE TABLE IF NOT EXISTS migrations (name TEXT CONSTRAINT "migrations.name" PRIMARY KEY, applied_at BIGINT NOT NULL)',
    )
  return create().catch(create)
}

const applyOnce = async (db: Database, migration: Migration, nowMs: number): Promise<boolean> => {
  try {
    await db.inTransaction((transaction) => apply(transaction, migration, nowMs))
    return true
  } catch (error) {
    if (isUniqueViolation(error, 'migrations.name')) return false
    throw error
  }
}

const apply = async (transaction: Queries, { name, worksWith, statements }: Migration, nowMs: number) => {
  await transaction.run('INSERT INTO migrations (name, applied_at) VALUES (?, ?)', name, nowMs)
  for (const statement of statements) await transaction.run(statement)
  await transaction.run(
    `INSERT INTO installation (name, value) VALUES ('schema works with', ?)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    worksWith,
  )
}

const patiently = async <T>(attempt: () => Promise<T>): Promise<T> => {
  const deadline = performance.now() + BUSY_PATIENCE_MS
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      const passes = error instanceof AppError && error.code === 'unavailable' && !isPoolerUnfit(error)
      if (!passes || performance.now() > deadline) throw error
      await sleep(200 + Math.random() * 300)
    }
  }
}

/** During an upgrade an older program works on a newer schema, as far as that schema says that it can. */
const requireOldEnough = async (db: Queries, applied: string[], known: Migration[]): Promise<void> => {
  const names = known.map(({ name }) => name)
  const newer = applied.filter((name) => !names.includes(name))
  if (newer.length === 0) return
  const row = await db.get<{ value: string }>(`SELECT value FROM installation WHERE name = 'schema works with'`)
  if (row && names.includes(row.value)) return
  throw new AppError('internal_error', `The database was made by a newer svc (it has ${newer.join(', ')}).`)
}
