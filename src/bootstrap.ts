import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from './config/config.ts'
import { openSecretFile } from './config/root-secret.ts'
import { createRootSecret, type RootSecret } from './lib/derived-keys.ts'
import { AppError } from './lib/errors.ts'
import type { Log } from './lib/log.ts'
import { type Clock, systemClock } from './lib/time.ts'
import { requireWhole } from './storage/copy/marker.ts'
import type { Database } from './storage/database.ts'
import { findPendingMigrations, migrate } from './storage/migrations.ts'

/** What is there before any rule: the data, and the secret that protects them. */
export interface Installation {
  db: Database
  rootSecret: RootSecret
}

interface Options {
  clock?: Clock
  /** How long a database server that is away is waited for. */
  patienceMs?: number
}

/** How long a service waits, at its start, for a database server that is away. A person at a command does not. */
export const SERVICE_PATIENCE_MS = 30_000

/** A migration may take its time at work, but none while it stands in the way of others. */
const MIGRATION_TIMEOUT_MS = 3_600_000
const MIGRATION_LOCK_TIMEOUT_MS = 1000

/** Opens the database, brings its schema up to date, and finds the root secret; makes both at first start. */
export const openInstallation = (config: Config, log: Log, options: Options = {}): Promise<Installation> =>
  config.database.kind === 'sqlite'
    ? openFile(config, resolve(config.database.file), log, options)
    : openServer(config, log, options)

const openFile = async (
  config: Config,
  file: string,
  log: Log,
  { clock = systemClock }: Options,
): Promise<Installation> => {
  // Before the database: one without a secret of its own is told from one whose secret was lost.
  const rootSecret = givenSecret(config) ?? (await orExplain(file, () => openSecretFile(file, secretListeners(log))))
  const db = await orExplain(file, () => openSqliteFile(file, log))
  await bringUpToDate(db, log, clock)
  return { db, rootSecret }
}

const secretListeners = (log: Log) => ({
  onChange: () => log.info('the root secret was rotated: new tokens come from the new one'),
  onProblem: (error: Error) => log.error({ err: error }, 'the changed root secret is not used'),
})

/** The root secret of the settings; undefined where it lies in a file beside the database. */
const givenSecret = ({ secret, previousSecret }: Config): RootSecret | undefined =>
  secret && createRootSecret({ current: secret, previous: previousSecret })

/** Applies what is pending; throws when the database is not one that this program can serve. */
const bringUpToDate = async (db: Database, log: Log, clock: Clock): Promise<void> => {
  const applied = await migrate(db, clock)
  if (applied.length > 0) log.info({ migrations: applied }, 'schema brought up to date')
  await requireWhole(db)
}

const openSqliteFile = async (file: string, log?: Log): Promise<Database> => {
  const { openSqlite } = await import('./storage/sqlite/sqlite.ts')
  return openSqlite({ file, onFailure: (error) => log?.error({ err: error }, 'database upkeep failed') })
}

const openServer = async (config: Config, log: Log, options: Options): Promise<Installation> => {
  const rootSecret = givenSecret(config)
  if (!rootSecret) throw new AppError('internal_error', 'SVC_SECRET is missing.')
  const connect = await reachServer(config, log, options)
  const db = connect(config.databaseTimeoutMs)
  try {
    const isPending = (await findPendingMigrations(db.dialect, db)).length > 0
    const worker = isPending ? connect(MIGRATION_TIMEOUT_MS, MIGRATION_LOCK_TIMEOUT_MS) : db
    await bringUpToDate(worker, log, options.clock ?? systemClock)
    if (isPending) await worker.close()
    return { db, rootSecret }
  } catch (error) {
    await db.close()
    throw error
  }
}

/** Resolves, once the server answers, to what opens a pool of connections to it. */
const reachServer = async ({ database, databasePool }: Config, log: Log | undefined, { patienceMs = 0 }: Options) => {
  if (database.kind !== 'postgres') throw new AppError('internal_error', 'The database is no server.')
  const [{ reachPostgres }, { openPostgres }] = await Promise.all([
    import('./storage/postgres/start.ts'),
    import('./storage/postgres/postgres.ts'),
  ])
  const connection = await reachPostgres(database.target, {
    patienceMs,
    onWait: (error) => log?.warn({ problem: error.message }, 'waiting for the database'),
  })
  const onChange = (isUp: boolean, error?: Error): void => {
    if (isUp) log?.info('database answers again')
    else log?.error({ err: error }, 'database does not answer')
  }
  return (timeoutMs: number, lockTimeoutMs?: number): Database =>
    openPostgres({ connection, size: databasePool, timeoutMs, lockTimeoutMs, onChange })
}

/** Turns what the file system refuses into words that name the setting. */
const orExplain = async <T>(file: string, open: () => T | Promise<T>): Promise<T> => {
  try {
    return await open()
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('unavailable', `The database ${file} (SVC_DATABASE_URL) cannot be opened.`, { cause: error })
  }
}

/** The names of the migrations that a start would apply. Changes nothing. */
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

const openToRead = async (config: Config): Promise<Database> =>
  config.database.kind === 'sqlite'
    ? openSqliteFile(resolve(config.database.file))
    : (await reachServer(config, undefined, {}))(config.databaseTimeoutMs)
