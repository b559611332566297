import type { Database, Queries } from '../../storage/database.ts'

/** The row of `installation` that counts the positions. It locks them too: they are given by one transaction at a time. */
const COUNTER = 'last user position'

/** The last position that was given, to a user who may be deleted by now; 0 before the first. */
export const findLastPosition = async (db: Queries): Promise<number> => {
  const row = await db.get<{ value: string }>('SELECT value FROM installation WHERE name = ?', COUNTER)
  return Number(row?.value ?? 0)
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
