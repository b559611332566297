import type { Queries } from '../../storage/database.ts'
import type { Change } from '../user-store.ts'

/**
 * `null` takes the password away. An invited account is no longer one that nobody has entered. Only whether there is a
 * password is shown: one in place of another is no update.
 */
export const updatePasswordHash = (db: Queries, { id, hash, nowMs }: Change<{ hash: string | null }>) => {
  const updatedAt =
    hash === null
      ? 'CASE WHEN password_hash IS NULL THEN updated_at ELSE ? END'
      : 'CASE WHEN password_hash IS NULL THEN ? ELSE updated_at END'
  const sql = `UPDATE users SET password_hash = ?, invited_at = NULL, updated_at = ${updatedAt} WHERE id = ?`
  return db.run(sql, hash, nowMs, id)
}

/** Changes nothing when the hash is no longer the one that was checked. */
export const replacePasswordHash = (db: Queries, id: string, checked: string, hash: string): Promise<number> =>
  db.run('UPDATE users SET password_hash = ? WHERE id = ? AND password_hash = ?', hash, id, checked)

/** Changes nothing where there is a password already. */
export const insertPasswordHash = (db: Queries, { id, hash, nowMs }: Change<{ hash: string }>): Promise<number> => {
  const sql = 'UPDATE users SET password_hash = ?, updated_at = ? WHERE id = ? AND password_hash IS NULL'
  return db.run(sql, hash, nowMs, id)
}

/** The users with a password that follow an id, in order of id. */
export const findPasswordHashes = (
  db: Pick<Queries, 'all'>,
  after: string,
  limit: number,
): Promise<{ id: string; hash: string }[]> =>
  db.all(
    'SELECT id, password_hash AS hash FROM users WHERE id > ? AND password_hash IS NOT NULL ORDER BY id LIMIT ?',
    after,
    limit,
  )
