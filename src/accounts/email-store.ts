import type { Email } from '../lib/email-address.ts'
import { type Queries, UniqueViolation } from '../storage/database.ts'

/** A former address of an account, which a link may put back until a time. Until then, nobody else can take it. */
export interface ReservedEmail {
  emailLower: string
  userId: string
  untilMs: number
}

/** An older reservation of the address gives way: it is this user's own, or it has expired. */
export const reserveEmail = (db: Queries, { emailLower, userId, untilMs }: ReservedEmail): Promise<number> =>
  db.run(
    `INSERT INTO reserved_emails (email_lower, user_id, until) VALUES (?, ?, ?)
     ON CONFLICT (email_lower) DO UPDATE SET user_id = excluded.user_id, until = excluded.until`,
    emailLower,
    userId,
    untilMs,
  )

/**
 * Whether an address belongs to an account, or is reserved for another user than this one. Without a user: for any.
 */
export const isEmailTaken = async (db: Queries, emailLower: string, nowMs: number, userId = ''): Promise<boolean> =>
  (await db.get('SELECT id FROM users WHERE email_lower = ?', emailLower)) !== undefined ||
  (await isReservedForOther(db, { emailLower, userId, nowMs }))

/**
 * `UniqueViolation` on `users.email_lower` when the address is reserved for another user. To be called after a user with
 * it was inserted or updated, in the same transaction: only then has the unique index made sure that no transaction is
 * under way in which the other user gives the address up, and reserves it.
 */
export const requireUnreserved = async (
  db: Queries,
  which: { emailLower: string; userId: string; nowMs: number },
): Promise<void> => {
  if (await isReservedForOther(db, which)) throw new UniqueViolation(['users.email_lower'], undefined)
}

const isReservedForOther = async (
  db: Queries,
  { emailLower, userId, nowMs }: { emailLower: string; userId: string; nowMs: number },
): Promise<boolean> => {
  const sql = 'SELECT email_lower FROM reserved_emails WHERE email_lower = ? AND user_id <> ? AND until > ?'
  return (await db.get(sql, emailLower, userId, nowMs)) !== undefined
}

/** The addresses that are reserved for a user, the oldest first. Notices go to them too. */
export const findFormerEmails = async (db: Queries, userId: string, nowMs: number): Promise<string[]> => {
  // One may be the user's own again: by a change, and not by the link that puts it back.
  const rows = await db.all<{ email_lower: string }>(
    `SELECT email_lower FROM reserved_emails WHERE user_id = ? AND until > ?
       AND email_lower NOT IN (SELECT email_lower FROM users WHERE id = reserved_emails.user_id) ORDER BY until`,
    userId,
    nowMs,
  )
  return rows.map((row) => row.email_lower)
}

/** The address that an account had before all changes that can be undone; undefined where there was none. */
export const findEarlierEmail = async (db: Queries, userId: string, nowMs: number): Promise<string | undefined> => {
  const sql = 'SELECT email_lower FROM reserved_emails WHERE user_id = ? AND until > ? ORDER BY until LIMIT 1'
  return (await db.get<{ email_lower: string }>(sql, userId, nowMs))?.email_lower
}

/** Others may take the address from now on. */
export const releaseEmail = (db: Queries, emailLower: string, userId: string): Promise<number> =>
  db.run('DELETE FROM reserved_emails WHERE email_lower = ? AND user_id = ?', emailLower, userId)

/** Cleanup: deletes reservations that have ended; resolves to how many. */
export const deleteEndedReservations = (db: Queries, nowMs: number): Promise<number> =>
  db.run('DELETE FROM reserved_emails WHERE until <= ?', nowMs)

interface NewEmail {
  id: string
  email: Email
  /** Undefined: nobody has proved that the address is the user's. */
  verifiedAtMs: number | undefined
  nowMs: number
}

/** In a transaction; `UniqueViolation` on `users.email_lower`. */
export const updateEmail = async (db: Queries, { id, email, verifiedAtMs, nowMs }: NewEmail): Promise<void> => {
  const sql = 'UPDATE users SET email = ?, email_lower = ?, email_verified_at = ?, updated_at = ? WHERE id = ?'
  await db.run(sql, email.shown, email.lower, verifiedAtMs ?? null, nowMs, id)
  await requireUnreserved(db, { emailLower: email.lower, userId: id, nowMs })
}
