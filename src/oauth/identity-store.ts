import { type Queries, columnsOf, insertRow, type TableRow } from '../storage/database.ts'
import { updateUpdatedAt } from '../accounts/user-store.ts'

/** A provider account is connected to a user. */
export interface Identity {
  id: string
  userId: string
  /** It is the provider's name in the settings. */
  provider: string
  issuer: string
  subject: string
  /** The provider gave this email of the user when they were connected. */
  email: string | undefined
  createdAtMs: number
}

export type IdentityRow = TableRow<'identities'>

export const toIdentity = (row: IdentityRow): Identity => ({
  id: row.id,
  userId: row.user_id,
  provider: row.provider,
  issuer: row.issuer,
  subject: row.subject,
  email: row.email ?? undefined,
  createdAtMs: row.created_at,
})

export const toIdentityRow = (identity: Identity): IdentityRow => ({
  id: identity.id,
  user_id: identity.userId,
  provider: identity.provider,
  issuer: identity.issuer,
  subject: identity.subject,
  email: identity.email ?? null,
  created_at: identity.createdAtMs,
})

export const IDENTITY_COLUMNS = columnsOf('identities')

/** Finds the connection of a provider account, which issuer and subject identify. */
export const findIdentity = async (
  db: Queries,
  { issuer, subject }: Pick<Identity, 'issuer' | 'subject'>,
): Promise<Identity | undefined> => {
  const row = await db.get<IdentityRow>(
    `SELECT ${IDENTITY_COLUMNS} FROM identities WHERE subject = ? AND issuer = ?`,
    subject,
    issuer,
  )
  return row && toIdentity(row)
}

/** Tells whether the user still has this connection; if so, it cannot be deleted before the transaction ends. */
export const lockIdentity = async (db: Queries, id: string, userId: string): Promise<boolean> =>
  (await db.get('SELECT id FROM identities WHERE id = ? AND user_id = ? FOR SHARE', id, userId)) !== undefined

/** Lists the connections of a user, oldest first. */
export const findIdentitiesOfUser = async (db: Queries, userId: string): Promise<Identity[]> => {
  const rows = await db.all<IdentityRow>(
    `SELECT ${IDENTITY_COLUMNS} FROM identities WHERE user_id = ? ORDER BY id`,
    userId,
  )
  return rows.map(toIdentity)
}

/**
 * It must be called in a transaction, as each change of the connections must: they are shown with the user. It throws
 * `UniqueViolation` on `identities.subject` when the provider account is connected already, to any user.
 */
export const insertIdentity = async (db: Queries, identity: Identity): Promise<number> => {
  const inserted = await insertRow(db, 'identities', toIdentityRow(identity))
  await updateUpdatedAt(db, identity.userId, identity.createdAtMs)
  return inserted
}

interface DeletedIdentity {
  id: string
  userId: string
  nowMs: number
}

export const deleteIdentity = async (db: Queries, { id, userId, nowMs }: DeletedIdentity): Promise<number> => {
  const deleted = await db.run('DELETE FROM identities WHERE id = ? AND user_id = ?', id, userId)
  if (deleted > 0) await updateUpdatedAt(db, userId, nowMs)
  return deleted
}

/** Deletes the connections that were made at `sinceMs` or later. */
export const deleteIdentitiesOfUser = async (
  db: Queries,
  { userId, sinceMs, nowMs }: { userId: string; sinceMs: number; nowMs: number },
): Promise<number> => {
  const deleted = await db.run('DELETE FROM identities WHERE user_id = ? AND created_at >= ?', userId, sinceMs)
  if (deleted > 0) await updateUpdatedAt(db, userId, nowMs)
  return deleted
}

/** Throws `UniqueViolation` on `used_oauth_states.id` when this flow has ended before. */
export const insertUsedState = (db: Pick<Queries, 'run'>, id: string): Promise<number> =>
  db.run('INSERT INTO used_oauth_states (id) VALUES (?)', id)

/** Deletes the rows before an id, which means before a time. */
export const deleteUsedStatesBefore = (db: Pick<Queries, 'run'>, id: string): Promise<number> =>
  db.run('DELETE FROM used_oauth_states WHERE id < ?', id)
