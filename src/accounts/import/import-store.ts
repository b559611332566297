import { findAll, inPieces, rowPlaceholders } from '../../lib/sql-values.ts'
import type { Queries } from '../../storage/database.ts'
import type { UserRecord } from '../user-store.ts'

/** What identifies a user; each value of each column belongs to one user. */
export interface UserKeys {
  id: string
  email_lower: string
  username: string
}

/** The users who have one of these values. */
export const findUsersWith = (db: Queries, column: keyof UserKeys, values: readonly string[]): Promise<UserKeys[]> =>
  findAll(values, (list, piece) =>
    db.all<UserKeys>(`SELECT id, email_lower, username FROM users WHERE ${column} IN ${list}`, ...piece),
  )

/** Those of the addresses that are kept for the account that had them before. */
export const findReservedEmails = async (db: Queries, emails: readonly string[], nowMs: number): Promise<string[]> => {
  const rows = await findAll(emails, (list, piece) =>
    db.all<{ email_lower: string }>(
      `SELECT email_lower FROM reserved_emails WHERE email_lower IN ${list} AND until > ?`,
      ...piece,
      nowMs,
    ),
  )
  return rows.map((row) => row.email_lower)
}

const COLUMNS = [
  'id',
  'email',
  'email_lower',
  'username',
  'password_hash',
  'roles',
  'disabled',
  'created_at',
  'email_verified_at',
  'self_made',
  'invited_at',
  'updated_at',
]

/** In a transaction; `UniqueViolation` when one of them has the id, the email or the username of another user. */
export const insertUsers = async (db: Queries, users: readonly UserRecord[], nowMs: number): Promise<void> => {
  for (const piece of inPieces(users)) {
    const values = piece.flatMap((user) => [
      user.id,
      user.email,
      user.emailLower,
      user.username,
      user.passwordHash,
      JSON.stringify(user.roles),
      user.disabled ? 1 : 0,
      user.createdAtMs,
      user.emailVerifiedAtMs ?? null,
      user.isSelfMade ? 1 : 0,
      user.invitedAtMs ?? null,
      nowMs,
    ])
    const rows = rowPlaceholders(piece.length, COLUMNS.length)
    await db.run(`INSERT INTO users (${COLUMNS.join(', ')}) VALUES ${rows}`, ...values)
  }
}

/** Resolves to how many there were. */
export const deleteUsers = async (db: Queries, ids: readonly string[]): Promise<number> => {
  let deleted = 0
  for (const piece of inPieces(ids)) {
    deleted += await db.run(`DELETE FROM users WHERE id IN ${rowPlaceholders(1, piece.length)}`, ...piece)
  }
  return deleted
}
