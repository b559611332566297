import pg from 'pg'
import { MAX_TIMER_MS } from '../../lib/time.ts'

const IDLE_MS = 30_000
/** A connection is not kept for ever, so that a server that was added or moved gets its share. */
const LIFETIME_SECONDS = 1800
/** A migration may take an hour, but nobody waits so long for a server. */
const LONGEST_CONNECT_MS = 30_000

export interface Limits {
  /** Where and how to connect, without limits of time. */
  connection: pg.ClientConfig
  /** Bounds an operation: getting a connection and all that is asked over it. */
  timeoutMs: number
  /** How long a statement waits for what others have locked; half of `timeoutMs` when left out. */
  lockTimeoutMs?: number | undefined
}

const INT8: number = pg.types.builtins.INT8

/** `int8` as a number: all of ours are counts and times. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

/** What a pool of `pg` is to be given, but for its size. */
export const poolSettings = ({ connection, timeoutMs, lockTimeoutMs }: Limits): pg.PoolConfig => ({
  ...connection,
  types,
  // What we have given up must not go on at the server, nor keep others waiting for its locks.
  statement_timeout: timeoutMs,
  lock_timeout: lockTimeoutMs ?? Math.ceil(timeoutMs / 2),
  idle_in_transaction_session_timeout: Math.min(timeoutMs * 2, MAX_TIMER_MS),
  connectionTimeoutMillis: Math.min(timeoutMs, LONGEST_CONNECT_MS),
  idleTimeoutMillis: IDLE_MS,
  maxLifetimeSeconds: LIFETIME_SECONDS,
  keepAlive: true,
  allowExitOnIdle: true,
})
