import type { Queries } from '../storage/database.ts'

/** Ends the sign-ins of a user that have proved a password or a provider, and wait for a second factor. */
export const endPendingSignIns = (db: Queries, userId: string): Promise<number> =>
  db.run('UPDATE users SET sign_in_generation = sign_in_generation + 1 WHERE id = ?', userId)

/** How often that was done; the user, if there is one, stays as they are until the transaction ends. */
export const lockSignInGeneration = async (db: Queries, userId: string): Promise<number | undefined> => {
  const row = await db.get<{ sign_in_generation: number }>(
    'SELECT sign_in_generation FROM users WHERE id = ? FOR SHARE',
    userId,
  )
  return row?.sign_in_generation
}
