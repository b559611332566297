import type { Queries } from '../../storage/database.ts'
import { type Condition, inList } from './in-list.ts'
import type { UserQuery } from './user-query.ts'

/** A user's place in the list. */
interface Place {
  id: string
  position: number
}

/** So that no character of the text is a wildcard. */
const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

const searchFor = (text: string): Condition => {
  const pattern = containing(text.toLowerCase())
  return [String.raw`(email_lower LIKE ? ESCAPE '\' OR username LIKE ? ESCAPE '\')`, pattern, pattern]
}

/** The conditions for all that a query gives. */
const conditionsOf = (query: UserQuery, updatedAt: 'updated_at' | '+updated_at'): Condition[] => {
  const { ids, emailLower, username, role, disabled, search, updatedSinceMs } = query
  const conditions: (Condition | undefined)[] = [
    ids && inList('id', ids),
    emailLower === undefined ? undefined : ['email_lower = ?', emailLower],
    username === undefined ? undefined : ['username = ?', username],
    // The column is JSON, and no role contains a quote.
    role === undefined ? undefined : [String.raw`roles LIKE ? ESCAPE '\'`, containing(JSON.stringify(role))],
    disabled === undefined ? undefined : ['disabled = ?', disabled ? 1 : 0],
    search === undefined ? undefined : searchFor(search),
    updatedSinceMs === undefined ? undefined : [`${updatedAt} >= ?`, updatedSinceMs],
  ]
  return conditions.filter((condition) => condition !== undefined)
}

const joined = (conditions: Condition[]): Condition => [
  conditions.map(([sql]) => sql).join(' AND '),
  ...conditions.flatMap(([, ...values]) => values),
]

interface Range {
  /** Positions above this one. */
  after: number
  /** And up to this one. */
  upTo: number
  limit: number
  /** Whether the query itself leaves few users, whom another index finds. */
  isSelective: boolean
}

/** Places of users in order of position. A `+` before a column keeps both databases from using the wrong index. */
export const findPlaces = (db: Queries, query: UserQuery, range: Range): Promise<Place[]> => {
  const [position, updatedAt] = range.isSelective
    ? (['+position', 'updated_at'] as const)
    : (['position', '+updated_at'] as const)
  const inRange: Condition = [`${position} > ? AND ${position} <= ?`, range.after, range.upTo]
  const [where, ...values] = joined([inRange, ...conditionsOf(query, updatedAt)])
  const sql = `SELECT id, position FROM users WHERE ${where} ORDER BY ${position} LIMIT ?`
  return db.all<Place>(sql, ...values, range.limit)
}

/** The users of a query that names them, in order of position; those who have none yet come last, as they will. */
export const findNamedUsers = async (db: Queries, query: UserQuery, limit: number): Promise<string[]> => {
  const [where, ...values] = joined(conditionsOf(query, '+updated_at'))
  const order = 'CASE WHEN position IS NULL THEN 1 ELSE 0 END, +position, created_at, id'
  const sql = `SELECT id FROM users WHERE ${where} ORDER BY ${order} LIMIT ?`
  return (await db.all<{ id: string }>(sql, ...values, limit)).map(({ id }) => id)
}

/** How many users were updated since a time, counted up to a limit. */
export const countUpdatedSince = async (db: Queries, sinceMs: number, limit: number): Promise<number> => {
  const sql = 'SELECT COUNT(*) AS count FROM (SELECT 1 AS one FROM users WHERE updated_at >= ? LIMIT ?) AS updated'
  return (await db.get<{ count: number }>(sql, sinceMs, limit))?.count ?? 0
}
