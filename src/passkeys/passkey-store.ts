import { type Queries, columnsOf, insertRow, type TableRow } from '../storage/database.ts'
import { updateUpdatedAt } from '../accounts/user-store.ts'
import type { Passkey } from './passkey.ts'

type PasskeyRow = TableRow<'passkeys'>

const COLUMNS = columnsOf('passkeys')

const toPasskey = (row: PasskeyRow): Passkey => passkeyOf(row, row.user_id)

/** Reads the columns that the passkeys of users and of administrators have in common. */
export const passkeyOf = (row: Omit<PasskeyRow, 'user_id'>, userId: string): Passkey => ({
  id: row.id,
  userId,
  credentialId: row.credential_id,
  publicKey: row.public_key,
  name: row.name,
  aaguid: row.aaguid,
  transports: JSON.parse(row.transports) as string[],
  signCount: row.sign_count,
  isBackupEligible: row.backup_eligible === 1,
  isBackedUp: row.backed_up === 1,
  createdAtMs: row.created_at,
  lastUsedAtMs: row.last_used_at ?? undefined,
})

export const findPasskeyByCredential = async (db: Queries, credentialId: string): Promise<Passkey | undefined> => {
  const row = await db.get<PasskeyRow>(`SELECT ${COLUMNS} FROM passkeys WHERE credential_id = ?`, credentialId)
  return row && toPasskey(row)
}

/** Finds a passkey by id; the row stays as it is until the transaction ends. */
export const lockPasskey = async (db: Queries, id: string): Promise<Passkey | undefined> => {
  const row = await db.get<PasskeyRow>(`SELECT ${COLUMNS} FROM passkeys WHERE id = ? FOR UPDATE`, id)
  return row && toPasskey(row)
}

/** Lists the oldest first. */
export const findPasskeysOfUser = async (db: Queries, userId: string): Promise<Passkey[]> => {
  const rows = await db.all<PasskeyRow>(`SELECT ${COLUMNS} FROM passkeys WHERE user_id = ? ORDER BY id`, userId)
  return rows.map(toPasskey)
}

/**
 * It must be called in a transaction. It throws `UniqueViolation` on `passkeys.credential_id` when any account has that
 * passkey.
 */
export const insertPasskey = async (db: Queries, passkey: Passkey): Promise<number> => {
  const inserted = await insertRow(db, 'passkeys', { ...columnsOfPasskey(passkey), user_id: passkey.userId })
  await updateUpdatedAt(db, passkey.userId, passkey.createdAtMs)
  return inserted
}

export const columnsOfPasskey = (passkey: Passkey): Omit<PasskeyRow, 'user_id'> => ({
  id: passkey.id,
  credential_id: passkey.credentialId,
  public_key: passkey.publicKey,
  name: passkey.name,
  aaguid: passkey.aaguid,
  transports: JSON.stringify(passkey.transports),
  sign_count: passkey.signCount,
  backup_eligible: passkey.isBackupEligible ? 1 : 0,
  backed_up: passkey.isBackedUp ? 1 : 0,
  created_at: passkey.createdAtMs,
  last_used_at: passkey.lastUsedAtMs ?? null,
})

/** Stores the values that a sign-in changes. */
export const updateUse = (
  db: Queries,
  { id, signCount, isBackedUp, lastUsedAtMs }: Pick<Passkey, 'id' | 'signCount' | 'isBackedUp' | 'lastUsedAtMs'>,
): Promise<number> =>
  db.run(
    'UPDATE passkeys SET sign_count = ?, backed_up = ?, last_used_at = ? WHERE id = ?',
    signCount,
    isBackedUp ? 1 : 0,
    lastUsedAtMs ?? null,
    id,
  )

/** It resolves to 0 when the user has no such passkey. */
export const updateName = (
  db: Queries,
  { id, userId, name }: Pick<Passkey, 'id' | 'userId' | 'name'>,
): Promise<number> => db.run('UPDATE passkeys SET name = ? WHERE id = ? AND user_id = ?', name, id, userId)

export const deletePasskey = async (
  db: Queries,
  { id, userId, nowMs }: { id: string; userId: string; nowMs: number },
): Promise<number> => {
  const deleted = await db.run('DELETE FROM passkeys WHERE id = ? AND user_id = ?', id, userId)
  if (deleted > 0) await updateUpdatedAt(db, userId, nowMs)
  return deleted
}

/**
 * Deletes the passkeys of a user that were made at `sinceMs` or later. The transaction has locked the row of the user.
 * It resolves to their names.
 */
export const deletePasskeysSince = async (
  db: Queries,
  { userId, sinceMs, nowMs }: { userId: string; sinceMs: number; nowMs: number },
): Promise<string[]> => {
  const passkeys = await findPasskeysOfUser(db, userId)
  const newer = passkeys.filter(({ createdAtMs }) => createdAtMs >= sinceMs)
  for (const { id } of newer) await deletePasskey(db, { id, userId, nowMs })
  return newer.map(({ name }) => name)
}

/** Authenticators know the user by a random handle, which is kept for as long as the account (section 14.6.1). */
export const findUserHandle = async (db: Queries, userId: string): Promise<string | undefined> => {
  const row = await db.get<{ user_handle: string | null }>('SELECT user_handle FROM users WHERE id = ?', userId)
  return row?.user_handle ?? undefined
}

export const hasUserHandle = async (db: Queries, userHandle: string): Promise<boolean> =>
  (await db.get('SELECT id FROM users WHERE user_handle = ?', userHandle)) !== undefined

/** It resolves to 0 when the user has a handle already: of two requests, both go on with that of the first. */
export const setUserHandle = (db: Queries, userId: string, userHandle: string): Promise<number> =>
  db.run('UPDATE users SET user_handle = ? WHERE id = ? AND user_handle IS NULL', userHandle, userId)
