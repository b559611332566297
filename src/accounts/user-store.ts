import { AppError } from '../lib/errors.ts'
import { type Queries, columnsOf, insertRow, type NewRow, type TableRow } from '../storage/database.ts'
import { requireUnreserved } from './email-store.ts'

/** Operators see a user so; the JSON API shows less (CONTRACT.md 2.1). */
export interface User {
  /** UUID */
  id: string
  email: string
  /** The address was proved to be the user's at this time; undefined when it was not. */
  emailVerifiedAtMs: number | undefined
  username: string
  /** The name of the person; null where none is known. */
  name: string | null
  /** The tag of the language of their messages (BCP 47); null until it is known. */
  language: string | null
  roles: string[]
  disabled: boolean
  createdAtMs: number
  /** `true`: the user made the account, and not an operator. */
  isSelfMade: boolean
  /** The user was invited at this time; undefined once they have entered the account. */
  invitedAtMs: number | undefined
}

/** The whole row. */
export interface UserRecord extends User {
  emailLower: string
  passwordHash: string | null
}

/**
 * Neither database knows the letter case of all scripts: this form of a text is searched, and searched for. The letter
 * sigma has a form of its own at the end of a word, where a part of a name may not end.
 */
export const toSearchedForm = (text: string): string => text.normalize('NFC').toLowerCase().replaceAll('ς', 'σ')

const OF_OTHERS = [
  'position',
  'updated_at',
  'user_handle',
  'signup_browser',
  'sign_in_generation',
  'first_session_at',
] as const

/** The columns that make a user. The others belong to other subjects, or are only ever compared. */
export const USER_ROW_COLUMNS = columnsOf('users', 'name_lower', ...OF_OTHERS)

export type UserRow = Omit<TableRow<'users'>, 'name_lower' | (typeof OF_OTHERS)[number]>

export const toRecord = (row: UserRow): UserRecord => ({
  id: row.id,
  email: row.email,
  emailLower: row.email_lower,
  username: row.username,
  name: row.name,
  language: row.language,
  passwordHash: row.password_hash,
  roles: JSON.parse(row.roles) as string[],
  disabled: row.disabled === 1,
  createdAtMs: row.created_at,
  emailVerifiedAtMs: row.email_verified_at ?? undefined,
  isSelfMade: row.self_made === 1,
  invitedAtMs: row.invited_at ?? undefined,
})

/** The row of a new user, who was last updated at this time. */
export const toNewRow = (user: UserRecord, updatedAtMs: number): NewRow<'users'> => ({
  id: user.id,
  email: user.email,
  email_lower: user.emailLower,
  username: user.username,
  name: user.name,
  name_lower: user.name && toSearchedForm(user.name),
  language: user.language,
  password_hash: user.passwordHash,
  roles: JSON.stringify(user.roles),
  disabled: user.disabled ? 1 : 0,
  created_at: user.createdAtMs,
  email_verified_at: user.emailVerifiedAtMs ?? null,
  self_made: user.isSelfMade ? 1 : 0,
  invited_at: user.invitedAtMs ?? null,
  updated_at: updatedAtMs,
  sign_in_generation: 0,
})

const findBy = async (db: Queries, column: 'id' | 'email_lower' | 'username', value: string) => {
  const row = await db.get<UserRow>(`SELECT ${USER_ROW_COLUMNS} FROM users WHERE ${column} = ?`, value)
  return row && toRecord(row)
}

/** Finds a user by id, whose row stays as it is until the transaction ends. */
export const lockUser = async (db: Queries, id: string): Promise<UserRecord | undefined> => {
  const row = await db.get<UserRow>(`SELECT ${USER_ROW_COLUMNS} FROM users WHERE id = ? FOR SHARE`, id)
  return row && toRecord(row)
}

/** Locks a user for a change: two transactions that only shared the lock would wait for each other. */
export const lockUserToChange = async (db: Queries, id: string): Promise<UserRecord | undefined> => {
  const row = await db.get<UserRow>(`SELECT ${USER_ROW_COLUMNS} FROM users WHERE id = ? FOR UPDATE`, id)
  return row && toRecord(row)
}

export const findUserById = (db: Queries, id: string) => findBy(db, 'id', id)

/** Finds a user by id; `not_found` when there is none. */
export const requireUserById = async (db: Queries, id: string): Promise<UserRecord> =>
  orNotFound(await findUserById(db, id), id)

/** Locks a user for a change; `not_found` when there is none. */
export const requireUserToChange = async (db: Queries, id: string): Promise<UserRecord> =>
  orNotFound(await lockUserToChange(db, id), id)

const orNotFound = (user: UserRecord | undefined, id: string): UserRecord => {
  if (user) return user
  throw new AppError('not_found', `There is no user ${id}.`)
}

export const findUserByEmail = (db: Queries, emailLower: string) => findBy(db, 'email_lower', emailLower)
export const findUserByUsername = (db: Queries, username: string) => findBy(db, 'username', username)

export const findEmailOfUsername = async (db: Queries, username: string): Promise<string | undefined> =>
  (await db.get<{ email_lower: string }>('SELECT email_lower FROM users WHERE username = ?', username))?.email_lower

/** Finds the id of a user, by it or by their email in lower case. */
export const findUserId = async (
  db: Queries,
  { userId, email }: { userId?: string | undefined; email?: string | undefined },
): Promise<string | undefined> => {
  const row = userId
    ? await db.get<{ id: string }>('SELECT id FROM users WHERE id = ?', userId)
    : email && (await db.get<{ id: string }>('SELECT id FROM users WHERE email_lower = ?', email))
  return row ? row.id : undefined
}

/** Runs in a transaction; `UniqueViolation` on `users.email_lower` or `users.username`. */
export const insertUser = async (db: Queries, user: UserRecord): Promise<number> => {
  const changes = await insertRow(db, 'users', toNewRow(user, user.createdAtMs))
  await requireUnreserved(db, { emailLower: user.emailLower, userId: user.id, nowMs: user.createdAtMs })
  return changes
}

/**
 * Writes what has become of a user, in the transaction that has locked them; `UniqueViolation` on `users.email_lower` or
 * `users.username`. The time of the last update is that of the last change which the server API shows: of a password,
 * it shows only whether there is one.
 */
export const updateUser = async (db: Queries, before: UserRecord, after: UserRecord, nowMs: number): Promise<void> => {
  if (JSON.stringify(before) === JSON.stringify(after)) return
  await db.run(
    `UPDATE users SET email = ?, email_lower = ?, username = ?, name = ?, name_lower = ?, language = ?, password_hash = ?,
       roles = ?, disabled = ?, email_verified_at = ?, self_made = ?, invited_at = ?,
       updated_at = COALESCE(?, updated_at), signup_browser = CASE WHEN ? = 1 THEN signup_browser ELSE NULL END
     WHERE id = ?`,
    after.email,
    after.emailLower,
    after.username,
    after.name,
    after.name && toSearchedForm(after.name),
    after.language,
    after.passwordHash,
    JSON.stringify(after.roles),
    after.disabled ? 1 : 0,
    after.emailVerifiedAtMs ?? null,
    after.isSelfMade ? 1 : 0,
    after.invitedAtMs ?? null,
    shownOf(before) === shownOf(after) ? null : nowMs,
    after.emailLower === before.emailLower && after.emailVerifiedAtMs === undefined ? 1 : 0,
    before.id,
  )
  if (after.emailLower !== before.emailLower)
    await requireUnreserved(db, { emailLower: after.emailLower, userId: before.id, nowMs })
}

const shownOf = ({ passwordHash, emailVerifiedAtMs, ...rest }: UserRecord): string =>
  JSON.stringify({ ...rest, hasPassword: passwordHash !== null, isVerified: emailVerifiedAtMs !== undefined })

/** Notes which browser has signed up, until the address is verified. */
export const updateSignupBrowser = (db: Queries, id: string, browser: string): Promise<number> =>
  db.run('UPDATE users SET signup_browser = ? WHERE id = ?', browser, id)

/** Tells whether this browser has signed up for an account whose address nobody has verified since. */
export const hasSignedUpIn = async (db: Queries, id: string, browser: string | undefined): Promise<boolean> =>
  browser !== undefined &&
  (await db.get('SELECT id FROM users WHERE id = ? AND signup_browser = ?', id, browser)) !== undefined

/** Changes nothing when the hash is no longer the one that was checked. */
export const replacePasswordHash = (db: Queries, id: string, checked: string, hash: string): Promise<number> =>
  db.run('UPDATE users SET password_hash = ? WHERE id = ? AND password_hash = ?', hash, id, checked)

/** Notes a change that is shown with a user and stored in another table. */
export const updateUpdatedAt = (db: Queries, id: string, nowMs: number): Promise<number> =>
  db.run('UPDATE users SET updated_at = ? WHERE id = ?', nowMs, id)

export const deleteUser = (db: Queries, id: string): Promise<number> => db.run('DELETE FROM users WHERE id = ?', id)

/** Ends the sign-ins of a user that have proved a password or a provider, and wait for a second factor. */
export const endPendingSignIns = (db: Queries, userId: string): Promise<number> =>
  db.run('UPDATE users SET sign_in_generation = sign_in_generation + 1 WHERE id = ?', userId)

/** Does the same for the `limit` users who follow `after` in order of id; resolves to the last of them. */
export const endPendingSignInsAfter = async (
  db: Queries,
  { after, limit }: { after: string; limit: number },
): Promise<string | undefined> => {
  const users = await db.all<{ id: string }>('SELECT id FROM users WHERE id > ? ORDER BY id LIMIT ?', after, limit)
  const last = users.at(-1)?.id
  const sql = 'UPDATE users SET sign_in_generation = sign_in_generation + 1 WHERE id > ? AND id <= ?'
  if (last !== undefined) await db.run(sql, after, last)
  return last
}

/** Finds how often that was done; the user, if there is one, stays as they are until the transaction ends. */
export const lockSignInGeneration = async (db: Queries, userId: string): Promise<number | undefined> => {
  const row = await db.get<{ sign_in_generation: number }>(
    'SELECT sign_in_generation FROM users WHERE id = ? FOR SHARE',
    userId,
  )
  return row?.sign_in_generation
}
