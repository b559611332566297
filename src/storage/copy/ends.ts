import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { AppError } from '../../lib/errors.ts'
import type { Clock } from '../../lib/time.ts'
import type { Database } from '../database.ts'
import { findPendingMigrations, migrate } from '../migrations.ts'
import type { PostgresTarget } from '../postgres/url.ts'
import { TABLES } from '../schema.ts'
import { findUnfinishedCopy, markUnfinished, requireWhole } from './marker.ts'
import { countRows } from './pages.ts'

/** Where a database is, as `SVC_DATABASE_URL` says it. */
export type Place = { kind: 'sqlite'; file: string } | { kind: 'postgres'; target: PostgresTarget }

/** To count a hundred million rows takes long, and nobody waits for it but the one who copies. */
const STATEMENT_TIMEOUT_MS = 600_000

/** The same for every way to write the URL of one database. */
export const nameOfPlace = (place: Place): string => {
  if (place.kind === 'sqlite') return `sqlite:${resolve(place.file)}`
  const { host, port, database } = place.target
  return `postgres://${host}:${port}/${database}`
}

/** What the operator gave the place in. */
type Option = '--from' | '--to'

/** Opens what is there; a SQLite file that is missing is made. */
const open = async (place: Place, option: Option): Promise<Database> => {
  if (place.kind === 'sqlite') return openFile(resolve(place.file), option)
  const [{ reachPostgres }, { openPostgres }] = await Promise.all([
    import('../postgres/start.ts'),
    import('../postgres/postgres.ts'),
  ])
  const connection = await reachPostgres(place.target, { patienceMs: 0, onWait: () => {}, givenIn: option })
  return openPostgres({ connection, size: 2, timeoutMs: STATEMENT_TIMEOUT_MS, onChange: () => {} })
}

const openFile = async (file: string, option: Option): Promise<Database> => {
  const { openSqlite } = await import('../sqlite/sqlite.ts')
  try {
    return await openSqlite({ file, onFailure: () => {} })
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('unavailable', `The database ${file} (${option}) cannot be opened.`, { cause: error })
  }
}

/** Closes a database again that turns out not to be what was asked for. */
const openIf = async (place: Place, option: Option, check: (db: Database) => Promise<void>): Promise<Database> => {
  const db = await open(place, option)
  try {
    await check(db)
    return db
  } catch (error) {
    await db.close()
    throw error
  }
}

/** Opens an installation to copy from, of exactly the schema that is known here. Changes nothing. */
export const openSource = async (place: Place): Promise<Database> => {
  if (place.kind === 'sqlite' && !existsSync(place.file)) {
    throw new AppError('not_found', `there is no database ${resolve(place.file)} to copy from`)
  }
  return openIf(place, '--from', async (db) => {
    await requireOurSchema(db, nameOfPlace(place))
    await requireWhole(db)
  })
}

/** Opens a database to copy to: an empty one, which gets its schema, or one that was copied to from the same place. */
export const openTarget = (place: Place, from: string, clock: Clock): Promise<Database> => {
  const name = nameOfPlace(place)
  if (name === from) throw new AppError('conflict', `--from and --to are the same database, ${name}`)
  return openIf(place, '--to', async (db) => {
    const there = await findTables(db)
    requireNoOtherTables(there, name)
    const unfinished = there.includes('installation') ? await findUnfinishedCopy(db) : undefined
    if (unfinished !== undefined && unfinished !== from) {
      throw new AppError('conflict', `${name} holds an unfinished copy of another database, ${unfinished}`)
    }
    // Before anything is changed: it may be an older installation that somebody uses.
    if (unfinished === undefined) await requireEmpty(db, there, name)
    await migrate(db, clock)
    await requireOurSchema(db, name)
    if (unfinished === undefined) await markUnfinished(db, from)
  })
}

const requireOurSchema = async (db: Database, name: string): Promise<void> => {
  const known = await findPendingMigrations(db.dialect, undefined)
  const pending = await findPendingMigrations(db.dialect, db)
  if (pending.length === known.length) throw new AppError('not_found', `${name} is no database of svc`)
  if (pending.length > 0) {
    throw new AppError('conflict', `the schema of ${name} is not up to date: run svc migrate with it first`)
  }
  const applied = await db.all<{ name: string }>('SELECT name FROM migrations')
  const newer = applied.filter((migration) => !known.includes(migration.name))
  if (newer.length === 0) return
  const names = newer.map((migration) => migration.name).join(', ')
  throw new AppError('conflict', `${name} was made by a newer svc, which must do the copying (it has ${names})`)
}

const TABLE_NAMES = {
  sqlite: 'SELECT name FROM sqlite_master',
  postgres: 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()',
}

const findTables = async (db: Database): Promise<string[]> =>
  (await db.all<{ name: string }>(TABLE_NAMES[db.dialect])).map((table) => table.name)

/** Tables of another program with the names of ours. */
const requireNoOtherTables = (there: string[], name: string): void => {
  if (there.includes('migrations') && there.includes('installation')) return
  const taken = TABLES.map((table) => table.name).filter((table) => there.includes(table))
  if (taken.length === 0) return
  throw new AppError('conflict', `${name} is not empty: it has tables of another program, ${taken.join(', ')}`)
}

/** An older schema may lack some of the tables. */
const requireEmpty = async (db: Database, there: string[], name: string): Promise<void> => {
  const found: string[] = []
  for (const table of TABLES.filter((each) => there.includes(each.name))) {
    const count = await countRows(db, table)
    if (count > 0) found.push(`${table.name} (${count})`)
  }
  if (found.length === 0) return
  throw new AppError('conflict', `${name} is not empty: it has rows in ${found.join(', ')}. Copy to an empty database.`)
}
