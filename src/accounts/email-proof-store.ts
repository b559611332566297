import type { Queries } from '../storage/database.ts'
import type { UserRecord } from './user-store.ts'

/**
 * Makes an account that of the owner of its email: the password is theirs or none, and roles that were given to a
 * self-made account go. 0 when the email was verified before, or the account has another email, or is disabled.
 */
export const takeOverUser = (db: Queries, { id, emailLower, passwordHash, nowMs }: TakenOverUser): Promise<number> =>
  db.run(
    `UPDATE users SET password_hash = ?, roles = CASE self_made WHEN 1 THEN '[]' ELSE roles END,
       email_verified_at = ?, invited_at = NULL, updated_at = ?
     WHERE id = ? AND email_lower = ? AND email_verified_at IS NULL AND disabled = 0`,
    passwordHash ?? null,
    nowMs,
    nowMs,
    id,
    emailLower,
  )

interface TakenOverUser extends Pick<UserRecord, 'id' | 'emailLower'> {
  passwordHash: string | undefined
  nowMs: number
}

/** The first verification counts. */
export const markEmailVerified = (db: Queries, id: string, nowMs: number): Promise<number> => {
  const sql = 'UPDATE users SET email_verified_at = ?, updated_at = ? WHERE id = ? AND email_verified_at IS NULL'
  return db.run(sql, nowMs, nowMs, id)
}
