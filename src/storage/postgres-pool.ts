import pg from 'pg'
import { unavailable } from '../lib/errors.ts'
import { isAnswer, isConnectionLost, isStalePlan } from './postgres-errors.ts'
import { createWatch } from './watch.ts'
import type { PoolLoad } from './database.ts'

const IDLE_MS = 30_000
/** A connection is not kept for ever, so that a server that was added or moved gets its share. */
const LIFETIME_SECONDS = 1800
const SHORTEST_PROBE_MS = 1000
const LONGEST_PROBE_MS = 5000
const CLOSE_PATIENCE_MS = 2000
/** Who gets a connection with less than this share of his time left gives it back. */
const LEAST_SHARE_LEFT = 0.1

export interface PoolOptions {
  /** Where and how to connect, without limits of time. */
  connection: pg.ClientConfig
  /** How many connections at most. */
  size: number
  /** Bounds an operation: getting a connection and all that is asked over it. */
  timeoutMs: number
  /** How long a statement waits for what others have locked; half of `timeoutMs` when left out. */
  lockTimeoutMs?: number | undefined
  /** Hears when the database stops and begins to answer. */
  onChange: (isUp: boolean, error?: Error) => void
}

/** One connection, for the length of one operation. */
export interface Lease {
  query<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<pg.QueryResult<Row>>
}

const INT8: number = pg.types.builtins.INT8

/** `int8` as a number: all of ours are counts and times. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

/** Connections to a PostgreSQL server, every wait bounded. */
export const createPool = (options: PoolOptions) => {
  const { connection, size, timeoutMs, lockTimeoutMs = Math.ceil(timeoutMs / 2), onChange } = options
  const limits = {
    // What we have given up must not go on at the server, nor keep others waiting for its locks.
    statement_timeout: timeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: timeoutMs * 2,
    keepAlive: true,
  }

  const open = (): pg.Pool => {
    const pool = new pg.Pool({
      ...connection,
      ...limits,
      types,
      max: size,
      connectionTimeoutMillis: timeoutMs,
      idleTimeoutMillis: IDLE_MS,
      maxLifetimeSeconds: LIFETIME_SECONDS,
      allowExitOnIdle: true,
    })
    // A connection that breaks while nobody uses it is replaced at the next use; one in use rejects its query.
    pool.on('error', () => watch.suspect())
    pool.on('connect', (client) => client.on('error', () => {}))
    return pool
  }

  // Short, so that the next one comes soon after the server; but a slow server must not look like none.
  const probeMs = Math.min(Math.max(SHORTEST_PROBE_MS, timeoutMs / 2), LONGEST_PROBE_MS)

  const ask = async (): Promise<void> => {
    const client = new pg.Client({ ...connection, connectionTimeoutMillis: probeMs })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.query({ text: 'SELECT 1', query_timeout: probeMs } as pg.QueryConfig)
    } catch (error) {
      if (!isAnswer(error)) throw error
    } finally {
      void client.end().catch(() => {})
    }
  }

  const watch = createWatch({
    ask,
    onDown: (error) => onChange(false, error),
    onUp() {
      // Connections from before may lead nowhere without saying so.
      replace(pool)
      onChange(true)
    },
  })
  let pool = open()

  /** Whoever has a connection of the old pool may finish. */
  const replace = (old: pg.Pool): void => {
    if (old !== pool) return
    pool = open()
    void old.end()
  }

  const connect = async (): Promise<pg.PoolClient> => {
    watch.requireUp()
    try {
      return await pool.connect()
    } catch (error) {
      if (!isAnswer(error)) watch.suspect()
      throw error
    }
  }

  return {
    /** Lends a connection; one that was lost meanwhile is not lent again. */
    async lend<T>(work: (lease: Lease) => Promise<T>): Promise<T> {
      const deadline = performance.now() + timeoutMs
      const from = pool
      const client = await connect()
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
            throw error
          }
        },
      }
      try {
        return await work(lease)
      } finally {
        client.release(lost)
        if (lost && !isAnswer(lost)) watch.suspect()
        if (isStalePlan(lost)) replace(from)
      }
    },

    get load(): PoolLoad {
      return { open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }
    },

    async close(): Promise<void> {
      watch.stop()
      const impatience = Promise.withResolvers<void>()
      const timer = setTimeout(impatience.resolve, CLOSE_PATIENCE_MS)
      await Promise.race([pool.end(), impatience.promise])
      clearTimeout(timer)
    },
  }
}

export type Pool = ReturnType<typeof createPool>
