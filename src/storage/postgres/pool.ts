import pg from 'pg'
import { unavailable } from '../../lib/errors.ts'
import { within } from '../../lib/time.ts'
import type { PoolLoad } from '../database.ts'
import { isAnswer, isConnectionLost, isStalePlan, translatePostgresError } from './errors.ts'
import { type Limits, poolSettings } from './pool-settings.ts'
import { createProbe } from './probe.ts'
import { QUERIES_AT_ONCE } from './row-batches.ts'
import { createWatch } from './watch.ts'

const CLOSE_PATIENCE_MS = 2000
/** Who gets a connection with less than this share of his time left gives it back. */
const LEAST_SHARE_LEFT = 0.1

export interface PoolOptions extends Limits {
  /** How many connections at most. */
  size: number
  /** Hears when the database stops and begins to answer. */
  onChange: (isUp: boolean, error?: Error) => void
}

/** One connection, for the length of one operation. Failures come in the terms of `Database`. */
export interface Lease {
  query<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<pg.QueryResult<Row>>
}

/** Connections to a PostgreSQL server, every wait bounded. */
export const createPool = (options: PoolOptions) => {
  const { connection, size, timeoutMs, onChange } = options
  const settings = poolSettings(options)

  // Connections from before the latest break are not lent again: the pool goes on, with whoever waits for it.
  let epoch = 0
  const epochs = new WeakMap<pg.PoolClient, number>()

  const open = (max: number): pg.Pool => {
    const pool = new pg.Pool({ ...settings, max })
    // A connection that breaks while nobody uses it is replaced at the next use; one in use rejects its query.
    pool.on('error', () => watch.suspect())
    pool.on('connect', (client) => {
      epochs.set(client, epoch)
      client.on('error', () => {})
    })
    return pool
  }

  // Who only reads a row is not to wait behind writes that wait for a lock.
  const forRows = size > 2 * QUERIES_AT_ONCE ? QUERIES_AT_ONCE : 0
  const common = open(size - forRows)
  const rows = forRows > 0 ? open(forRows) : common
  const pools = [...new Set([common, rows])]

  const watch = createWatch({
    ask: createProbe(connection, timeoutMs),
    onDown: (error) => onChange(false, error),
    onUp() {
      // Connections from before may lead nowhere without saying so.
      epoch += 1
      onChange(true)
    },
  })

  const connect = async (pool: pg.Pool): Promise<pg.PoolClient> => {
    watch.requireUp()
    try {
      for (;;) {
        const client = await pool.connect()
        if (epochs.get(client) === epoch) return client
        client.release(true)
      }
    } catch (error) {
      if (!isAnswer(error)) watch.suspect()
      throw translatePostgresError(error)
    }
  }

  return {
    /** Lends a connection; one that was lost meanwhile is not lent again. */
    async lend<T>(work: (lease: Lease) => Promise<T>, use: 'any' | 'rows' = 'any'): Promise<T> {
      const deadline = performance.now() + timeoutMs
      const client = await connect(use === 'rows' ? rows : common)
      // A question that cannot be answered in time would cost the connection, when there are too few already.
      if (deadline - performance.now() < timeoutMs * LEAST_SHARE_LEFT) {
        client.release()
        throw unavailable('The database has too much to do.')
      }
      let lost: Error | undefined
      const lease: Lease = {
        async query(statement) {
          const left = Math.max(1, Math.ceil(deadline - performance.now()))
          try {
            return await client.query({ ...statement, query_timeout: left } as pg.QueryConfig)
          } catch (error) {
            if (isConnectionLost(error)) lost = error as Error
            throw translatePostgresError(error)
          }
        },
      }
      try {
        return await work(lease)
      } finally {
        client.release(lost)
        if (lost && !isAnswer(lost)) watch.suspect()
        // As stale as this one are all of its time.
        if (isStalePlan(lost) && epochs.get(client) === epoch) epoch += 1
      }
    },

    get load(): PoolLoad {
      return {
        open: sumOf(pools, (pool) => pool.totalCount),
        idle: sumOf(pools, (pool) => pool.idleCount),
        waiting: sumOf(pools, (pool) => pool.waitingCount),
      }
    },

    async close(): Promise<void> {
      watch.stop()
      await within(CLOSE_PATIENCE_MS, Promise.all(pools.map((pool) => pool.end())), undefined)
    },
  }
}

const sumOf = (pools: pg.Pool[], count: (pool: pg.Pool) => number): number =>
  pools.reduce((total, pool) => total + count(pool), 0)
