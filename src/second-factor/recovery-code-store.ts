import { insertRow, type Queries } from '../storage/database.ts'

interface StoredCode {
  userId: string
  place: string
  hash: string
}

const idOf = (userId: string, place: string): string => `${userId}/${place}`

/** The hash of the code at a place; undefined where it was used, or made at `madeBeforeMs` or later. */
export const findRecoveryHash = async (
  db: Queries,
  { userId, place }: Pick<StoredCode, 'userId' | 'place'>,
  madeBeforeMs: number,
): Promise<string | undefined> => {
  const row = await db.get<{ hash: string }>(
    'SELECT hash FROM recovery_codes WHERE id = ? AND created_at < ?',
    idOf(userId, place),
    madeBeforeMs,
  )
  return row?.hash
}

export const insertRecoveryCode = (db: Queries, { userId, place, hash }: StoredCode, nowMs: number) =>
  insertRow(db, 'recovery_codes', { id: idOf(userId, place), user_id: userId, hash, created_at: nowMs })

/** Uses a code up; 0 where another request was first, or there are new codes. */
export const useRecoveryCode = (db: Queries, { userId, place, hash }: StoredCode): Promise<number> =>
  db.run('DELETE FROM recovery_codes WHERE id = ? AND hash = ?', idOf(userId, place), hash)

export const countRecoveryCodes = async (db: Queries, userId: string): Promise<number> => {
  const row = await db.get<{ count: number }>('SELECT COUNT(*) AS count FROM recovery_codes WHERE user_id = ?', userId)
  return row?.count ?? 0
}

/** When the newest of them was made; undefined where there are none. */
export const findNewestRecoveryCode = async (db: Queries, userId: string): Promise<number | undefined> => {
  const sql = 'SELECT MAX(created_at) AS newest FROM recovery_codes WHERE user_id = ?'
  return (await db.get<{ newest: number | null }>(sql, userId))?.newest ?? undefined
}

export const deleteRecoveryCodes = (db: Queries, userId: string, sinceMs = 0): Promise<number> =>
  db.run('DELETE FROM recovery_codes WHERE user_id = ? AND created_at >= ?', userId, sinceMs)
