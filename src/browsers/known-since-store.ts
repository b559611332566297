import type { Queries } from '../storage/database.ts'

/** When an account got to know a browser, in milliseconds since 1970; undefined where it does not know it. */
export const findKnownSince = async (
  db: Pick<Queries, 'get'>,
  userId: string,
  deviceHash: string,
): Promise<number | undefined> => {
  const row = await db.get<{ created_at: number }>(
    'SELECT created_at FROM known_browsers WHERE id = ?',
    `${userId}/${deviceHash}`,
  )
  return row?.created_at
}
