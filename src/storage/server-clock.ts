import type { Clock } from '../lib/time.ts'
import type { Queries } from './database.ts'

interface ServerClock {
  /** This is the time of the database's server; if there is none, that of this machine. */
  nowMs: number
  /** The clock of this machine is ahead of the server's by so much at least; it is behind if this is negative. */
  aheadMs: number
}

/** Compares the clock of this machine with that of the database's server. */
export const compareClocks = async (db: Pick<Queries, 'get'>, clock: Clock): Promise<ServerClock> => {
  const askedMs = clock.now()
  const row = await db.get<{ now: number | null }>('SELECT server_time() AS now')
  const answeredMs = clock.now()
  // The server has looked at its clock in between.
  const nowMs = row?.now ?? answeredMs
  return { nowMs, aheadMs: Math.max(askedMs - nowMs, 0) || Math.min(answeredMs - nowMs, 0) }
}
