import type { Queries } from './database.ts'

interface Count {
  /** What is counted, and for whom. */
  id: string
  /** How many may be counted within one window. */
  limit: number
  windowMs: number
  nowMs: number
}

/**
 * Counts one more, the same for all processes of an installation; false when the limit of the window is reached. A
 * window begins with the first that counts.
 */
export const countWithin = async (
  db: Pick<Queries, 'run'>,
  { id, limit, windowMs, nowMs }: Count,
): Promise<boolean> => {
  const changes = await db.run(
    `INSERT INTO counters (id, count, ends_at) VALUES (?, 1, ?)
     ON CONFLICT (id) DO UPDATE SET
       count = CASE WHEN counters.ends_at <= ? THEN 1 ELSE counters.count + 1 END,
       ends_at = CASE WHEN counters.ends_at <= ? THEN excluded.ends_at ELSE counters.ends_at END
     WHERE counters.ends_at <= ? OR counters.count < ?`,
    id,
    nowMs + windowMs,
    nowMs,
    nowMs,
    nowMs,
    limit,
  )
  return changes > 0
}

/**
 * What tells the state of a counter from every earlier and later one; undefined when nothing was counted within its
 * window.
 */
export const readCounter = async (db: Queries, id: string, nowMs: number): Promise<string | undefined> => {
  const row = await db.get<{ count: number; ends_at: number }>(
    'SELECT count, ends_at FROM counters WHERE id = ? AND ends_at > ?',
    id,
    nowMs,
  )
  return row && `${row.ends_at}/${row.count}`
}

/** Takes back what was counted last, if its window is not over. */
export const takeBack = (db: Pick<Queries, 'run'>, id: string, nowMs: number): Promise<number> =>
  db.run('UPDATE counters SET count = count - 1 WHERE id = ? AND count > 0 AND ends_at > ?', id, nowMs)

/** In how many seconds the window of a counter ends; at least one. */
export const secondsUntilEnd = async (db: Queries, id: string, nowMs: number): Promise<number> => {
  const row = await db.get<{ ends_at: number }>('SELECT ends_at FROM counters WHERE id = ?', id)
  return Math.max(1, Math.ceil(((row?.ends_at ?? nowMs) - nowMs) / 1000))
}

/** Cleanup: deletes counters whose window is over; resolves to how many. */
export const deleteEndedCounters = (db: Pick<Queries, 'run'>, nowMs: number): Promise<number> =>
  db.run('DELETE FROM counters WHERE ends_at <= ?', nowMs)
