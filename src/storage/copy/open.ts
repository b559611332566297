import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { AppError } from '../../lib/errors.ts'
import type { Clock } from '../../lib/time.ts'
import type { Database } from '../database.ts'
import { findPendingMigrations, migrate } from '../migrations.ts'
import type { ConnectionInfo } from '../postgres/url.ts'
import { TABLES } from '../tables.ts'
import { markUnfinished, requireNoUnfinishedCopy } from './marker.ts'
import { countRows } from './pages.ts'

/** `SVC_DATABASE_URL` says the place of a database in this way. */
export type DatabaseLocation = { kind: 'sqlite'; file: string } | { kind: 'postgres'; connection: ConnectionInfo }

/** Counting a hundred million rows takes minutes. */
const STATEMENT_TIMEOUT_MS = 600_000

/** Makes a name for messages and the marker, the same however the URL of a database is written. */
export const locationName = (location: DatabaseLocation): string => {
  if (location.kind === 'sqlite') return `sqlite:${resolve(location.file)}`
  const { host, port, database } = location.connection
  return `postgres://${host}:${port}/${database}`
}

/** The option that holds the location. */
type Option = '--from' | '--to'

/** Creates a SQLite file that is missing. */
const openLocation = async (location: DatabaseLocation, settingName: Option): Promise<Database> => {
  if (location.kind === 'sqlite') return openFile(resolve(location.file), settingName)
  const [{ negotiateConnection }, { openPostgres }] = await Promise.all([
    import('../postgres/negotiate-connection.ts'),
    import('../postgres/postgres.ts'),
  ])
  const connection = await negotiateConnection(location.connection, { waitMs: 0, onWait: () => {}, settingName })
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

/** Opens a database, and closes it again if the check fails. */
const openChecked = async (
  location: DatabaseLocation,
  option: Option,
  check: (db: Database) => Promise<void>,
): Promise<Database> => {
  const db = await openLocation(location, option)
  try {
    await check(db)
    return db
  } catch (error) {
    await db.close()
    throw error
  }
}

/** Opens the source, whose schema must be exactly that of this program. It changes nothing. */
export const openSource = async (location: DatabaseLocation): Promise<Database> => {
  if (location.kind === 'sqlite' && !existsSync(location.file)) {
    throw new AppError('not_found', `there is no database ${resolve(location.file)} to copy from`)
  }
  return openChecked(location, '--from', async (db) => {
    await requireCurrentSchema(db, locationName(location))
    await requireNoUnfinishedCopy(db)
  })
}

/** Opens the target, an empty database, which gets the schema. */
export const openTarget = (location: DatabaseLocation, from: string, clock: Clock): Promise<Database> => {
  const name = locationName(location)
  if (name === from) throw new AppError('conflict', `--from and --to are the same database, ${name}`)
  return openChecked(location, '--to', async (db) => {
    const tables = await listTables(db)
    requireNoOtherTables(tables, name)
    if (tables.includes('installation')) await requireNoUnfinishedCopy(db)
    // The migration comes later, because the database may be an older installation in use.
    await requireEmpty(db, tables, name)
    await migrate(db, clock)
    await requireCurrentSchema(db, name)
    await markUnfinished(db, from)
  })
}

const requireCurrentSchema = async (db: Database, name: string): Promise<void> => {
  const all = await findPendingMigrations(db.dialect, undefined)
  const pending = await findPendingMigrations(db.dialect, db)
  if (pending.length === all.length) throw new AppError('not_found', `${name} is not a database of svc`)
  if (pending.length > 0) {
    throw new AppError('conflict', `the schema of ${name} is not up to date: run svc migrate with it first`)
  }
  const applied = await db.all<{ name: string }>('SELECT name FROM migrations')
  const newer = applied.filter((migration) => !all.includes(migration.name))
  if (newer.length === 0) return
  const names = newer.map((migration) => migration.name).join(', ')
  throw new AppError('conflict', `${name} was made by a newer svc, which must do the copying (it has ${names})`)
}

const TABLE_NAMES = {
  sqlite: 'SELECT name FROM sqlite_master',
  postgres: 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()',
}

const listTables = async (db: Database): Promise<string[]> =>
  (await db.all<{ name: string }>(TABLE_NAMES[db.dialect])).map((table) => table.name)

/** Throws `conflict` if another program has tables with the names of svc's. */
const requireNoOtherTables = (there: string[], name: string): void => {
  if (there.includes('migrations') && there.includes('installation')) return
  const taken = TABLES.map((table) => table.name).filter((table) => there.includes(table))
  if (taken.length === 0) return
  throw new AppError('conflict', `${name} is not empty: it has tables of another program, ${taken.join(', ')}`)
}

/** Looks at existing tables alone, because an older schema may lack some. */
const requireEmpty = async (db: Database, there: string[], name: string): Promise<void> => {
  const found: string[] = []
  for (const table of TABLES.filter((each) => there.includes(each.name))) {
    const count = await countRows(db, table)
    if (count > 0) found.push(`${table.name} (${count})`)
  }
  if (found.length === 0) return
  throw new AppError('conflict', `${name} is not empty: it has rows in ${found.join(', ')}. Copy to an empty database.`)
}
