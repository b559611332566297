import { IS_OVER, isOver } from '../storage/counters.ts'
import { type Database, MOMENT, type Queries, type Transaction, type Value } from '../storage/database.ts'
import type { Counter } from './counter.ts'

/** A browser, and the email that was entered in it. */
export interface EntryPlace {
  emailLower: string
  /** The hash of the browser's secret; empty where it has none. */
  deviceHash: string
}

interface Try {
  /** In the order of their ids, in which every statement locks rows. */
  counters: readonly Counter[]
  /** Of a login with a password, where it depends on the browser what counts. */
  place?: EntryPlace | undefined
  nowMs: number
}

/** The row of a counter, and the window in which a try was counted. */
export interface CountedRow {
  id: string
  ends_at: number
}

interface FullRow {
  id: string
  /** The place of its counter in the list. */
  place: number
  count: number
  wait_ms: number
}

const BROWSERS = { all: 0, known: 1, unknown: 2 } as const

/**
 * The counters of a try (`given`), and the time (`moment`): for a login, those that fit the browser, which is known by
 * the time since when it is, since its secret changes. One statement for all of it: a login waits for no other.
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

/**
 * Counts a try in all of its counters, or in none where one of them is full: what is refused counts nowhere. Resolves to
 * the rows in which it was counted. On PostgreSQL, tries that come at the same time can fill one of them in between: then
 * some are missing, and the caller takes back the others.
 */
export const countTry = (db: Database, attempt: Try): Promise<CountedRow[]> => {
  const { sql, values } = givenOf(attempt)
  return db.runUnsynced<CountedRow>(sql + COUNT, ...values)
}

/** Those of the counters that are full. */
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
 * Takes a try back where its window goes on. As an insert, whose rows are locked in their order, as those of all tries
 * are: an update would lock them in any order, and end in deadlocks.
 */
export const takeBackTry = async (db: Database, rows: readonly CountedRow[]): Promise<void> => {
  await db.runUnsynced(
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

/** Lets counters begin again whose ids begin so, and one more. Locks them in the order in which tries do. */
export const deleteCounters = async (transaction: Transaction, begin: string, other: string): Promise<void> => {
  // Above every character that an id has.
  const range = [begin, `${begin}~`, other]
  await transaction.all('SELECT id FROM counters WHERE id >= ? AND id < ? OR id = ? ORDER BY id FOR UPDATE', ...range)
  await transaction.run('DELETE FROM counters WHERE id >= ? AND id < ? OR id = ?', ...range)
}
