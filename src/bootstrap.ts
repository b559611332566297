import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from './config/config.ts'
import { openSecretFile } from './config/root-secret.ts'
import { createRootSecret, type RootSecret } from './lib/derived-keys.ts'
import { AppError } from './lib/errors.ts'
import { flushLog, type Log } from './lib/log.ts'
import { findFreeSpace } from './lib/machine.ts'
import { createSideThread, type SideThread } from './lib/side-thread.ts'
import { systemClock } from './lib/time.ts'
import { requireNoUnfinishedCopy } from './storage/copy/marker.ts'
import type { Database } from './storage/database.ts'
import { findPendingMigrations, migrate } from './storage/migrations.ts'

/** The rules work with these: the data, and the secret that protects them. */
export interface Bootstrapped {
  db: Database
  rootSecret: RootSecret
  sideThread: SideThread
}

interface BootstrapDeps {
  config: Config
  log: Log
  /** A start waits so long for a database server that does not answer, in milliseconds; 0 when left out. */
  patienceMs?: number
}

/** A service waits so long at its start for a database server that does not answer. A command does not wait. */
export const SERVICE_PATIENCE_MS = 30_000

/** A migration may run for long, but it may not wait long for a lock: every request would wait behind it. */
const MIGRATION_TIMEOUT_MS = 3_600_000
const MIGRATION_LOCK_TIMEOUT_MS = 1000

/**
 * Opens the database, brings its schema up to date, and finds the root secret; the first start creates both. Throws
 * `unavailable` when the database cannot be opened, and another `AppError` when this version cannot serve it.
 */
export const bootstrap = (deps: BootstrapDeps): Promise<Bootstrapped> => {
  const { database } = deps.config
  if (database.kind !== 'sqlite') return bootstrapServer(deps)
  return orNameDisk(database.file, () => bootstrapFile(deps, resolve(database.file)))
}

const bootstrapFile = async ({ config, log }: BootstrapDeps, file: string): Promise<Bootstrapped> => {
  // This comes before the database exists: a database without its secret means that the secret was lost, and no new one
  // is made.
  const rootSecret =
    secretOfSettings(config) ?? (await orNameSetting(file, () => openSecretFile(file, secretListeners(log))))
  const sideThread = createSideThread()
  const diskTimeoutMs = config.databaseTimeoutMs
  const db = await orNameSetting(file, () => openSqliteFile(file, { log, sideThread, diskTimeoutMs }))
  await bringUpToDate(db, log)
  return { db, rootSecret, sideThread }
}

const secretListeners = (log: Log) => ({
  onChange: () => log.info('the root secret was rotated: new tokens come from the new one'),
  onProblem: (error: Error) => log.error({ err: error }, 'the changed root secret is not used'),
})

/** The settings have no root secret if it is in a file beside the database: then this returns undefined. */
const secretOfSettings = ({ secret, previousSecret }: Config): RootSecret | undefined =>
  secret && createRootSecret({ current: secret, previous: previousSecret })

/** Applies pending migrations; throws when this version cannot serve the database. */
const bringUpToDate = async (db: Database, log: Log): Promise<void> => {
  const applied = await migrate(db, systemClock)
  if (applied.length > 0) log.info({ migrations: applied }, 'schema brought up to date')
  await requireNoUnfinishedCopy(db)
}

type FileOptions = { log?: Log; sideThread?: SideThread; diskTimeoutMs?: number }
const openSqliteFile = async (file: string, { log, ...options }: FileOptions = {}): Promise<Database> => {
  const { openSqlite } = await import('./storage/sqlite/sqlite.ts')
  return openSqlite({
    file,
    ...options,
    onFailure: (error) => log?.error({ err: error }, 'database upkeep failed'),
    onChange: logAvailability(log),
    onLostSync: (error) => void endAfterLostSync(error, log),
  })
}

/** Ends at once, without closing the database, which would move a log that may be incomplete into its file. */
const endAfterLostSync = async (error: Error, log: Log | undefined): Promise<void> => {
  log?.error({ err: error }, 'a sync to disk failed: svc ends, and its next start goes on from what is on disk')
  if (log) await flushLog(log)
  process.exit(1)
}

const bootstrapServer = async ({ config, log, patienceMs }: BootstrapDeps): Promise<Bootstrapped> => {
  const rootSecret = secretOfSettings(config)
  if (!rootSecret) throw new AppError('internal_error', 'SVC_SECRET is missing.')
  const connect = await reachServer(config, { log, patienceMs })
  const db = connect(config.databaseTimeoutMs)
  try {
    const isPending = (await findPendingMigrations(db.dialect, db)).length > 0
    const migrating = isPending ? connect(MIGRATION_TIMEOUT_MS, MIGRATION_LOCK_TIMEOUT_MS) : db
    await bringUpToDate(migrating, log)
    if (isPending) await migrating.close()
    return { db, rootSecret, sideThread: createSideThread() }
  } catch (error) {
    await db.close()
    throw error
  }
}

/** Opens a pool of connections to a server that has answered. Timeouts are in milliseconds. */
type Connect = (timeoutMs: number, lockTimeoutMs?: number) => Database

const reachServer = async (
  { database, databasePool }: Config,
  { log, patienceMs = 0 }: { log?: Log; patienceMs?: number | undefined } = {},
): Promise<Connect> => {
  if (database.kind !== 'postgres') throw new AppError('internal_error', 'The database is no server.')
  const [{ negotiateConnection }, { openPostgres }] = await Promise.all([
    import('./storage/postgres/negotiate-connection.ts'),
    import('./storage/postgres/postgres.ts'),
  ])
  const connection = await negotiateConnection(database.connection, {
    waitMs: patienceMs,
    onWait: (error) => log?.warn({ problem: error.message }, 'waiting for the database'),
  })
  return (timeoutMs, lockTimeoutMs) =>
    openPostgres({ connection, size: databasePool, timeoutMs, lockTimeoutMs, onChange: logAvailability(log) })
}

/** If less is free, SQLite cannot even begin a log; it then says that the disk cannot be read. */
const FULL_BYTES = 2 ** 20

/**
 * Does work with a database file; throws `unavailable`, with the name of the disk, if the work fails because that is
 * full.
 */
const orNameDisk = async <T>(file: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AppError && error.code !== 'unavailable') throw error
    const space = findFreeSpace(file)
    if (space === undefined || space.bytes >= FULL_BYTES) throw error
    const left = `${Math.floor(space.bytes / 1024)} KB are left in ${space.folder}`
    throw new AppError('unavailable', `The disk is full: ${left}. Free some space.`, { cause: error })
  }
}

/** Names the setting if the file system refuses to open the file. */
const orNameSetting = async <T>(file: string, open: () => T | Promise<T>): Promise<T> => {
  try {
    return await open()
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('unavailable', `The database ${file} (SVC_DATABASE_URL) cannot be opened.`, { cause: error })
  }
}

/** Lists the names of the migrations that a start would apply. It changes nothing. */
export const findPending = async (config: Config): Promise<string[]> => {
  const { database } = config
  if (database.kind === 'sqlite' && !existsSync(resolve(database.file))) {
    return findPendingMigrations('sqlite', undefined)
  }
  const db = await openToRead(config)
  try {
    return await findPendingMigrations(db.dialect, db)
  } finally {
    await db.close()
  }
}

const openToRead = async (config: Config): Promise<Database> => {
  const { database, databaseTimeoutMs } = config
  if (database.kind !== 'sqlite') return (await reachServer(config))(databaseTimeoutMs)
  return orNameDisk(database.file, () => openSqliteFile(resolve(database.file)))
}

/** Logs that the database stops answering, with the reason, and that it answers again. */
const logAvailability =
  (log: Log | undefined) =>
  (isUp: boolean, error?: Error): void => {
    if (isUp) log?.info('database answers again')
    else log?.error({ err: error }, 'database does not answer')
  }
