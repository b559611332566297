import { MAX_CLOCK_SKEW_MS } from '../lib/time.ts'
import { MOMENT, type Queries } from './database.ts'

interface Lease {
  name: string
  holder: string
  /** The lease lasts so long from now on. */
  forMs: number
  /** Any process may take it for this time at most. */
  longestMs: number
  /** This time counts if the database has no server. */
  nowMs: number
}

/** Writes a time in thirteen digits, so that times compare as text. They are enough until the year 2286. */
const digits = (time: string): string => `SUBSTR(CAST(10000000000000 + ${time} AS TEXT), 2)`

/**
 * Takes a lease, which gives a job to one process for a time. Resolves to false while another process holds it. Its
 * holder can extend it. When a process dies, its lease is free again at the end of that time.
 *
 * The time is that of the database's server. A lease that ends later than any process can have said is free as well: a
 * clock was set back since.
 */
export const takeLease = async (
  db: Pick<Queries, 'run'>,
  { name, holder, forMs, longestMs, nowMs }: Lease,
): Promise<boolean> => {
  // The value is `TIME HOLDER`: the holder begins at character 15.
  const changes = await db.run(
    `WITH ${MOMENT}
     INSERT INTO installation (name, value)
     SELECT CAST(? AS TEXT), ${digits('now + CAST(? AS BIGINT)')} || ' ' || CAST(? AS TEXT) FROM moment WHERE TRUE
     ON CONFLICT (name) DO UPDATE SET value = excluded.value
     WHERE SUBSTR(installation.value, 15) = ?
       OR SUBSTR(installation.value, 1, 13) <= (SELECT ${digits('now')} FROM moment)
       OR SUBSTR(installation.value, 1, 13) > (SELECT ${digits('now + CAST(? AS BIGINT)')} FROM moment)`,
    nowMs,
    nameOf(name),
    forMs,
    holder,
    holder,
    longestMs + MAX_CLOCK_SKEW_MS,
  )
  return changes > 0
}

/** Gives a lease back before its end, unless another process has taken it. */
export const endLease = async (
  db: Pick<Queries, 'run'>,
  { name, holder }: Pick<Lease, 'name' | 'holder'>,
): Promise<void> => {
  await db.run('DELETE FROM installation WHERE name = ? AND SUBSTR(value, 15) = ?', nameOf(name), holder)
}

const nameOf = (lease: string): string => `lease ${lease}`
