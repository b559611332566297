import { findAll, inPieces, rowPlaceholders } from '../../lib/sql-values.ts'
import { type Queries, insertRows } from '../../storage/database.ts'
import { type UserRecord, toNewRow } from '../user-store.ts'

/** Each value of each of these columns belongs to one user. */
export interface UserKeys {
  id: string
  email_lower: string
  username: string
}

/** Finds the users who have one of these values. */
export const findUsersWith = (db: Queries, column: keyof UserKeys, values: readonly string[]): Promise<UserKeys[]> =>
  findAll(values, (list, piece) =>
    db.all<UserKeys>(`SELECT id, email_lower, username FROM users WHERE ${column} IN ${list}`, ...piece),
  )

/** Finds those of the addresses that are kept for the account that had them before. */
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

/** In a transaction; `UniqueViolation` when one of them has the id, the email or the username of another user. */
export const insertUsers = async (db: Queries, users: readonly UserRecord[], nowMs: number): Promise<void> => {
  for (const piece of inPieces(users)) {
    await insertRows(
      db,
      'users',
      piece.map((user) => toNewRow(user, nowMs)),
    )
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
