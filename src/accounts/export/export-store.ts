import type { Queries } from '../../storage/database.ts'
import { toRecord, USER_ROW_COLUMNS, type UserRecord, type UserRow } from '../user-store.ts'

type Reads = Pick<Queries, 'all' | 'get'>

/** Users after an id, in the order of ids. */
export const findUsersAfter = async (db: Reads, id: string, limit: number): Promise<UserRecord[]> => {
  const rows = await db.all<UserRow>(
    `SELECT ${USER_ROW_COLUMNS} FROM users WHERE id > ? ORDER BY id LIMIT ?`,
    id,
    limit,
  )
  return rows.map(toRecord)
}

export const countUsers = async (db: Reads): Promise<number> =>
  (await db.get<{ count: number }>('SELECT COUNT(*) AS count FROM users'))?.count ?? 0
