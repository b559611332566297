import { dirname } from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import type { Awaitable } from '../../lib/awaitable.ts'
import { makeDataFolder } from '../../lib/durable-file.ts'
import { AppError } from '../../lib/errors.ts'
import { createSideThread, type SideThread } from '../../lib/side-thread.ts'
import { sleep } from '../../lib/time.ts'
import type { Database, Queries, Transaction, Value } from '../database.ts'
import { createCheckpoints } from './checkpoint.ts'
import { type Connected, connect, createStatementCache, syncPath } from './connection.ts'
import { isBusy, translateSqliteError } from './errors.ts'
import { createDurability, type DiskOptions } from './durability.ts'
import { createMutex } from './mutex.ts'
import { createDataVersionReader, createRowCache } from './row-cache.ts'
import { createWriteBatch } from './write-batch.ts'

/** A statement waits so long for a lock that another process holds. Other work goes on in the meantime. */
const LOCK_TIMEOUT_MS = 2000

interface SqliteOptions extends DiskOptions {
  file: string
  sideThread?: SideThread | undefined
  onFailure: (error: Error) => void
}

/**
 * Opens a SQLite file in WAL mode. Creates the file and its folder, readable by the owner only, if they are missing.
 *
 * Commits are `synchronous = NORMAL`: SQLite syncs at checkpoints only. A commit becomes durable by an `fdatasync` of
 * the log, which every write waits for before it resolves, and which waiting writes share
 * (docs/decisions/002-group-commit.md).
 */
export const openSqlite = async ({
  file,
  sideThread = createSideThread(),
  onFailure,
  ...options
}: SqliteOptions): Promise<Database> => {
  const { connection, path } = await connectTo(file)
  const [mutex, writeMutex] = [createMutex(), createMutex()]
  const durability = createDurability({ ...options, file, path, onFailure })
  const { groupCommit } = durability
  const checkpoints = createCheckpoints({ ...durability, file: path, connection, sideThread, writeMutex, onFailure })
  const prepare = createStatementCache(connection)
  const readDataVersion = createDataVersionReader(connection)

  /** Runs one statement, at once unless the connection is in exclusive use, or another process holds a lock. */
  const runStatement = <T>(statement: () => T): Awaitable<T> => {
    if (!mutex.isLocked) {
      try {
        return statement()
      } catch (error) {
        if (!isBusy(error)) throw translateSqliteError(error)
      }
    }
    return withRetry(() => (mutex.isLocked ? mutex.runExclusive(statement) : statement()))
  }

  /** Runs writes one after the other, so that one of them at a time tries to get the lock of another process. */
  const runWrite = <T>(work: () => T | Promise<T>): Promise<T> => {
    const deadline = performance.now() + LOCK_TIMEOUT_MS
    const workAndCheck = async () => {
      // A write that cannot reach the disk is not begun: its outcome would be unknown.
      groupCommit.requireWritable()
      const result = await work()
      checkpoints.afterCommit()
      return result
    }
    return writeMutex.runExclusive(() => withRetry(() => mutex.runExclusive(workAndCheck), deadline))
  }

  const createQueries = (run: <T>(statement: () => T) => Promise<T>): Queries => ({
    all: <Row>(sql: string, ...values: Value[]) => run(() => prepare(sql).all(...values) as Row[]),
    get: <Row>(sql: string, ...values: Value[]) => run(() => prepare(sql).get(...values) as Row | undefined),
    run: (sql, ...values) => run(() => Number(prepare(sql).run(...values).changes)),
  })
  const autocommitQueries = createQueries(async (statement) => runStatement(statement))
  const transactionQueries = createQueries(async (statement) => {
    try {
      return statement()
    } catch (error) {
      throw translateSqliteError(error)
    }
  })

  const runInBatch = createWriteBatch({ connection, prepare, runWrite, whenDurable: groupCommit.wait })

  return {
    ...autocommitQueries,
    dialect: 'sqlite',
    run: (sql, ...values) => runInBatch(sql, values),
    async inTransaction(work) {
      const result = await runWrite(() => runTransaction(connection, prepare, transactionQueries, work))
      // This waits even if nothing has changed: the work may have read a commit that is not on disk yet.
      await groupCommit.wait()
      return result
    },

    inSnapshot: (work) => mutex.runExclusive(() => runSnapshot(prepare, () => work(transactionQueries))),
    waitUntilDurable: () => groupCommit.wait(),
    clearLog: checkpoints.clearLog,

    async requireHealthy() {
      groupCommit.requireWritable()
      await autocommitQueries.get('SELECT 1 FROM installation LIMIT 1')
    },

    autocommit: (afterCommit) => ({ run: (sql, ...values) => runInBatch(sql, values, afterCommit) }),

    runUnsynced: async <Row>(sql: string, ...values: Value[]) => {
      groupCommit.requireWritable()
      return runWrite(() => prepare(sql).all(...values) as Row[])
    },

    cachedRow: (query) => createRowCache({ ...query, prepare, runStatement, readDataVersion }),

    async backup(target) {
      // VACUUM is one read transaction. SQLite's online backup would start over at each write, and might never end.
      await mutex.runExclusive(() => connection.prepare('VACUUM INTO ?').run(target))
      syncPath(target)
      syncPath(dirname(target))
    },

    async close() {
      // Writes that were handed in before are then in the queue.
      await setImmediate()
      await writeMutex.runExclusive(() => mutex.runExclusive(() => {}))
      if (!(await durability.close())) return
      await checkpoints.stop()
      connection.close()
    },
  }
}

/** Creates the folder of the file. The error names the file if it cannot be opened. */
const connectTo = async (file: string): Promise<Connected> => {
  makeDataFolder(dirname(file))
  return withRetry(() => connect(file)).catch((error: unknown) => {
    throw error instanceof AppError
      ? new AppError(error.code, `${error.message} (${file})`, { cause: error.cause })
      : error
  })
}

/** Retries while another process holds the lock, with pauses in which the event loop is free. */
const withRetry = async <T>(
  attempt: () => T | Promise<T>,
  deadline = performance.now() + LOCK_TIMEOUT_MS,
): Promise<T> => {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw translateSqliteError(error)
      await sleep(1 + Math.random() * 9)
    }
  }
}

const runSnapshot = async <T>(prepare: (sql: string) => StatementSync, work: () => Promise<T>): Promise<T> => {
  prepare('BEGIN').run()
  try {
    return await work()
  } finally {
    prepare('COMMIT').run()
  }
}

const runTransaction = async <T>(
  connection: DatabaseSync,
  prepare: (sql: string) => StatementSync,
  queries: Queries,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> => {
  const actions: (() => void)[] = []
  prepare('BEGIN IMMEDIATE').run()
  try {
    const result = await work({ ...queries, afterCommit: (action) => actions.push(action) })
    prepare('COMMIT').run()
    for (const action of actions) action()
    return result
  } catch (error) {
    // SQLite has rolled back already on a full or broken disk.
    if (connection.isTransaction) connection.exec('ROLLBACK')
    throw error
  }
}
