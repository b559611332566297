import { columnsOf, insertRow, type Queries, type TableRow } from '../storage/database.ts'

/** The signup waits until its link is followed. */
export interface PendingSignup {
  /** It is a UUID of version 7. */
  id: string
  linkId: string
  email: string
  emailLower: string
  /** If it is undefined, it is made from the email. */
  username: string | undefined
  name: string | null
  /** That of the page of the signup. */
  language: string | null
  passwordHash: string
  createdAtMs: number
}

export const insertPendingSignup = (db: Queries, signup: PendingSignup): Promise<number> =>
  insertRow(db, 'pending_signups', {
    id: signup.id,
    link_id: signup.linkId,
    email: signup.email,
    email_lower: signup.emailLower,
    username: signup.username ?? null,
    name: signup.name,
    language: signup.language,
    password_hash: signup.passwordHash,
    created_at: signup.createdAtMs,
  })

export const findPendingSignup = async (db: Queries, linkId: string): Promise<PendingSignup | undefined> => {
  const row = await db.get<TableRow<'pending_signups'>>(
    `SELECT ${columnsOf('pending_signups')} FROM pending_signups WHERE link_id = ?`,
    linkId,
  )
  if (!row) return undefined
  return {
    id: row.id,
    linkId: row.link_id,
    email: row.email,
    emailLower: row.email_lower,
    username: row.username ?? undefined,
    name: row.name,
    language: row.language,
    passwordHash: row.password_hash,
    createdAtMs: row.created_at,
  }
}

/** The address has an account by now: every signup with it is over. */
export const deletePendingSignups = (db: Queries, emailLower: string): Promise<number> =>
  db.run('DELETE FROM pending_signups WHERE email_lower = ?', emailLower)

/** Deletes at most `limit` signups whose link is over, for cleanup; it resolves to how many. */
export const deleteDeadPendingSignups = (db: Queries, nowMs: number, limit: number): Promise<number> =>
  db.run(
    `DELETE FROM pending_signups WHERE id IN (
       SELECT pending_signups.id FROM pending_signups JOIN links ON links.id = pending_signups.link_id
       WHERE links.ended_at IS NOT NULL OR links.expires_at <= ? LIMIT ?)`,
    nowMs,
    limit,
  )
