import { hash } from 'node:crypto'
import type { QueryConfig, QueryResult, QueryResultRow } from 'pg'
import { AppError, unavailable } from '../../lib/errors.ts'
import { sleep } from '../../lib/time.ts'
import type { Database, Queries, Value } from '../database.ts'
import { mayBeginAgain } from './errors.ts'
import { createPool, type Lease, type PoolOptions } from './pool.ts'
import { batchRows } from './row-batches.ts'

/** How often an operation begins again that was in the way of another. */
const ATTEMPTS = 8

type Send = <Row extends QueryResultRow>(statement: QueryConfig) => Promise<QueryResult<Row>>

/**
 * Connects to a PostgreSQL database when it is first asked something. Isolation is `READ COMMITTED`, in which each
 * statement sees what was committed before it began; what a transaction decides by, it locks
 * (docs/decisions/012-postgresql.md).
 */
export const openPostgres = (options: PoolOptions): Database => {
  const pool = createPool(options)
  const prepare = createStatements()

  const lend = <T>(work: (lease: Lease) => Promise<T>, use?: 'rows'): Promise<T> =>
    again(options.timeoutMs, () => pool.lend(work, use))
  const outside = queries(prepare, (statement) => lend((lease) => lease.query(statement)))

  return {
    ...outside,
    dialect: 'postgres',

    inTransaction: (work) =>
      lend(async (lease) => {
        const actions: (() => void)[] = []
        const afterCommit = (action: () => void): void => void actions.push(action)
        const result = await transact(lease, () => work({ ...queries(prepare, lease.query), afterCommit }))
        for (const action of actions) action()
        return result
      }),

    single: (afterCommit) => ({
      async run(sql, ...values) {
        const changes = await outside.run(sql, ...values)
        afterCommit(changes)
        return changes
      },
    }),

    async requireHealthy() {
      // Reads no row, locks none, and is refused where nothing can be written.
      await outside.get('SELECT 1 FROM installation WHERE false FOR UPDATE').catch((error: unknown) => {
        const isBroken = error instanceof AppError && error.code === 'internal_error'
        throw isBroken ? unavailable('The database has no tables of svc.', error.cause) : error
      })
    },

    // A commit is seen by others only when the server has it on disk.
    durable: () => Promise.resolve(),

    cachedRow: (query) =>
      batchRows({
        ...query,
        patienceMs: options.timeoutMs,
        read: async (sql, keys) => (await lend((lease) => lease.query<never>(prepare(sql, [keys])), 'rows')).rows,
      }),

    async backup() {
      throw new AppError('invalid_request', 'The database is in PostgreSQL: use pg_dump, or what your provider offers.')
    },

    poolLoad: () => pool.load,

    close: () => pool.close(),
  }
}

type Prepare = (sql: string, values: (Value | string[])[]) => QueryConfig

/** Not that of the transaction: a time that is older than what the statement reads would be of no use. */
const SERVER_TIME = 'CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)'

/**
 * Statements of the same text share a name, and so are parsed once a connection. The name follows from the text alone:
 * behind a pooler that lends one connection to several processes, a name must not stand for another statement.
 */
const createStatements = (): Prepare => {
  const prepared = new Map<string, { name: string; text: string }>()
  return (sql, values) => {
    let statement = prepared.get(sql)
    if (!statement) {
      let count = 0
      const text = sql.replaceAll('server_time()', SERVER_TIME).replaceAll('?', () => `$${++count}`)
      statement = { name: statementName(text), text }
      prepared.set(sql, statement)
    }
    return { ...statement, values }
  }
}

/** The start of the text's SHA-256, long enough to be unique. */
const statementName = (text: string): string => `svc_${hash('sha256', text, 'base64url').slice(0, 22)}`

const queries = (prepare: Prepare, send: Send): Queries => ({
  all: async <Row>(sql: string, ...values: Value[]) => (await send(prepare(sql, values))).rows as Row[],
  get: async <Row>(sql: string, ...values: Value[]) => (await send(prepare(sql, values))).rows[0] as Row | undefined,
  run: async (sql, ...values) => (await send(prepare(sql, values))).rowCount ?? 0,
})

const transact = async <T>(lease: Lease, work: () => Promise<T>): Promise<T> => {
  // Awaited: were it refused (by a cancel, say), a statement sent behind it would be a transaction of its own.
  await lease.query({ text: 'BEGIN' })
  try {
    const result = await work()
    const { command } = await lease.query({ text: 'COMMIT' })
    // The server says so when a statement had failed, and nothing of it was kept.
    if (command !== 'COMMIT') throw new AppError('internal_error', 'The database took back a transaction.')
    return result
  } catch (error) {
    await lease.query({ text: 'ROLLBACK' }).catch(() => {})
    throw error
  }
}

/** Runs an operation, and again while it is in the way of others. */
const again = async <T>(timeoutMs: number, operation: () => Promise<T>): Promise<T> => {
  const deadline = performance.now() + timeoutMs
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await operation()
    } catch (error) {
      const isLast = attempt === ATTEMPTS || performance.now() > deadline
      if (isLast || !mayBeginAgain(error)) throw error
      await sleep(Math.random() * 2 ** attempt)
    }
  }
}
