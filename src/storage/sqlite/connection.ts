import { closeSync, existsSync, fsyncSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { AppError } from '../../lib/errors.ts'

const PAGE_CACHE_KIB = 4096

/** What is deleted is overwritten with zeros: otherwise it stays in the file until its place is needed. */
const PRAGMAS = `
  PRAGMA busy_timeout = 0;
  PRAGMA foreign_keys = ON;
  PRAGMA trusted_schema = OFF;
  PRAGMA secure_delete = ON;
  PRAGMA cache_size = -${PAGE_CACHE_KIB};
  PRAGMA journal_size_limit = 8388608;
  PRAGMA wal_autocheckpoint = 0;`

/**
 * Throws `conflict` if there is a log but no database, since SQLite removes such a log. The database may have been
 * moved away from a running service.
 */
const requireNoLogAlone = (file: string): void => {
  // The database is made before its log, perhaps by another process at this moment.
  const hasLog = existsSync(`${file}-wal`)
  if (!hasLog || existsSync(file)) return
  throw new AppError('conflict', 'The database is missing, but its log is there: put it back, or remove the log.')
}

export interface Connected {
  connection: DatabaseSync
  /** This is the real path, with symbolic links resolved. */
  path: string
}

/** Connects in WAL mode; the file and its log then exist on disk. */
export const connect = (file: string): Connected => {
  requireNoLogAlone(file)
  const connection = new DatabaseSync(file)
  try {
    connection.exec(PRAGMAS)
    connection.exec('PRAGMA synchronous = FULL; PRAGMA journal_mode = WAL')
    // A log from before may be in memory and not on disk, though the kernel counts it as written: after a failed sync,
    // nothing may be built on it (docs/decisions/061-failed-syncs.md). In the database file, its pages are written
    // again.
    connection.exec('PRAGMA wal_checkpoint(PASSIVE); PRAGMA synchronous = NORMAL')
    // SQLite resolves a symbolic link, and keeps the log beside the real file.
    const path = connection.location() ?? file
    syncPath(dirname(path))
    return { connection, path }
  } catch (error) {
    connection.close()
    throw error
  }
}

/** Syncs a file, or a folder: the name of a new file is on disk only when its folder is. */
export const syncPath = (path: string): void => {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** SQLite has no row locks and needs none: `BEGIN IMMEDIATE` locks the whole database. */
const ROW_LOCK = / FOR (?:UPDATE|SHARE)$/

/** Prepares each statement once, and turns the SQL of `Queries` into that of SQLite. */
export const createStatementCache = (connection: DatabaseSync): ((sql: string) => StatementSync) => {
  const prepared = new Map<string, StatementSync>()
  return (sql) => {
    const existing = prepared.get(sql)
    if (existing) return existing
    const statement = connection.prepare(sql.replace(ROW_LOCK, '').replaceAll('server_time()', 'NULL'))
    prepared.set(sql, statement)
    return statement
  }
}
