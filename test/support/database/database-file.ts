import path from 'node:path'
import { type SQLInputValue, type SQLOutputValue, DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { afterwards } from '../cleanup.ts'

/** The database of a service, as another program on the same machine sees it. */
export type DatabaseFile = {
  rows(sql: string, ...values: SQLInputValue[]): Record<string, SQLOutputValue>[]
  /** Changes rows, waiting up to 5 s for the write lock, and returns how many. */
  run(sql: string, ...values: SQLInputValue[]): number
  /** Takes the write lock until the returned function is called. */
  lock(): () => void
  close(): void
}

/** The database file of a service in this folder. */
export const databasePath = (directory: string): string => path.join(directory, 'data', 'svc.db')

/**
 * Opens the database of the service in `directory`. It is closed after the test, or after the file if no test is given.
 */
export const openDatabaseFile = ({ directory }: { directory: string }, t?: TestContext): DatabaseFile => {
  const database = new DatabaseSync(databasePath(directory))
  database.exec('PRAGMA busy_timeout = 5000')
  const close = () => {
    if (database.isOpen) database.close()
  }
  afterwards(t, close)
  return {
    rows: (sql, ...values) => database.prepare(sql).all(...values),
    run: (sql, ...values) => Number(database.prepare(sql).run(...values).changes),
    lock: () => {
      database.exec('BEGIN IMMEDIATE')
      return () => database.exec('ROLLBACK')
    },
    close,
  }
}
