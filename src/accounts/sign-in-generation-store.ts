import type { Queries } from '../storage/database.ts'

/** Ends the sign-ins of a user that have proved a password or a provider, and wait for a second factor. */
export const endPendingSignIns = (db: Queries, userId: string): Promise<number> =>
  db.run('UPDATE users SET sign_in_generation = sign_in_generation + 1 WHERE id = ?', userId)

/** The same for the `limit` users who follow `after` in order of id; resolves to the last of them, undefined for none. */
export const endPendingSignInsAfter = async (
  db: Queries,
  { after, limit }: { after: string; limit: number },
): Promise<string | undefined> => {
  const users = await db.all<{ id: string }>('SELECT id FROM users WHERE id > ? ORDER BY id LIMIT ?', after, limit)
  const last = users.at(-1)?.id
  const sql = 'UPDATE users SET sign_in_generation = sign_in_generation + 1 WHERE id > ? AND id <= ?'
  if (last !== undefined) await db.run(sql, after, last)
  return last
}

/** How often that was done; the user, if there is one, stays as they are until the transaction ends. */
export const lockSignInGeneration = async (db: Queries, userId: string): Promise<number | undefined> => {
  const row = await db.get<{ sign_in_generation: number }>(
    'SELECT sign_in_generation FROM users WHERE id = ? FOR SHARE',
    userId,
  )
  return row?.sign_in_generation
}
