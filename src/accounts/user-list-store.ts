import type { Queries, Value } from '../storage/database.ts'
import { USER_ROW_COLUMNS, type User, type UserRow, toRecord } from './user-store.ts'

/** Which users to list; what is undefined does not count. */
export interface UserFilter {
  /** In the email or the username, in any case. */
  search?: string | undefined
  role?: string | undefined
  /** Disabled users alone. */
  disabled?: boolean | undefined
}

export interface UserPage extends UserFilter {
  /** The id of the last user of the page before; empty for the first page. */
  after: string
  limit: number
}

/** So that no character of the text is a wildcard. */
const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

const conditionsOf = ({ search, role, disabled }: UserFilter): [sql: string, ...values: Value[]][] => {
  const conditions: [sql: string, ...values: Value[]][] = []
  if (search !== undefined) {
    const pattern = containing(search.toLowerCase())
    conditions.push(["(email_lower LIKE ? ESCAPE '\\' OR username LIKE ? ESCAPE '\\')", pattern, pattern])
  }
  // The column is JSON, and no role contains a quote.
  if (role !== undefined) conditions.push(["roles LIKE ? ESCAPE '\\'", containing(JSON.stringify(role))])
  if (disabled) conditions.push(['disabled = 1'])
  return conditions
}

/** Users in order of creation (their ids are UUIDs of version 7), after the given id. */
export const findUsers = async (db: Queries, { after, limit, ...filter }: UserPage): Promise<User[]> => {
  const conditions: [sql: string, ...values: Value[]][] = [['id > ?', after], ...conditionsOf(filter)]
  const where = conditions.map(([sql]) => sql).join(' AND ')
  const values = conditions.flatMap(([, ...each]) => each)
  const rows = await db.all<UserRow>(
    `SELECT ${USER_ROW_COLUMNS} FROM users WHERE ${where} ORDER BY id LIMIT ?`,
    ...values,
    limit,
  )
  return rows.map(toRecord)
}
