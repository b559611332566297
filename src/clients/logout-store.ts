import type { Queries } from '../storage/database.ts'

/** A logout token that a client has not accepted yet. Times are in milliseconds since 1970. */
export interface LogoutToken {
  /** It is the claim `jti`, the same in each attempt. */
  id: string
  clientId: string
  uri: string
  userId: string
  grantId: string
  createdAtMs: number
  attempts: number
  nextAttemptAtMs: number
}

export const findDueLogoutTokens = (db: Pick<Queries, 'all'>, nowMs: number, limit: number): Promise<LogoutToken[]> =>
  db.all(
    `SELECT id, client_id AS "clientId", uri, user_id AS "userId", grant_id AS "grantId", created_at AS "createdAtMs",
       attempts, next_attempt_at AS "nextAttemptAtMs"
     FROM logout_tokens WHERE next_attempt_at <= ? ORDER BY next_attempt_at, id LIMIT ?`,
    nowMs,
    limit,
  )

/** Reserves a token for one attempt that ends by a time; it resolves to 0 if another process has reserved it. */
export const claimLogoutToken = (
  db: Pick<Queries, 'run'>,
  { id, attempts, nextAttemptAtMs }: LogoutToken,
  untilMs: number,
): Promise<number> =>
  db.run(
    `UPDATE logout_tokens SET attempts = attempts + 1, next_attempt_at = ?
     WHERE id = ? AND attempts = ? AND next_attempt_at = ?`,
    untilMs,
    id,
    attempts,
    nextAttemptAtMs,
  )

export const postponeLogoutToken = (db: Pick<Queries, 'run'>, id: string, untilMs: number): Promise<number> =>
  db.run('UPDATE logout_tokens SET next_attempt_at = ? WHERE id = ?', untilMs, id)

export const deleteLogoutToken = (db: Pick<Queries, 'run'>, id: string): Promise<number> =>
  db.run('DELETE FROM logout_tokens WHERE id = ?', id)

export const deleteLogoutTokensBefore = (
  db: Pick<Queries, 'run'>,
  createdBeforeMs: number,
  limit: number,
): Promise<number> =>
  db.run(
    'DELETE FROM logout_tokens WHERE id IN (SELECT id FROM logout_tokens WHERE created_at <= ? LIMIT ?)',
    createdBeforeMs,
    limit,
  )
