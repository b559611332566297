import { MAX_CLOCK_SKEW_MS } from '../lib/time.ts'
import { MOMENT, type Queries } from './database.ts'

/**
 * Whether the window of a counter is over, or lies in a future that no clock can have seen: the clock was set back since.
 */
export const isOver = (window: string): string =>
  `(counters.ends_at <= (SELECT now FROM moment)
    OR counters.ends_at > (SELECT now FROM moment) + ${window} + ${MAX_CLOCK_SKEW_MS} OR counters.count <= 0)`

/** Of a row that exists, within the insert of one that would begin now. */
export const IS_OVER = isOver('(excluded.ends_at - (SELECT now FROM moment))')

/** No window is longer: cleanup knows by it what no clock can have seen. */
export const LONGEST_WINDOW_MS = 24 * 3_600_000

interface Count {
  /** What is counted, and for whom. */
  id: string
  /** Of such counters there can be a flood: their rows go first when the table is full. */
  isOfNetwork?: boolean
  /** How many may be counted within one window. */
  limit: number
  /** At most `LONGEST_WINDOW_MS`. */
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
  if (windowMs > LONGEST_WINDOW_MS) throw new RangeError('a window lasts a day at most')
  const changes = await db.run(
    `WITH ${MOMENT}
     INSERT INTO counters (id, count, ends_at, of_network)
     SELECT CAST(? AS TEXT), 1, now + CAST(? AS BIGINT), CAST(? AS BIGINT) FROM moment WHERE TRUE
     ON CONFLICT (id) DO UPDATE SET
       count = CASE WHEN ${IS_OVER} THEN 1 ELSE counters.count + 1 END,
       ends_at = CASE WHEN ${IS_OVER} THEN excluded.ends_at ELSE counters.ends_at END
     WHERE ${IS_OVER} OR counters.count < ?`,
    nowMs,
    id,
    windowMs,
    isOfNetwork ? 1 : 0,
    limit,
  )
  return changes > 0
}

/** Takes back what was counted last. Where its window is over, the count means nothing any more. */
export const takeBack = (db: Pick<Queries, 'run'>, id: string): Promise<number> =>
  db.run('UPDATE counters SET count = count - 1 WHERE id = ? AND count > 0', id)

/** In how many seconds the window of a counter ends; at least one. */
export const secondsUntilEnd = async (db: Queries, id: string, nowMs: number): Promise<number> => {
  const row = await db.get<{ wait_ms: number }>(
    `WITH ${MOMENT} SELECT ends_at - (SELECT now FROM moment) AS wait_ms FROM counters WHERE id = ?`,
    nowMs,
    id,
  )
  return Math.max(1, Math.ceil((row?.wait_ms ?? 0) / 1000))
}

const BATCH = 1000

/**
 * Runs a statement that deletes at most so many rows until it deletes none; resolves to how many there were. It may
 * delete fewer than there are: those that change while it waits for them.
 */
const deleteInBatches = async (deleteSome: (size: number) => Promise<number>, most = Infinity): Promise<number> => {
  let deleted = 0
  while (deleted < most) {
    const changes = await deleteSome(Math.min(BATCH, most - deleted))
    deleted += changes
    if (changes === 0) break
  }
  return deleted
}

/** What cleanup deletes. Two statements, since each finds its rows by the index. */
const ENDED = [
  'ends_at <= (SELECT now FROM moment)',
  `ends_at > (SELECT now FROM moment) + ${LONGEST_WINDOW_MS + MAX_CLOCK_SKEW_MS}`,
]

/** Cleanup: deletes counters whose window is over; resolves to how many. */
export const deleteEndedCounters = async (db: Pick<Queries, 'run'>, nowMs: number): Promise<number> => {
  let deleted = 0
  for (const condition of ENDED) {
    // Twice the same condition: a counter may have begun again while the statement waited for its row.
    const sql = `WITH ${MOMENT}
      DELETE FROM counters
      WHERE id IN (SELECT id FROM counters WHERE ${condition} ORDER BY ends_at LIMIT ?) AND ${condition}`
    deleted += await deleteInBatches((size) => db.run(sql, nowMs, size))
  }
  return deleted
}

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
            `DELETE FROM counters WHERE id IN (SELECT id FROM counters WHERE of_network = ? AND count <= ? LIMIT ?)
               AND count <= ?`,
            ofNetwork,
            tries,
            size,
            tries,
          ),
        excess - deleted,
      )
    }
  }
  return deleted
}
