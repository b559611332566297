import type { Database, Queries, TableRow, Value } from '../storage/database.ts'
import { toRecord, toSearchedForm, USER_ROW_COLUMNS, type UserRecord, type UserRow } from './user-store.ts'

/** Which users to list. What is undefined does not count; all that is given must hold. */
export interface UserQuery {
  /** There are at most 100. Those that no user has are left out. */
  ids?: readonly string[] | undefined
  emailLower?: string | undefined
  username?: string | undefined
  role?: string | undefined
  disabled?: boolean | undefined
  /** The text stands in the email, the username or the name, in any case. */
  search?: string | undefined
  /** Changed, or created, at this time or later, in milliseconds since 1970. */
  updatedSinceMs?: number | undefined
  createdSinceMs?: number | undefined
  /** `true`: nobody has proved that the email is theirs. */
  unverified?: true | undefined
  /** `true`: the user has never had a session here. */
  neverSignedIn?: true | undefined
}

/** Part of a `WHERE`. */
export type Condition = [sql: string, ...values: Value[]]

/** Lists have few lengths, so that few statements are prepared; the last value is repeated. */
const LENGTHS = [1, 10, 100] as const

/** How many values a list may have. */
export const MAX_LIST = 100

/** A condition for one to `MAX_LIST` values. */
export const inList = (column: string, values: readonly string[]): Condition => {
  const length = LENGTHS.find((each) => each >= values.length) ?? values.length
  const padded = Array.from({ length }, (_, index) => values[index] ?? values.at(-1) ?? '')
  return [`${column} IN (${padded.map(() => '?').join(', ')})`, ...padded]
}

/** No character of the text is a wildcard. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

const searchFor = (text: string): Condition => {
  const pattern = containing(toSearchedForm(text))
  const columns = ['email_lower', 'username', 'name_lower']
  const conditions = columns.map((column) => String.raw`${column} LIKE ? ESCAPE '\'`)
  return [`(${conditions.join(' OR ')})`, ...columns.map(() => pattern)]
}

/** How times are compared. A `+` keeps both databases from using their indexes. */
interface TimeColumns {
  updatedAt: string
  createdAt: string
}

const WITH_INDEX: TimeColumns = { updatedAt: 'updated_at', createdAt: 'created_at' }
const WITHOUT_INDEX: TimeColumns = { updatedAt: '+updated_at', createdAt: '+created_at' }

/** The conditions for all that a query gives. Those without a value have an index of the users who meet them. */
export const userConditions = (query: UserQuery, { updatedAt, createdAt } = WITHOUT_INDEX): Condition[] => {
  const { ids, emailLower, username, role, disabled, search, updatedSinceMs, createdSinceMs } = query
  const conditions: (Condition | undefined)[] = [
    ids && inList('id', ids),
    emailLower === undefined ? undefined : ['email_lower = ?', emailLower],
    username === undefined ? undefined : ['username = ?', username],
    // The column is JSON, and no role contains a quote.
    role === undefined
      ? undefined
      : [String.raw`roles <> '[]' AND roles LIKE ? ESCAPE '\'`, containing(JSON.stringify(role))],
    disabled === undefined ? undefined : [disabled ? 'disabled = 1' : 'disabled = 0'],
    query.unverified && ['email_verified_at IS NULL'],
    query.neverSignedIn && ['first_session_at IS NULL'],
    search === undefined ? undefined : searchFor(search),
    updatedSinceMs === undefined ? undefined : [`${updatedAt} >= ?`, updatedSinceMs],
    createdSinceMs === undefined ? undefined : [`${createdAt} >= ?`, createdSinceMs],
  ]
  return conditions.filter((condition) => condition !== undefined)
}

export const joined = (conditions: Condition[]): Condition => [
  conditions.map(([sql]) => sql).join(' AND '),
  ...conditions.flatMap(([, ...values]) => values),
]

export type UserFilter = Pick<UserQuery, 'search' | 'role' | 'disabled'>

/** A page of users in order of id. */
export interface UserPage extends UserFilter {
  /** The id of the last user of the page before; empty for the first page. */
  after: string
  limit: number
}

/** Users in order of creation (their ids are UUIDs of version 7), after the given id. */
export const findUsers = async (
  db: Pick<Queries, 'all'>,
  { after, limit, ...query }: UserPage,
): Promise<UserRecord[]> => {
  const [where, ...values] = joined([['id > ?', after], ...userConditions(query)])
  const sql = `SELECT ${USER_ROW_COLUMNS} FROM users WHERE ${where} ORDER BY id LIMIT ?`
  return (await db.all<UserRow>(sql, ...values, limit)).map(toRecord)
}

export const countUsers = async (db: Pick<Queries, 'get'>): Promise<number> =>
  (await db.get<{ count: number }>('SELECT COUNT(*) AS count FROM users'))?.count ?? 0

/** The users with a password that follow an id, in order of id. */
export const findPasswordHashes = (
  db: Queries,
  after: string,
  limit: number,
): Promise<{ id: string; hash: string }[]> =>
  db.all(
    'SELECT id, password_hash AS hash FROM users WHERE id > ? AND password_hash IS NOT NULL ORDER BY id LIMIT ?',
    after,
    limit,
  )

/** A user's place in the list. */
export interface UserPlace {
  id: string
  position: number
}

interface Range {
  /** Positions above this one. */
  after: number
  /** And up to this one. */
  upTo: number
  limit: number
  newestFirst?: boolean
  /** `true`: the query leaves few users, whom another index finds. */
  isSelective: boolean
}

/** Places of users in order of position. A `+` before a column keeps both databases from using the wrong index. */
export const findPlaces = (db: Queries, query: UserQuery, range: Range): Promise<UserPlace[]> => {
  const [position, columns] = range.isSelective ? ['+position', WITH_INDEX] : ['position', WITHOUT_INDEX]
  const inRange: Condition = [`${position} > ? AND ${position} <= ?`, range.after, range.upTo]
  const [where, ...values] = joined([inRange, ...userConditions(query, columns)])
  const order = range.newestFirst ? `${position} DESC` : position
  const sql = `SELECT id, position FROM users WHERE ${where} ORDER BY ${order} LIMIT ?`
  return db.all<UserPlace>(sql, ...values, range.limit)
}

/** The users of a query that names them, in order of position; those who have none yet come last, as they will. */
export const findNamedUsers = async (db: Queries, query: UserQuery, limit: number): Promise<string[]> => {
  const [where, ...values] = joined(userConditions(query))
  const order = 'CASE WHEN position IS NULL THEN 1 ELSE 0 END, +position, created_at, id'
  const sql = `SELECT id FROM users WHERE ${where} ORDER BY ${order} LIMIT ?`
  return (await db.all<{ id: string }>(sql, ...values, limit)).map(({ id }) => id)
}

/** How many users were updated, or created, since a time, counted up to a limit. */
export const countSince = async (
  db: Queries,
  column: keyof Pick<TableRow<'users'>, 'updated_at' | 'created_at'>,
  sinceMs: number,
  limit: number,
): Promise<number> => {
  const sql = `SELECT COUNT(*) AS count FROM (SELECT 1 AS one FROM users WHERE ${column} >= ? LIMIT ?) AS found`
  return (await db.get<{ count: number }>(sql, sinceMs, limit))?.count ?? 0
}

/** The row of `installation` that counts the positions. It locks them too: they are given by one transaction at a time. */
const COUNTER = 'last user position'

/** The last position that was given, to a user who may be deleted by now; 0 before the first. */
export const findLastPosition = async (db: Queries): Promise<number> => {
  const row = await db.get<{ value: string }>('SELECT value FROM installation WHERE name = ?', COUNTER)
  return Number(row?.value ?? 0)
}

/** Tells whether there are more users, with a position or without. */
export const hasMoreUsersThan = async (db: Queries, count: number): Promise<boolean> =>
  (await db.get('SELECT id FROM users ORDER BY id LIMIT 1 OFFSET ?', count)) !== undefined

/** The position of a user, or of the one with the next smaller id; 0 without either. */
export const findPositionOf = async (db: Queries, id: string): Promise<number> => {
  const sql = 'SELECT position FROM users WHERE id <= ? AND position IS NOT NULL ORDER BY id DESC LIMIT 1'
  return (await db.get<{ position: number }>(sql, id))?.position ?? 0
}

const isAnyoneWithout = async (db: Queries): Promise<boolean> =>
  (await db.get('SELECT id FROM users WHERE position IS NULL LIMIT 1')) !== undefined

/**
 * Gives positions to users who have none, at most `limit` of them, in order of creation; resolves to the last position
 * that was given, now or before. A user who is inserted by a transaction that commits later has a greater one than all
 * that anybody has read. That is why the insert gives none.
 */
export const assignPositions = async (db: Database, limit: number): Promise<number> => {
  if (!(await isAnyoneWithout(db))) return findLastPosition(db)
  return db.inTransaction(async (transaction) => {
    await transaction.run(`INSERT INTO installation (name, value) VALUES (?, '0') ON CONFLICT DO NOTHING`, COUNTER)
    await transaction.get('SELECT value FROM installation WHERE name = ? FOR UPDATE', COUNTER)
    const last = await findLastPosition(transaction)
    const given = await transaction.all<{ position: number }>(
      `UPDATE users SET position = ? + numbered.number
       FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY created_at, id) AS number
             FROM (SELECT id, created_at FROM users WHERE position IS NULL ORDER BY created_at, id LIMIT ?) AS first_ones
            ) AS numbered
       WHERE users.id = numbered.id RETURNING users.position`,
      last,
      limit,
    )
    const newLast = given.reduce((greatest, { position }) => Math.max(greatest, position), last)
    await transaction.run('UPDATE installation SET value = ? WHERE name = ?', String(newLast), COUNTER)
    return newLast
  })
}
