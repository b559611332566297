import { AppError } from '../lib/errors.ts'
import type { Queries } from '../storage/database.ts'
import { requireUnreserved } from './email-store.ts'

/** A user as operators see one; the JSON API shows less (CONTRACT.md 2.1). */
export interface User {
  /** UUID */
  id: string
  email: string
  /** When it was verified that the address is the user's; undefined when it was not. */
  emailVerifiedAtMs: number | undefined
  username: string
  roles: string[]
  disabled: boolean
  createdAtMs: number
  /** Whether the user made the account, and not an operator. */
  isSelfMade: boolean
  /** When the user was invited; undefined once they have entered the account. */
  invitedAtMs: number | undefined
}

/** The whole row. */
export interface UserRecord extends User {
  emailLower: string
  passwordHash: string | null
}

export interface UserRow {
  id: string
  email: string
  email_lower: string
  username: string
  password_hash: string | null
  roles: string
  disabled: number
  created_at: number
  email_verified_at: number | null
  self_made: number
  invited_at: number | null
}

export const toRecord = (row: UserRow): UserRecord => ({
  id: row.id,
  email: row.email,
  emailLower: row.email_lower,
  username: row.username,
  passwordHash: row.password_hash,
  roles: JSON.parse(row.roles) as string[],
  disabled: row.disabled === 1,
  createdAtMs: row.created_at,
  emailVerifiedAtMs: row.email_verified_at ?? undefined,
  isSelfMade: row.self_made === 1,
  invitedAtMs: row.invited_at ?? undefined,
})

export const USER_ROW_COLUMNS = `id, email, email_lower, username, password_hash, roles, disabled, created_at, email_verified_at,
  self_made, invited_at`

const findBy = async (db: Queries, column: 'id' | 'email_lower' | 'username', value: string) => {
  const row = await db.get<UserRow>(`SELECT ${USER_ROW_COLUMNS} FROM users WHERE ${column} = ?`, value)
  return row && toRecord(row)
}

/** By id; the row stays as it is until the transaction ends. */
export const lockUser = async (db: Queries, id: string): Promise<UserRecord | undefined> => {
  const row = await db.get<UserRow>(`SELECT ${USER_ROW_COLUMNS} FROM users WHERE id = ? FOR SHARE`, id)
  return row && toRecord(row)
}

/** By id, for a change: two transactions that only shared the lock would wait for each other. */
export const lockUserToChange = async (db: Queries, id: string): Promise<void> => {
  await db.get('SELECT id FROM users WHERE id = ? FOR UPDATE', id)
}

export const findUserById = (db: Queries, id: string) => findBy(db, 'id', id)
/** By id; `not_found` when there is no such user. */
export const requireUserById = async (db: Queries, id: string): Promise<UserRecord> => {
  const user = await findUserById(db, id)
  if (user) return user
  throw new AppError('not_found', `There is no user ${id}.`)
}

export const findUserByEmail = (db: Queries, emailLower: string) => findBy(db, 'email_lower', emailLower)
export const findUserByUsername = (db: Queries, username: string) => findBy(db, 'username', username)

/** The id of a user, by it or by their email in lower case. */
export const findUserId = async (
  db: Queries,
  { userId, email }: { userId?: string | undefined; email?: string | undefined },
): Promise<string | undefined> => {
  const row = userId
    ? await db.get<{ id: string }>('SELECT id FROM users WHERE id = ?', userId)
    : email && (await db.get<{ id: string }>('SELECT id FROM users WHERE email_lower = ?', email))
  return row ? row.id : undefined
}

/** In a transaction; `UniqueViolation` on `users.email_lower` or `users.username`. */
export const insertUser = async (db: Queries, user: UserRecord): Promise<number> => {
  const changes = await db.run(
    `INSERT INTO users (${USER_ROW_COLUMNS}, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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
    user.createdAtMs,
  )
  await requireUnreserved(db, { emailLower: user.emailLower, userId: user.id, nowMs: user.createdAtMs })
  return changes
}

/** A change of one user. Its time is when the user was last updated, as the server API shows it. */
export type Change<Changed> = { id: string; nowMs: number } & Changed

/** For what is shown with a user and stored in another table. */
export const updateUpdatedAt = (db: Queries, id: string, nowMs: number): Promise<number> =>
  db.run('UPDATE users SET updated_at = ? WHERE id = ?', nowMs, id)

/** 0 when the user has this username already; `UniqueViolation` on `users.username`. */
export const updateUsername = (db: Queries, { id, username, nowMs }: Change<{ username: string }>): Promise<number> => {
  const sql = 'UPDATE users SET username = ?, updated_at = ? WHERE id = ? AND username <> ?'
  return db.run(sql, username, nowMs, id, username)
}

/** 0 when the user has these roles already, in this order. */
export const updateRoles = (db: Queries, { id, roles, nowMs }: Change<{ roles: string[] }>): Promise<number> => {
  const text = JSON.stringify(roles)
  return db.run('UPDATE users SET roles = ?, updated_at = ? WHERE id = ? AND roles <> ?', text, nowMs, id, text)
}

/** 0 when it is so already. */
export const updateDisabled = (db: Queries, { id, disabled, nowMs }: Change<{ disabled: boolean }>) => {
  const value = disabled ? 1 : 0
  return db.run('UPDATE users SET disabled = ?, updated_at = ? WHERE id = ? AND disabled <> ?', value, nowMs, id, value)
}

export const deleteUser = (db: Queries, id: string): Promise<number> => db.run('DELETE FROM users WHERE id = ?', id)
