import type { Database, Queries, Value } from '../storage/database.ts'
import {
  containing,
  type Condition,
  userConditions,
  joined,
  type UserPlace,
  type UserQuery,
} from './user-list-store.ts'
import { toSearchedForm } from './user-store.ts'

// Both databases have an index of three letters in a row: SQLite the table `user_search`, filled in the background, and
// PostgreSQL an index of `pg_trgm` where an operator has made that extension. What an index finds is compared with the
// text again, so that a list is the same with it and without it.

/** An index knows nothing of shorter texts. */
const LETTERS = 3

/** So many parts of a text leave few rows; each more of them takes time, since some parts are in every row. */
const MAX_GRAMS = 6

const lettersOf = (text: string): string[] => [...text]

/** The texts of a query that an index finds: what is searched, and a role as it stands in its column. */
const textsOf = ({ search, role }: UserQuery): string[] =>
  [search === undefined ? '' : toSearchedForm(search), role === undefined ? '' : JSON.stringify(role)].filter(
    (text) => lettersOf(text).length >= LETTERS,
  )

/** Tells whether an index can find the users of a query. */
export const isIndexed = (query: UserQuery): boolean => textsOf(query).length > 0

/** Writes a query of FTS5 for rows with all three letters in a row of the texts: in quotes, all characters are text. */
const toMatch = (texts: readonly string[]): string => {
  const grams = texts.flatMap((text) => {
    const letters = lettersOf(text)
    return letters.slice(LETTERS - 1).map((_, index) => letters.slice(index, index + LETTERS).join(''))
  })
  const all = [...new Set(grams)]
  const step = Math.max(1, all.length / MAX_GRAMS)
  return all
    .filter((_, index) => index % step < 1)
    .map((gram) => `"${gram.replaceAll('"', '""')}"`)
    .join(' ')
}

/** Positions above `after`, up to `upTo`. */
export interface SearchedRange {
  after: number
  upTo: number
  limit: number
  newestFirst: boolean
}

/** SQLite; FTS5 takes a bound that is no whole number for none, and Node hands over none but such numbers. */
export const findPlacesInSqlite = (db: Queries, query: UserQuery, range: SearchedRange): Promise<UserPlace[]> => {
  const { after, upTo, limit, newestFirst } = range
  const [where, ...values] = joined([
    ['user_search MATCH ?', toMatch(textsOf(query))],
    ['user_search.rowid > CAST(? AS BIGINT) AND user_search.rowid <= CAST(? AS BIGINT)', after, upTo],
    ...userConditions(query),
  ])
  const sql = `SELECT id, position FROM user_search CROSS JOIN users ON users.position = user_search.rowid
    WHERE ${where} ORDER BY user_search.rowid ${newestFirst ? 'DESC' : 'ASC'} LIMIT ?`
  return db.all<UserPlace>(sql, ...values, limit)
}

/**
 * `pg_trgm` knows letters and digits alone, so the marks of addresses and usernames are letters there: `com@exa` has parts
 * that few rows have. What is found by a letter in place of a mark is not what was searched, and is left out as such.
 */
const [MARKS, LETTERS_OF_MARKS] = ['@.-_+', 'qxzjw']

const withoutMarks = (text: string): string =>
  text.replaceAll(/[@._+-]/g, (mark) => LETTERS_OF_MARKS[MARKS.indexOf(mark)] ?? mark)

/** All that is searched in a user, as one text. An index is used by this expression alone. */
const TEXT = `translate(email_lower || chr(10) || username || chr(10) || COALESCE(name_lower, '') || chr(10) || roles,
  '${MARKS}', '${LETTERS_OF_MARKS}')`

const INDEX = 'users_by_text'

/** These are for PostgreSQL; the second runs for minutes, beside everything else, and not in a transaction. */
export const hasTrigrams = async (db: Queries): Promise<boolean> =>
  (await db.get(`SELECT 1 AS one FROM pg_extension WHERE extname = 'pg_trgm'`)) !== undefined

/** A `false` index is what a command that was interrupted has left. */
export const findTextIndex = async (db: Queries): Promise<boolean | undefined> =>
  (
    await db.get<{ valid: boolean }>(
      `SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass('${INDEX}')`,
    )
  )?.valid

export const dropTextIndex = (db: Queries): Promise<number> => db.run(`DROP INDEX CONCURRENTLY IF EXISTS ${INDEX}`)

/**
 * Users without a position are not in it: a signup adds nothing, and a list adds many users at once. A search also reads
 * those who wait to be added, of whom there are fewer than by default.
 */
export const createTextIndex = async (db: Queries): Promise<void> => {
  await db.run(`CREATE INDEX CONCURRENTLY ${INDEX} ON users USING gin (${TEXT} gin_trgm_ops)
    WITH (gin_pending_list_limit = 1024) WHERE position IS NOT NULL`)
  await db.run('ANALYZE users')
}

/** This is the SQLSTATE of a statement that took too long. */
const CANCELED = '57014'

const tookTooLong = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof Error && Reflect.get(error.cause, 'code') === CANCELED

/** PostgreSQL; resolves to undefined when it takes longer than `timeoutMs`. A `+` keeps it from using other indexes. */
export const findPlacesInPostgres = async (
  db: Database,
  query: UserQuery,
  { after, upTo, limit, newestFirst, timeoutMs }: SearchedRange & { timeoutMs: number },
): Promise<UserPlace[] | undefined> => {
  const [where, ...values] = joined([
    ...textsOf(query).map((text): Condition => [`${TEXT} LIKE ?`, containing(withoutMarks(text))]),
    ['+position > ? AND +position <= ?', after, upTo],
    ...userConditions(query, { updatedAt: '+updated_at', createdAt: '+created_at' }),
  ])
  const order = newestFirst ? '+position DESC' : '+position'
  const sql = `SELECT id, position FROM users WHERE ${where} ORDER BY ${order} LIMIT ?`
  return db
    .inTransaction(async (transaction) => {
      await transaction.get(`SELECT set_config('statement_timeout', ?, true)`, String(Math.ceil(timeoutMs)))
      return transaction.all<UserPlace>(sql, ...values, limit)
    })
    .catch((error: unknown) => {
      if (tookTooLong(error)) return undefined
      throw error
    })
}

/** SQLite: users up to the position in this row of `installation` are in the index. Two triggers read it too. */
const INDEXED = 'users indexed'

/** Resolves to undefined while nobody has asked for an index. */
export const findIndexedUpTo = async (db: Queries): Promise<number | undefined> => {
  const row = await db.get<{ value: string }>('SELECT value FROM installation WHERE name = ?', INDEXED)
  return row && Number(row.value)
}

/** Asks for an index, which `indexUsers` fills. */
export const beginIndex = (db: Queries): Promise<number> =>
  db.run(`INSERT INTO installation (name, value) VALUES (?, '0') ON CONFLICT DO NOTHING`, INDEXED)

/** Empties the index, whatever state it is in. */
export const resetIndex = (db: Database): Promise<void> =>
  db.inTransaction(async (transaction) => {
    await transaction.run(`INSERT INTO user_search (user_search) VALUES ('delete-all')`)
    await transaction.run(`UPDATE installation SET value = '0' WHERE name = ?`, INDEXED)
  })

/** Adds the next users to the index; resolves to the position up to which it goes. */
export const indexUsers = (db: Database, limit: number): Promise<number> =>
  db.inTransaction(async (transaction) => {
    const after = (await findIndexedUpTo(transaction)) ?? 0
    const row = await transaction.get<{ last: number | null }>(
      `SELECT MAX(position) AS last FROM
         (SELECT position FROM users WHERE position > ? ORDER BY position LIMIT ?) AS next_ones`,
      after,
      limit,
    )
    const last = row?.last ?? after
    if (last === after) return after
    await transaction.run(
      `INSERT INTO user_search (rowid, of_email, of_username, of_name, of_roles)
       SELECT position, email_lower, username, name_lower, roles FROM users WHERE position > ? AND position <= ?`,
      after,
      last,
    )
    await transaction.run('UPDATE installation SET value = ? WHERE name = ?', String(last), INDEXED)
    return last
  })

const countChanges = async (db: Queries): Promise<number> =>
  (await db.get<{ changes: number }>('SELECT total_changes() AS changes'))?.changes ?? 0

/** Merges about this many pages of the index; resolves to whether there is more to merge (FTS5, "merge"). */
export const mergeIndex = (db: Database, pages: number): Promise<boolean> =>
  db.inTransaction(async (transaction) => {
    const before = await countChanges(transaction)
    const sql = `INSERT INTO user_search (user_search, rank) VALUES ('merge', CAST(? AS BIGINT))`
    await transaction.run(sql, pages satisfies Value)
    return (await countChanges(transaction)) - before > 1
  })
