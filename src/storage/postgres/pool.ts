import pg from 'pg'
import { unavailable } from '../../lib/errors.ts'
import { MAX_TIMER_MS, withTimeout } from '../../lib/time.ts'
import type { PoolLoad } from '../database.ts'
import { createAvailabilityMonitor, createProbe } from './availability.ts'
import { MAX_RUNNING } from './batches.ts'
import { isConnectionLost, isServerResponse, isStalePlan, translatePostgresError } from './errors.ts'
import { type NamedResult, type NamedStatement, sendNamed } from './named-query.ts'

const IDLE_TIMEOUT_MS = 30_000
/** Connections are replaced after this time, so that a server that was added or moved gets its share of them. */
const MAX_LIFETIME_SECONDS = 1800
/** A connection is not waited for longer than this, though statements may take an hour (migrations). */
const MAX_CONNECT_MS = 30_000
const CLOSE_TIMEOUT_MS = 2000
/** An operation that gets its connection with a smaller share of its time left is given up. */
const MIN_SHARE_LEFT = 0.1

export interface PoolOptions {
  /** The configuration says how to connect, and has no timeouts. */
  connection: pg.ClientConfig
  /** This is the timeout of an operation, from waiting for a connection to its last statement. */
  timeoutMs: number
  /** A statement waits so long for a lock; half of `timeoutMs` when left out. */
  lockTimeoutMs?: number | undefined
  size: number
  /** It is called when the database stops or begins to respond. */
  onChange: (isUp: boolean, error?: Error) => void
}

/** Begins a transaction whose statements all see what was committed before the first of them. */
export const BEGIN_SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'

/** An operation uses this connection. Its errors are those that `Database` documents. */
export interface PooledConnection {
  query<Row>(statement: NamedStatement): Promise<NamedResult<Row>>
  /** Resolves to the command that the server has run: it answers `COMMIT` with `ROLLBACK` after a failure. */
  command(text: 'BEGIN' | 'COMMIT' | 'ROLLBACK' | typeof BEGIN_SNAPSHOT): Promise<string>
}

/** Opens connections to a PostgreSQL server; every wait has a timeout. */
export const createPool = (options: PoolOptions) => {
  const { connection, size, timeoutMs, onChange } = options
  const settings = toPoolConfig(options)

  // A connection of an earlier epoch is closed instead of reused: it was opened before the latest outage or schema
  // change.
  let epoch = 0
  const epochs = new WeakMap<pg.PoolClient, number>()

  const openPool = (max: number): pg.Pool => {
    const pool = new pg.Pool({ ...settings, max })
    // An idle connection broke; the pool replaces it. One in use reports its error by rejecting its query.
    pool.on('error', () => availability.reportNoResponse())
    pool.on('connect', (client) => {
      epochs.set(client, epoch)
      client.on('error', () => {})
    })
    return pool
  }

  // Row lookups have connections of their own, so that they never wait behind writes that wait for a lock.
  const forRows = size > 2 * MAX_RUNNING ? MAX_RUNNING : 0
  const common = openPool(size - forRows)
  const rows = forRows > 0 ? openPool(forRows) : common
  const pools = [...new Set([common, rows])]

  const availability = createAvailabilityMonitor({
    probe: createProbe(connection, timeoutMs),
    onDown: (error) => onChange(false, error),
    onUp() {
      // A connection from before the outage may be dead without an error.
      epoch += 1
      onChange(true)
    },
  })

  const connect = async (pool: pg.Pool): Promise<pg.PoolClient> => {
    availability.requireAvailable()
    try {
      for (;;) {
        const client = await pool.connect()
        if (epochs.get(client) === epoch) return client
        client.release(true)
      }
    } catch (error) {
      if (!isServerResponse(error)) availability.reportNoResponse()
      throw translatePostgresError(error)
    }
  }

  return {
    /** Runs an operation, `rows` for one that only looks up a row, on a connection that it has to itself. */
    async withConnection<T>(
      work: (connection: PooledConnection) => Promise<T>,
      use: 'any' | 'rows' = 'any',
    ): Promise<T> {
      const deadline = performance.now() + timeoutMs
      const client = await connect(use === 'rows' ? rows : common)
      // A query that times out costs its connection, and connections are scarce already when one was so long in coming.
      if (deadline - performance.now() < timeoutMs * MIN_SHARE_LEFT) {
        client.release()
        throw unavailable('The database is overloaded.')
      }
      const limited = limitByDeadline(client, deadline)
      try {
        return await work(limited)
      } finally {
        const { lost } = limited
        client.release(lost)
        if (lost && !isServerResponse(lost)) availability.reportNoResponse()
        // All other connections of this epoch have the same stale plans.
        if (isStalePlan(lost) && epochs.get(client) === epoch) epoch += 1
      }
    },

    get load(): PoolLoad {
      return {
        open: sumOver(pools, (pool) => pool.totalCount),
        idle: sumOver(pools, (pool) => pool.idleCount),
        waiting: sumOver(pools, (pool) => pool.waitingCount),
      }
    },

    async close(): Promise<void> {
      availability.stop()
      await withTimeout(CLOSE_TIMEOUT_MS, Promise.all(pools.map((pool) => pool.end())), undefined)
    },
  }
}

const sumOver = (pools: pg.Pool[], count: (pool: pg.Pool) => number): number =>
  pools.reduce((total, pool) => total + count(pool), 0)

/** Makes the configuration of a pool of `pg`, except for its size. */
const toPoolConfig = ({ connection, timeoutMs, lockTimeoutMs }: PoolOptions): pg.PoolConfig => ({
  ...connection,
  // A statement that timed out here must end at the server too, and release its locks.
  statement_timeout: timeoutMs,
  lock_timeout: lockTimeoutMs ?? Math.ceil(timeoutMs / 2),
  idle_in_transaction_session_timeout: Math.min(timeoutMs * 2, MAX_TIMER_MS),
  connectionTimeoutMillis: Math.min(timeoutMs, MAX_CONNECT_MS),
  idleTimeoutMillis: IDLE_TIMEOUT_MS,
  maxLifetimeSeconds: MAX_LIFETIME_SECONDS,
  keepAlive: true,
  allowExitOnIdle: true,
})

interface LimitedConnection extends PooledConnection {
  /** The connection must not be reused after this error. */
  lost: Error | undefined
}

/** Gives each query the time that is left until the deadline. */
const limitByDeadline = (client: pg.PoolClient, deadline: number): LimitedConnection => {
  const limit = async <T>(send: (timeoutMs: number) => Promise<T>): Promise<T> => {
    try {
      return await send(Math.max(1, Math.ceil(deadline - performance.now())))
    } catch (error) {
      // The stack of the error would lead to the driver's reader, and not to the statement.
      if (error instanceof Error) Error.captureStackTrace(error)
      if (isConnectionLost(error)) limited.lost = error as Error
      throw translatePostgresError(error)
    }
  }
  const limited: LimitedConnection = {
    lost: undefined,
    query: (statement) => limit((timeoutMs) => sendNamed(client, statement, timeoutMs)),
    async command(text) {
      const { command } = await limit((query_timeout) => client.query({ text, query_timeout } as pg.QueryConfig))
      return command
    },
  }
  return limited
}
