import { closeSync, openSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { AppError } from '../../lib/errors.ts'
import { sleep } from '../../lib/time.ts'
import type { Database, Queries, Transaction, Value } from '../database.ts'
import { createCheckpoints } from './checkpoint.ts'
import { connect, syncPath } from './connection.ts'
import { isBusy, translateSqliteError } from './errors.ts'
import { createGroupCommit } from './group-commit.ts'
import { createMutex } from './mutex.ts'
import { cacheRow } from './row-cache.ts'

/** How long a write waits for a lock that another process holds, without holding up anything else. */
const LOCK_PATIENCE_MS = 2000

interface Options {
  file: string
  /** Hears of what goes wrong behind the scenes. */
  onFailure: (error: Error) => void
}

/**
 * Opens a SQLite file in WAL mode and makes it if it is missing (with its folder, readable by the owner alone).
 *
 * Commits are `synchronous = NORMAL`: SQLite syncs at checkpoints only. What makes an acknowledged commit durable is
 * the `fdatasync` of the log that every write waits for before it resolves, one shared by all who wait
 * (docs/decisions/002-group-commit.md).
 */
export const openSqlite = async ({ file, onFailure }: Options): Promise<Database> => {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const { connection, path } = await withRetry(() => connect(file)).catch((error: unknown) => {
    throw error instanceof AppError
      ? new AppError(error.code, `${error.message} (${file})`, { cause: error.cause })
      : error
  })
  const turns = createMutex()
  const writers = createMutex()
  const log = openSync(`${path}-wal`, 'r+')
  const sync = createGroupCommit(log)
  const checkpoints = createCheckpoints({ file: path, turns, onFailure })
  const prepare = createStatements(connection)
  const foreignChanges = createDataVersionReader(connection)

  /** Runs one statement now, or after whoever has the connection to himself. */
  const once = <T>(statement: () => T): Promise<T> =>
    withRetry(() => (turns.taken ? turns.runExclusive(statement) : statement()))

  /** Writes one after the other: only the first of those who wait for another process's lock asks for it. */
  const write = <T>(work: () => T | Promise<T>): Promise<T> => {
    const deadline = performance.now() + LOCK_PATIENCE_MS
    return writers.runExclusive(() => withRetry(() => turns.runExclusive(work), deadline))
  }

  const queries = (run: <T>(statement: () => T) => Promise<T>): Queries => ({
    all: <Row>(sql: string, ...values: Value[]) => run(() => prepare(sql).all(...values) as Row[]),
    get: <Row>(sql: string, ...values: Value[]) => run(() => prepare(sql).get(...values) as Row | undefined),
    run: (sql, ...values) => run(() => Number(prepare(sql).run(...values).changes)),
  })
  const outside = queries(once)
  const inside = queries(async (statement) => {
    try {
      return statement()
    } catch (error) {
      throw translateSqliteError(error)
    }
  })

  const committed = async (): Promise<void> => {
    checkpoints.afterCommit()
    await sync.wait()
  }

  const runAlone = async (sql: string, values: Value[], afterCommit?: (changes: number) => void): Promise<number> => {
    const changes = await write(() => {
      const count = Number(prepare(sql).run(...values).changes)
      afterCommit?.(count)
      return count
    })
    // What changed nothing may rest on what somebody else has just done.
    await (changes > 0 ? committed() : sync.wait())
    return changes
  }

  return {
    ...outside,
    dialect: 'sqlite',

    run: (sql, ...values) => runAlone(sql, values),

    async inTransaction(work) {
      const result = await write(() => transact(connection, prepare, inside, work))
      await committed()
      return result
    },

    durable: () => sync.wait(),

    async requireHealthy() {
      sync.requireSound()
      await outside.get('SELECT 1')
    },

    single: (afterCommit) => ({ run: (sql, ...values) => runAlone(sql, values, afterCommit) }),

    cachedRow: (query) => cacheRow({ ...query, prepare, once, foreignChanges }),

    async backup(target) {
      // One read transaction, so that it ends however much is written meanwhile (an online backup starts over).
      await turns.runExclusive(() => connection.prepare('VACUUM INTO ?').run(target))
      syncPath(target)
      syncPath(dirname(target))
    },

    async close() {
      await writers.runExclusive(() => turns.runExclusive(() => {}))
      await sync.settle()
      await checkpoints.stop()
      connection.close()
      closeSync(log)
    },
  }
}

/**
 * Looks whether another connection has committed, once in a turn of the event loop: all requests that are read in one
 * turn had begun to arrive before it, so that whatever was acknowledged before any of them was sent is seen.
 */
const createDataVersionReader = (connection: DatabaseSync): (() => number) => {
  const dataVersion = connection.prepare('PRAGMA data_version')
  // An array is made in half the time of an object.
  dataVersion.setReturnArrays(true)
  let seen: number | undefined
  const forget = (): void => {
    seen = undefined
  }

  return () => {
    if (seen !== undefined) return seen
    try {
      seen = (dataVersion.get() as unknown as [number])[0]
    } catch (error) {
      throw translateSqliteError(error)
    }
    setImmediate(forget)
    return seen
  }
}

/** A transaction has the whole database to itself (`BEGIN IMMEDIATE`), and no words for less. */
const ROW_LOCK = / FOR (?:UPDATE|SHARE)$/

const createStatements = (connection: DatabaseSync) => {
  const prepared = new Map<string, StatementSync>()
  return (sql: string): StatementSync => {
    const known = prepared.get(sql)
    if (known) return known
    const statement = connection.prepare(sql.replace(ROW_LOCK, '').replaceAll('server_time()', 'NULL'))
    prepared.set(sql, statement)
    return statement
  }
}

/** Tries again, with the event loop free in between, while another process holds the lock. */
const withRetry = async <T>(
  attempt: () => T | Promise<T>,
  deadline = performance.now() + LOCK_PATIENCE_MS,
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

const transact = async <T>(
  connection: DatabaseSync,
  prepare: (sql: string) => StatementSync,
  inside: Queries,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> => {
  const actions: (() => void)[] = []
  prepare('BEGIN IMMEDIATE').run()
  try {
    const result = await work({ ...inside, afterCommit: (action) => actions.push(action) })
    prepare('COMMIT').run()
    for (const action of actions) action()
    return result
  } catch (error) {
    // SQLite has rolled back by itself where the disk is full or broken.
    if (connection.isTransaction) connection.exec('ROLLBACK')
    throw error
  }
}
