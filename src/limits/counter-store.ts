import { MAX_CLOCK_SKEW_MS } from '../lib/time.ts'
import { countWith, MOMENT, type Queries, type Transaction, type Value } from '../storage/database.ts'
import { DAY_MS } from './limit-table.ts'

export interface StoredCounter {
  /**
   * This is the key of the row; for a known browser it is the beginning, to which the row adds since when it is known.
   */
  id: string
  tries: number
  windowMs: number
  /** There can be a flood of networks: their rows go first when the table is full. */
  isOfNetwork: boolean
  /** A login counts here in these browsers. */
  browsers: 'all' | 'known' | 'unknown'
}

/** This is a browser, and the email that was entered in it. */
export interface EntryPlace {
  emailLower: string
  /** This is the hash of the browser's secret; it is empty if the browser has none. */
  deviceHash: string
}

interface Try {
  /** They are in the order of their ids, in which every statement locks rows. */
  counters: readonly StoredCounter[]
  /** This is the place of a login with a password, whose counters depend on the browser. */
  place?: EntryPlace | undefined
  nowMs: number
}

/** This is the row of a counter, and the window in which a try was counted. */
export interface CountedRow {
  id: string
  ends_at: number
}

interface FullRow {
  id: string
  place: number
  count: number
  wait_ms: number
}

/**
 * Writes the condition that the window of a counter is over, or lies in a future that no clock can have seen: the clock
 * was set back since.
 */
const isOver = (window: string): string =>
  `(counters.ends_at <= (SELECT now FROM moment)
    OR counters.ends_at > (SELECT now FROM moment) + ${window} + ${MAX_CLOCK_SKEW_MS} OR counters.count <= 0)`

/** The condition is the same for a row that exists, within the insert of one that would begin now. */
const IS_OVER = isOver('(excluded.ends_at - (SELECT now FROM moment))')

const BROWSERS = { all: 0, known: 1, unknown: 2 } as const

/**
 * Writes the counters of a try (`given`), and the time (`moment`). A login has those that fit the browser, which is
 * known by the time since when it is, since its secret changes. One statement does all of it: a login waits for no
 * other.
 */
const givenOf = ({ counters, place, nowMs }: Try): { sql: string; values: Value[] } => {
  const row =
    '(CAST(? AS BIGINT), CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT))'
  const listed = `listed (place, id, tries, window_ms, of_network, browsers) AS (VALUES ${counters.map(() => row).join(', ')})`
  const values: Value[] = counters.flatMap(({ id, tries, windowMs, isOfNetwork, browsers }, at) => [
    at,
    id,
    tries,
    windowMs,
    isOfNetwork ? 1 : 0,
    BROWSERS[browsers],
  ])
  if (!place)
    return {
      sql: `WITH ${listed}, ${MOMENT}, given AS (SELECT * FROM listed)`,
      values: [...values, nowMs],
    }
  const known = `known (since) AS (
      SELECT known_browsers.created_at FROM known_browsers JOIN users ON known_browsers.id = users.id || '/' || ?
      WHERE users.email_lower = ?)`
  const given = `given (place, id, tries, window_ms, of_network) AS (
      SELECT place, CASE WHEN browsers = ${BROWSERS.known} THEN id || (SELECT since FROM known) ELSE id END, tries, window_ms, of_network
      FROM listed
      WHERE browsers IN (0, CASE WHEN EXISTS (SELECT 1 FROM known) THEN ${BROWSERS.known} ELSE ${BROWSERS.unknown} END))`
  return {
    sql: `WITH ${listed}, ${MOMENT}, ${known}, ${given}`,
    values: [...values, nowMs, place.deviceHash, place.emailLower],
  }
}

const COUNT = `
  INSERT INTO counters (id, count, ends_at, of_network)
  SELECT given.id, 1, (SELECT now FROM moment) + given.window_ms, given.of_network FROM given
  WHERE NOT EXISTS (
    SELECT 1 FROM given AS other JOIN counters ON counters.id = other.id
    WHERE counters.count >= other.tries AND NOT ${isOver('other.window_ms')})
  ORDER BY given.place
  ON CONFLICT (id) DO UPDATE SET
    count = CASE WHEN ${IS_OVER} THEN 1 ELSE counters.count + 1 END,
    ends_at = CASE WHEN ${IS_OVER} THEN excluded.ends_at ELSE counters.ends_at END
  WHERE ${IS_OVER}
    OR counters.count < (SELECT given.tries FROM given WHERE given.id = counters.id)
  RETURNING id, ends_at`

/** Runs a statement and gives the rows that it returns: in a transaction, or in one that waits for no disk. */
type Run = Queries['all']

/**
 * Counts a try in all of its counters, or in none if one of them is full: a refused try counts nowhere. Resolves to the
 * rows in which it was counted. Tries that come at the same time can fill one of them in between on PostgreSQL: then
 * some are missing, and the caller takes back the others.
 */
export const countTry = (run: Run, attempt: Try): Promise<CountedRow[]> => {
  const { sql, values } = givenOf(attempt)
  return run(sql + COUNT, ...values)
}

export const findFull = (db: Queries, attempt: Try): Promise<FullRow[]> => {
  const { sql, values } = givenOf(attempt)
  return db.all<FullRow>(
    `${sql} SELECT given.id, given.place, counters.count, counters.ends_at - (SELECT now FROM moment) AS wait_ms
     FROM given JOIN counters ON counters.id = given.id
     WHERE counters.count >= given.tries AND NOT ${isOver('given.window_ms')}`,
    ...values,
  )
}

/**
 * Takes a try back if its window goes on. It is an insert, whose rows are locked in their order, as those of all tries
 * are: an update would lock them in any order, and end in deadlocks.
 */
export const takeBackTry = async (run: Run, rows: readonly CountedRow[]): Promise<void> => {
  if (rows.length === 0) return
  await run(
    `WITH given (id, ends_at) AS (VALUES ${rows.map(() => '(CAST(? AS TEXT), CAST(? AS BIGINT))').join(', ')})
     INSERT INTO counters (id, count, ends_at)
     SELECT counters.id, 0, counters.ends_at FROM given
     JOIN counters ON counters.id = given.id AND counters.ends_at = given.ends_at
     WHERE counters.count > 0
     ORDER BY counters.id
     ON CONFLICT (id) DO UPDATE SET count = counters.count - 1
     WHERE counters.ends_at = excluded.ends_at AND counters.count > 0`,
    ...rows.flatMap(({ id, ends_at }) => [id, ends_at]),
  )
}

/**
 * Lets the counters whose ids begin with `begin` start again, and the one with the id `other`. It locks them in the
 * order in which tries do.
 */
export const deleteCounters = async (transaction: Transaction, begin: string, other: string): Promise<void> => {
  // The end of the range is above every character that an id has.
  const range = [begin, `${begin}~`, other]
  await transaction.all('SELECT id FROM counters WHERE id >= ? AND id < ? OR id = ? ORDER BY id FOR UPDATE', ...range)
  await transaction.run('DELETE FROM counters WHERE id >= ? AND id < ? OR id = ?', ...range)
}

const BATCH = 1000

/**
 * Runs a statement that deletes at most so many rows until it deletes none; resolves to how many there were. It may
 * delete fewer than there are: rows that change while it waits for them may stay.
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

/** The conditions of cleanup have a statement each, so that both find their rows by the index. */
const ENDED = [
  'ends_at <= (SELECT now FROM moment)',
  `ends_at > (SELECT now FROM moment) + ${DAY_MS + MAX_CLOCK_SKEW_MS}`,
]

/** Deletes counters whose window is over, for cleanup; resolves to how many. */
export const deleteEndedCounters = async (db: Pick<Queries, 'run'>, nowMs: number): Promise<number> => {
  let deleted = 0
  for (const condition of ENDED) {
    // The condition stands twice: a counter may have begun again while the statement waited for its row.
    const sql = `WITH ${MOMENT}
      DELETE FROM counters
      WHERE id IN (SELECT id FROM counters WHERE ${condition} ORDER BY ends_at LIMIT ?) AND ${condition}`
    deleted += await deleteInBatches((size) => db.run(sql, nowMs, size))
  }
  return deleted
}

/** Honest clients fill fewer within an hour; these take about 200 MB. */
const MAX_COUNTERS = 1_000_000

/** Counters with at most so many tries go, in this order. To sort a full table would take longer than to count. */
const TRIES = [1, 3, 10, 30, 100, Number.MAX_SAFE_INTEGER]

/**
 * Deletes counters above the greatest number; resolves to how many. Networks with the fewest tries go first,
 * since a flood comes from many of them; counts of accounts go last.
 */
export const deleteExcessCounters = async (db: Queries, most = MAX_COUNTERS): Promise<number> => {
  const excess = Math.max(0, (await countWith(db, 'SELECT COUNT(*) AS count FROM counters')) - most)
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
