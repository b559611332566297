import type { Queries } from './database.ts'

interface UsedToken {
  id: string
  /** The token is refused for its age from then on. */
  expiresAtMs: number
}

/**
 * Marks a token as used; resolves to false when it was used before. The transaction that uses it lives on either way.
 */
export const spendToken = async (db: Pick<Queries, 'run'>, { id, expiresAtMs }: UsedToken): Promise<boolean> => {
  const inserted = await db.run(
    'INSERT INTO used_tokens (id, expires_at) VALUES (?, ?) ON CONFLICT (id) DO NOTHING',
    id,
    expiresAtMs,
  )
  return inserted > 0
}

export const isSpent = async (db: Pick<Queries, 'get'>, id: string): Promise<boolean> =>
  (await db.get('SELECT id FROM used_tokens WHERE id = ?', id)) !== undefined

/** A replica whose clock is behind accepts a token for that much longer: its mark must outlast it there, too. */
const KEPT_MS = 60 * 60_000

/**
 * Deletes the marks of tokens that expired an hour ago, for cleanup; resolves to how many. `nowMs` counts if there is
 * no server: a replica whose clock is ahead must not let the others accept a token twice.
 */
export const deleteExpiredTokens = (db: Pick<Queries, 'run'>, nowMs: number): Promise<number> =>
  db.run('DELETE FROM used_tokens WHERE expires_at <= COALESCE(server_time(), ?) - ?', nowMs, KEPT_MS)
