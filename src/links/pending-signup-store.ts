import type { Queries } from '../storage/database.ts'

/** A signup that waits until its link is followed. */
export interface PendingSignup {
  /** UUID of version 7 */
  id: string
  linkId: string
  email: string
  emailLower: string
  /** Undefined: made from the email. */
  username: string | undefined
  passwordHash: string
  createdAtMs: number
}

interface PendingSignupRow {
  id: string
  link_id: string
  email: string
  email_lower: string
  username: string | null
  password_hash: string
  created_at: number
}

export const insertPendingSignup = (db: Queries, signup: PendingSignup): Promise<number> =>
  db.run(
    `INSERT INTO pending_signups (id, link_id, email, email_lower, username, password_hash, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    signup.id,
    signup.linkId,
    signup.email,
    signup.emailLower,
    signup.username ?? null,
    signup.passwordHash,
    signup.createdAtMs,
  )

export const findPendingSignup = async (db: Queries, linkId: string): Promise<PendingSignup | undefined> => {
  const row = await db.get<PendingSignupRow>(
    `SELECT id, link_id, email, email_lower, username, password_hash, created_at FROM pending_signups
     WHERE link_id = ?`,
    linkId,
  )
  if (!row) return undefined
  return {
    id: row.id,
    linkId: row.link_id,
    email: row.email,
    emailLower: row.email_lower,
    username: row.username ?? undefined,
    passwordHash: row.password_hash,
    createdAtMs: row.created_at,
  }
}

/** The address has an account by now: every signup with it is over. */
export const deletePendingSignups = (db: Queries, emailLower: string): Promise<number> =>
  db.run('DELETE FROM pending_signups WHERE email_lower = ?', emailLower)

/** Cleanup: deletes at most `limit` signups whose link is over; resolves to how many. */
export const deleteDeadPendingSignups = (db: Queries, nowMs: number, limit: number): Promise<number> =>
  db.run(
    `DELETE FROM pending_signups WHERE id IN (
       SELECT pending_signups.id FROM pending_signups JOIN links ON links.id = pending_signups.link_id
       WHERE links.ended_at IS NOT NULL OR links.expires_at <= ? LIMIT ?)`,
    nowMs,
    limit,
  )
