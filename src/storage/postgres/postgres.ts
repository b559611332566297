import { AppError } from '../../lib/errors.ts'
import { sleep } from '../../lib/time.ts'
import type { Database, Queries, Value } from '../database.ts'
import { isRetryable } from './errors.ts'
import { createNamedStatements, type NamedResult, type NamedStatement, type Prepare } from './named-query.ts'
import { BEGIN_SNAPSHOT, createPool, type PooledConnection, type PoolOptions } from './pool.ts'
import { createRowBatcher } from './row-batcher.ts'
import { createUpdateBatcher } from './update-batcher.ts'

/** An operation that conflicts with others is tried so often. */
const MAX_ATTEMPTS = 8

type Send = <Row>(statement: NamedStatement) => Promise<NamedResult<Row>>

/**
 * Uses a PostgreSQL database, and connects at the first statement. Isolation is `READ COMMITTED`: each statement sees
 * what was committed before it began, and a transaction locks the rows that it depends on
 * (docs/decisions/012-postgresql.md).
 */
export const openPostgres = (options: PoolOptions): Database => {
  const pool = createPool(options)
  const prepare = createNamedStatements()

  const withConnection = <T>(work: (connection: PooledConnection) => Promise<T>, use?: 'rows'): Promise<T> =>
    withRetry(options.timeoutMs, () => pool.withConnection(work, use))
  const autocommitQueries = createQueries(prepare, (statement) =>
    withConnection((connection) => connection.query(statement)),
  )

  const runInBatch = createUpdateBatcher({
    runAlone: (sql, values) => autocommitQueries.run(sql, ...values),
    runTogether: async (sql, columns) =>
      (await withConnection((connection) => connection.query<{ place: number }>(prepare(sql, columns)))).rows,
    timeoutMs: options.timeoutMs,
  })

  return {
    ...autocommitQueries,
    dialect: 'postgres',
    timeoutMs: options.timeoutMs,

    inTransaction: (work) =>
      withConnection(async (connection) => {
        const actions: (() => void)[] = []
        const afterCommit = (action: () => void): void => void actions.push(action)
        const queries = createQueries(prepare, connection.query)
        const result = await runTransaction(connection, () => work({ ...queries, afterCommit }))
        for (const action of actions) action()
        return result
      }),

    inSnapshot: (work) =>
      withConnection((connection) =>
        runTransaction(connection, () => work(createQueries(prepare, connection.query)), BEGIN_SNAPSHOT),
      ),

    autocommit: (afterCommit) => ({
      async run(sql, ...values) {
        const changes = await runInBatch(sql, values)
        afterCommit(changes)
        return changes
      },
    }),

    runUnsynced: autocommitQueries.all,

    async requireHealthy() {
      // Reads and locks no row, and fails on a server that is read-only.
      await autocommitQueries.get('SELECT 1 FROM installation WHERE false FOR UPDATE')
    },

    // The server makes a commit visible only when it is on disk.
    waitUntilDurable: () => Promise.resolve(),

    // The server's log is its own.
    clearLog() {},

    cachedRow: (query) =>
      createRowBatcher({
        ...query,
        timeoutMs: options.timeoutMs,
        read: async (sql, keys) => {
          const { rows } = await withConnection((connection) => connection.query<never>(prepare(sql, [keys])), 'rows')
          return rows
        },
      }),

    async backup() {
      throw new AppError('invalid_request', 'The database is in PostgreSQL: use pg_dump, or what your provider offers.')
    },

    poolLoad: () => pool.load,

    close: () => pool.close(),
  }
}

const createQueries = (prepare: Prepare, send: Send): Queries => ({
  all: async <Row>(sql: string, ...values: Value[]) => (await send<Row>(prepare(sql, values))).rows,
  get: async <Row>(sql: string, ...values: Value[]) => (await send<Row>(prepare(sql, values))).rows[0],
  run: async (sql, ...values) => (await send(prepare(sql, values))).rowCount,
})

const runTransaction = async <T>(
  connection: PooledConnection,
  work: () => Promise<T>,
  begin: 'BEGIN' | typeof BEGIN_SNAPSHOT = 'BEGIN',
): Promise<T> => {
  // The BEGIN is awaited: after one that fails (it may be cancelled), the next statement would commit by itself.
  await connection.command(begin)
  try {
    const result = await work()
    if ((await connection.command('COMMIT')) !== 'COMMIT')
      throw new AppError('internal_error', 'The database rolled back a transaction.')
    return result
  } catch (error) {
    await connection.command('ROLLBACK').catch(() => {})
    throw error
  }
}

/** Runs an operation, and runs it again after a conflict with another one. */
const withRetry = async <T>(timeoutMs: number, operation: () => Promise<T>): Promise<T> => {
  const deadline = performance.now() + timeoutMs
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await operation()
    } catch (error) {
      const isLast = attempt === MAX_ATTEMPTS || performance.now() > deadline
      if (isLast || !isRetryable(error)) throw error
      await sleep(Math.random() * 2 ** attempt)
    }
  }
}
