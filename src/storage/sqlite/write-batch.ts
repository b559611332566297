import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Value } from '../database.ts'
import { translateSqliteError } from './errors.ts'

type AfterCommit = (changes: number) => void

interface Write {
  sql: string
  values: Value[]
  afterCommit: AfterCommit | undefined
  changes: number
  resolve: (changes: number) => void
  reject: (error: unknown) => void
}

interface WriteBatchDeps {
  connection: DatabaseSync
  prepare: (sql: string) => StatementSync
  /** Runs work that has the connection to itself, and repeats it while another process holds the lock. */
  runWrite: <T>(work: () => T) => Promise<T>
  /** Resolves when everything that is committed is on disk. */
  whenDurable: () => Promise<void>
}

/** Runs a single statement; resolves to the number of changed rows when the change is on disk. */
type RunInBatch = (sql: string, values: Value[], afterCommit?: AfterCommit) => Promise<number>

/**
 * Commits the single statements of a turn of the event loop together. Each fails alone, as in a transaction of its own:
 * an error takes back its statement only (https://www.sqlite.org/lang_conflict.html, ABORT). From `BEGIN` to the last
 * `afterCommit` no other code runs, so that no read comes in between.
 */
export const createWriteBatch = ({ connection, prepare, runWrite, whenDurable }: WriteBatchDeps): RunInBatch => {
  let waiting: Write[] = []

  /** Returns whether the statement is part of the commit. */
  const execute = (write: Write): boolean => {
    try {
      write.changes = Number(prepare(write.sql).run(...write.values).changes)
      return true
    } catch (error) {
      // SQLite may have taken back the whole transaction on a full or broken disk.
      if (!connection.isTransaction) throw error
      write.reject(translateSqliteError(error))
      return false
    }
  }

  const commitTogether = (writes: Write[]): Write[] => {
    prepare('BEGIN IMMEDIATE').run()
    try {
      const committed = writes.filter(execute)
      prepare('COMMIT').run()
      for (const { afterCommit, changes } of committed) afterCommit?.(changes)
      return committed
    } catch (error) {
      if (connection.isTransaction) connection.exec('ROLLBACK')
      throw error
    }
  }

  const commitWaiting = async (): Promise<void> => {
    const writes = waiting
    waiting = []
    try {
      const committed = await runWrite(() => commitTogether(writes))
      // This waits even if nothing has changed: a statement may have read a commit that is not on disk yet.
      await whenDurable()
      for (const { resolve, changes } of committed) resolve(changes)
    } catch (error) {
      for (const { reject } of writes) reject(error)
    }
  }

  return (sql, values, afterCommit) =>
    new Promise((resolve, reject) => {
      waiting.push({ sql, values, afterCommit, changes: 0, resolve, reject })
      if (waiting.length === 1) setImmediate(commitWaiting)
    })
}
