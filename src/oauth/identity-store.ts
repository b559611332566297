import type { Queries } from '../storage/database.ts'

/** A connection between a provider account and a user. */
export interface Identity {
  /** UUID */
  id: string
  userId: string
  /** The provider's name in the settings. */
  provider: string
  issuer: string
  subject: string
  /** The provider's email of the user when they were connected. */
  email: string | undefined
  createdAtMs: number
}

interface IdentityRow {
  id: string
  user_id: string
  provider: string
  issuer: string
  subject: string
  email: string | null
  created_at: number
}

const fromRow = (row: IdentityRow): Identity => ({
  id: row.id,
  userId: row.user_id,
  provider: row.provider,
  issuer: row.issuer,
  subject: row.subject,
  email: row.email ?? undefined,
  createdAtMs: row.created_at,
})

const COLUMNS = 'id, user_id, provider, issuer, subject, email, created_at'

/** The connection of a provider account, which issuer and subject identify. */
export const findIdentity = async (
  db: Queries,
  { issuer, subject }: Pick<Identity, 'issuer' | 'subject'>,
): Promise<Identity | undefined> => {
  const row = await db.get<IdentityRow>(
    `SELECT ${COLUMNS} FROM identities WHERE subject = ? AND issuer = ?`,
    subject,
    issuer,
  )
  return row && fromRow(row)
}

/** Whether the user still has this connection; if so, it cannot be deleted before the transaction ends. */
export const lockIdentity = async (db: Queries, id: string, userId: string): Promise<boolean> =>
  (await db.get('SELECT id FROM identities WHERE id = ? AND user_id = ? FOR SHARE', id, userId)) !== undefined

/** The connections of a user, oldest first. */
export const findIdentitiesOfUser = async (db: Queries, userId: string): Promise<Identity[]> => {
  const rows = await db.all<IdentityRow>(`SELECT ${COLUMNS} FROM identities WHERE user_id = ? ORDER BY id`, userId)
  return rows.map(fromRow)
}

/** `UniqueViolation` on `identities.subject` when the provider account is connected already, to any user. */
export const insertIdentity = (db: Queries, identity: Identity): Promise<number> =>
  db.run(
    `INSERT INTO identities (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`,
    identity.id,
    identity.userId,
    identity.provider,
    identity.issuer,
    identity.subject,
    identity.email ?? null,
    identity.createdAtMs,
  )

export const deleteIdentity = (db: Queries, id: string, userId: string): Promise<number> =>
  db.run('DELETE FROM identities WHERE id = ? AND user_id = ?', id, userId)

/** Those that were connected at `sinceMs` or later. */
export const deleteIdentitiesOfUser = (db: Queries, userId: string, sinceMs: number): Promise<number> =>
  db.run('DELETE FROM identities WHERE user_id = ? AND created_at >= ?', userId, sinceMs)

/** `UniqueViolation` on `used_oauth_states.id` when this flow has ended before. */
export const insertUsedState = (db: Pick<Queries, 'run'>, id: string): Promise<number> =>
  db.run('INSERT INTO used_oauth_states (id) VALUES (?)', id)

/** Deletes the rows before an id, which is to say before a time. */
export const deleteUsedStatesBefore = (db: Pick<Queries, 'run'>, id: string): Promise<number> =>
  db.run('DELETE FROM used_oauth_states WHERE id < ?', id)
