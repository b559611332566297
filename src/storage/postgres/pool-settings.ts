import type pg from 'pg'
import { MAX_TIMER_MS } from '../../lib/time.ts'

const IDLE_TIMEOUT_MS = 30_000
/** Connections are replaced after this time, so that a server that was added or moved gets its share of them. */
const MAX_LIFETIME_SECONDS = 1800
/** Even where statements may take an hour (migrations), a connection is not waited for longer than this. */
const MAX_CONNECT_MS = 30_000

export interface PoolLimits {
  /** Where and how to connect, without timeouts. */
  connection: pg.ClientConfig
  /** The timeout of an operation, from waiting for a connection to its last statement. */
  timeoutMs: number
  /** How long a statement waits for a lock; half of `timeoutMs` when left out. */
  lockTimeoutMs?: number | undefined
}

/** The configuration of a pool of `pg`, except for its size. */
export const toPoolConfig = ({ connection, timeoutMs, lockTimeoutMs }: PoolLimits): pg.PoolConfig => ({
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
