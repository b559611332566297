import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from './config.ts'
import { AppError } from './lib/errors.ts'
import type { Log } from './lib/log.ts'
import { type Clock, systemClock } from './lib/time.ts'
import { loadRootSecret } from './root-secret.ts'
import type { Database } from './storage/database.ts'
import { findPendingMigrations, migrate } from './storage/migrations.ts'
import { openSqlite } from './storage/sqlite.ts'

/** What is there before any rule: the data, and the secret that protects them. */
export interface Installation {
  db: Database
  rootSecret: Uint8Array
}

/** Opens the database, brings its schema up to date, and finds the root secret; makes both at first start. */
export const openInstallation = async (config: Config, log: Log, clock: Clock = systemClock): Promise<Installation> => {
  const file = resolve(config.database.file)
  const onFailure = (error: Error) => log.error({ err: error }, 'database upkeep failed')
  // Before the database: one without a secret of its own is told from one whose secret was lost.
  const rootSecret = config.secret ?? (await orExplain(file, () => loadRootSecret(file)))
  const db = await orExplain(file, () => openSqlite({ file, onFailure }))
  const applied = await migrate(db, clock)
  if (applied.length > 0) log.info({ migrations: applied }, 'schema brought up to date')
  return { db, rootSecret }
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
  const file = resolve(config.database.file)
  if (!existsSync(file)) return findPendingMigrations(undefined)
  const db = await openSqlite({ file, onFailure: () => {} })
  try {
    return await findPendingMigrations(db)
  } finally {
    await db.close()
  }
}
