import type { Queries } from './database.ts'

interface Count {
  /** What is counted, and for whom. */
  id: string
  /** Of such counters there can be a flood: their rows go first when the table is full. */
  isOfNetwork?: boolean
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
  { id, isOfNetwork = false, limit, windowMs, nowMs }: Count,
): Promise<boolean> => {
  const changes = await db.run(
    `INSERT INTO counters (id, count, ends_at, of_network) VALUES (?, 1, ?, ?)
     ON CONFLICT (id) DO UPDATE SET
       count = CASE WHEN counters.ends_at <= ? THEN 1 ELSE counters.count + 1 END,
       ends_at = CASE WHEN counters.ends_at <= ? THEN excluded.ends_at ELSE counters.ends_at END
     WHERE counters.ends_at <= ? OR counters.count < ?`,
    id,
    nowMs + windowMs,
    isOfNetwork ? 1 : 0,
    nowMs,
    nowMs,
    nowMs,
    limit,
  )
  return changes > 0
}

/** Takes back what was counted last, if its window is not over. */
export const takeBack = (db: Pick<Queries, 'run'>, id: string, nowMs: number): Promise<number> =>
  db.run('UPDATE counters SET count = count - 1 WHERE id = ? AND count > 0 AND ends_at > ?', id, nowMs)

/** In how many seconds the window of a counter ends; at least one. */
export const secondsUntilEnd = async (db: Queries, id: string, nowMs: number): Promise<number> => {
  const row = await db.get<{ ends_at: number }>('SELECT ends_at FROM counters WHERE id = ?', id)
  return Math.max(1, Math.ceil(((row?.ends_at ?? nowMs) - nowMs) / 1000))
}

const BATCH = 1000

/** Runs a statement that deletes at most so many rows until nothing is left of them; resolves to how many there were. */
const deleteInBatches = async (deleteSome: (size: number) => Promise<number>, most = Infinity): Promise<number> => {
  let deleted = 0
  while (deleted < most) {
    const size = Math.min(BATCH, most - deleted)
    const changes = await deleteSome(size)
    deleted += changes
    if (changes < size) break
  }
  return deleted
}

/** Cleanup: deletes counters whose window is over; resolves to how many. */
export const deleteEndedCounters = (db: Pick<Queries, 'run'>, nowMs: number): Promise<number> =>
  deleteInBatches((size) =>
    db.run('DELETE FROM counters WHERE id IN (SELECT id FROM counters WHERE ends_at <= ? LIMIT ?)', nowMs, size),
  )

/** More than any honest clients fill within an hour; about 200 MB. */
const MAX_COUNTERS = 1_000_000

/** In what order counters go: those with at most so many tries. To sort a full table would take longer than to count. */
const TRIES = [1, 3, 10, 30, 100, Number.MAX_SAFE_INTEGER]

/**
 * Deletes what is above the greatest number of counters; resolves to how many. Networks with the fewest tries go first,
 * since a flood comes from many of them; what is counted for accounts goes last.
 */
export const deleteExcessCounters = async (db: Queries, most = MAX_COUNTERS): Promise<number> => {
  const row = await db.get<{ count: number }>('SELECT COUNT(*) AS count FROM counters')
  const excess = Math.max(0, (row?.count ?? 0) - most)
  let deleted = 0
  for (const ofNetwork of [1, 0]) {
    for (const tries of TRIES) {
      deleted += await deleteInBatches(
        (size) =>
          db.run(
            'DELETE FROM counters WHERE id IN (SELECT id FROM counters WHERE of_network = ? AND count <= ? LIMIT ?)',
            ofNetwork,
            tries,
            size,
          ),
        excess - deleted,
      )
    }
  }
  return deleted
}
