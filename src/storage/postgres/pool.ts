import pg from 'pg'
import { unavailable } from '../../lib/errors.ts'
import { withTimeout } from '../../lib/time.ts'
import type { PoolLoad } from '../database.ts'
import { createAvailabilityMonitor } from './availability.ts'
import { MAX_RUNNING } from './batches.ts'
import { isServerResponse, isStalePlan, translatePostgresError } from './errors.ts'
import { limitByDeadline, type PooledConnection } from './limited-connection.ts'
import { type PoolLimits, toPoolConfig } from './pool-settings.ts'
import { createProbe } from './probe.ts'

const CLOSE_TIMEOUT_MS = 2000
/** An operation that gets its connection with a smaller share of its time left is given up. */
const MIN_SHARE_LEFT = 0.1

export interface PoolOptions extends PoolLimits {
  /** The maximum number of connections. */
  size: number
  /** Called when the database stops or begins to respond. */
  onChange: (isUp: boolean, error?: Error) => void
}

interface ConnectionPool {
  /** Runs an operation, `rows` for one that only looks up a row, on a connection that it has to itself. */
  withConnection<T>(work: (connection: PooledConnection) => Promise<T>, use?: 'any' | 'rows'): Promise<T>
  readonly load: PoolLoad
  close(): Promise<void>
}

/** Connections to a PostgreSQL server; every wait has a timeout. */
export const createPool = (options: PoolOptions): ConnectionPool => {
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
    async withConnection(work, use = 'any') {
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

    get load() {
      return {
        open: sumOver(pools, (pool) => pool.totalCount),
        idle: sumOver(pools, (pool) => pool.idleCount),
        waiting: sumOver(pools, (pool) => pool.waitingCount),
      }
    },

    async close() {
      availability.stop()
      await withTimeout(CLOSE_TIMEOUT_MS, Promise.all(pools.map((pool) => pool.end())), undefined)
    },
  }
}

const sumOver = (pools: pg.Pool[], count: (pool: pg.Pool) => number): number =>
  pools.reduce((total, pool) => total + count(pool), 0)
