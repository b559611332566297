import { readdirSync, readFileSync } from 'node:fs'
import { AppError } from '../lib/errors.ts'
import { type Clock, sleep } from '../lib/time.ts'
import { type Database, type Dialect, isUniqueViolation, type Queries } from './database.ts'
import { isPoolerMisconfigured } from './postgres/errors.ts'

const FOLDER = new URL('./migrations/', import.meta.url)

/** A migration tries for so long to lock a table that is in use. Between two tries, waiting statements run first. */
const LOCK_TIMEOUT_MS = 30_000

interface Migration {
  name: string
  /** A program that knows this migration, or a later one, works with the schema after this one. */
  worksWith: string
  statements: string[]
}

/** What follows this line in a migration is left out for PostgreSQL. */
const SQLITE_ALONE = /^-- SQLite alone$/m

/**
 * Reads every migration in order. `NAME.sql` is for both databases; if SQL does not allow that, `NAME.sqlite.sql` and
 * `NAME.postgres.sql` take its place.
 */
const readMigrations = (dialect: Dialect): Migration[] =>
  readdirSync(FOLDER)
    .sort()
    .flatMap((file) => {
      const [, name, only] = /^([^.]+)(?:\.(sqlite|postgres))?\.sql$/.exec(file) ?? []
      if (!name || (only && only !== dialect)) return []
      const [both = '', forSqlite = ''] = readFileSync(new URL(file, FOLDER), 'utf8').split(SQLITE_ALONE)
      if (dialect === 'postgres') return [readMigration(name, both, false)]
      return [readMigration(name, both + forSqlite, !only)]
    })

/** A file is a list of statements, each ended by `;` at the end of a line. */
const readMigration = (name: string, text: string, isTranslated: boolean): Migration => ({
  name,
  worksWith: /^-- works with: (\S+)$/m.exec(text)?.[1] ?? name,
  statements: text
    .replace(/^\s*--.*$/gm, '')
    .split(/;$/m)
    .map((statement) => statement.trim())
    .filter(Boolean)
    .map((statement) => (isTranslated ? toSqlite(statement) : statement)),
})

/**
 * Leaves out of a statement for PostgreSQL the words that SQLite does not know, and need not: it always compares bytes.
 */
const toSqlite = (statement: string): string =>
  statement
    .replaceAll(' COLLATE "C"', '')
    .replace(/^CREATE UNLOGGED TABLE/, 'CREATE TABLE')
    .replace(/ WITH \(fillfactor = \d+\)$/, '')
    .replace(/^CREATE TABLE [^]*\)$/, '$& WITHOUT ROWID')

/** This is the first migration of the versions before 0.1.0. */
const UNRELEASED = '001-beginning'

/** Throws `conflict` for a database of an unreleased version, whose schema no migration continues. */
const findApplied = async (db: Pick<Database, 'all'>): Promise<string[]> => {
  const rows = await db.all<{ name: string }>('SELECT name FROM migrations ORDER BY name')
  const applied = rows.map((row) => row.name)
  if (!applied.includes(UNRELEASED)) return applied
  throw new AppError(
    'conflict',
    'The database was made by a version of svc before 0.1.0, which this one cannot upgrade: take its users along with `svc users export` of that version, and `svc users import` into a new database.',
  )
}

/** This is the SQLSTATE of a table that does not exist. */
const UNDEFINED_TABLE = '42P01'

/** A start that was killed early leaves a database without tables. */
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
 * Brings the schema up to date, and resolves to the names of the applied migrations. It goes forward alone. Each
 * migration is one transaction that records its own name first: if two processes start together, the second waits and
 * then has nothing to do, and a kill leaves nothing half-done. Throws `unavailable` when a table stays in use for too
 * long, `conflict` when the schema is of an unreleased version, and `internal_error` when it is too new for this
 * program.
 */
export const migrate = async (db: Database, clock: Clock): Promise<string[]> => {
  const known = readMigrations(db.dialect)
  const applied = await findAppliedIfAny(db)
  await requireCompatibleSchema(db, applied, known)
  const done: string[] = []
  const pending = known.filter(({ name }) => !applied.includes(name))
  if (pending.length > 0) await createTable(db)
  for (const migration of pending) {
    if (await withRetry(() => applyOnce(db, migration, clock.now()))) done.push(migration.name)
  }
  return done
}

/** Lists the migrations that `migrate` would apply; all migrations when no database is given. */
export const findPendingMigrations = async (dialect: Dialect, db: Database | undefined): Promise<string[]> => {
  const names = readMigrations(dialect).map(({ name }) => name)
  const applied = db ? await findAppliedIfAny(db) : []
  return names.filter((name) => !applied.includes(name))
}

/**
 * Tries twice: when two processes create the table at once, PostgreSQL fails one with an error in its own catalogue.
 */
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

/** SQLITE_FULL and this SQLSTATE say that the disk is full. */
const FULL: readonly unknown[] = [13, '53100']

/** No wait makes room on a disk. */
const isFull = ({ cause }: AppError): boolean =>
  cause instanceof Error &&
  [Reflect.get(cause, 'errcode'), Reflect.get(cause, 'code')].some((code) => FULL.includes(code))

const isTransient = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'unavailable' && !isPoolerMisconfigured(error) && !isFull(error)

const withRetry = async <T>(attempt: () => Promise<T>): Promise<T> => {
  const deadline = performance.now() + LOCK_TIMEOUT_MS
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!isTransient(error) || performance.now() > deadline) throw error
      await sleep(200 + Math.random() * 300)
    }
  }
}

/** During an upgrade, an older program works with a newer schema if that schema allows it (`-- works with`). */
const requireCompatibleSchema = async (db: Queries, applied: string[], known: Migration[]): Promise<void> => {
  const names = known.map(({ name }) => name)
  const newer = applied.filter((name) => !names.includes(name))
  if (newer.length === 0) return
  const row = await db.get<{ value: string }>(`SELECT value FROM installation WHERE name = 'schema works with'`)
  if (row && names.includes(row.value)) return
  throw new AppError('internal_error', `The database was made by a newer svc (it has ${newer.join(', ')}).`)
}
