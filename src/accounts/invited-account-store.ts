import type { Queries } from '../storage/database.ts'

interface EnteredAccount {
  id: string
  /** The address that was proved, in the form that is compared. */
  emailLower: string
  /** Undefined: the account stays without a password. */
  passwordHash: string | undefined
  nowMs: number
}

/**
 * Gives an invited account to its user, who has proved the address. 0 when it was entered before, has another email by
 * now, or is disabled.
 */
export const enterInvitedUser = (
  db: Queries,
  { id, emailLower, passwordHash, nowMs }: EnteredAccount,
): Promise<number> =>
  db.run(
    `UPDATE users SET invited_at = NULL, password_hash = ?, email_verified_at = COALESCE(email_verified_at, ?),
       updated_at = ?
     WHERE id = ? AND email_lower = ? AND invited_at IS NOT NULL AND disabled = 0`,
    passwordHash ?? null,
    nowMs,
    nowMs,
    id,
    emailLower,
  )

/**
 * Makes a self-made account, whose email nobody has proved, one that was invited: without its password, and with roles
 * that will stay. 0 for any other account.
 */
export const makeUserInvited = (
  db: Queries,
  { id, roles, nowMs }: { id: string; roles: string[]; nowMs: number },
): Promise<number> =>
  db.run(
    `UPDATE users SET password_hash = NULL, roles = ?, self_made = 0, invited_at = ?, updated_at = ?
     WHERE id = ? AND self_made = 1 AND email_verified_at IS NULL AND disabled = 0`,
    JSON.stringify(roles),
    nowMs,
    nowMs,
    id,
  )
