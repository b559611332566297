import type { Passkey } from '../passkeys/passkey.ts'
import { columnsOfPasskey, passkeyOf } from '../passkeys/passkey-store.ts'
import { columnsOf, insertRow, type Queries, type TableRow } from '../storage/database.ts'
import type { Administrator, AdministratorRole } from './administrator.ts'

type AdministratorRow = TableRow<'administrators'>

const COLUMNS = columnsOf('administrators')

/** An administrator as stored, with the time of the database's server as it was read; undefined where there is none. */
export interface AdministratorRecord extends Administrator {
  userHandle: string
  inviteExpiresAtMs: number | undefined
  readAtMs: number | undefined
}

type ReadRow = AdministratorRow & { read_at: number | null }

const SELECT = `SELECT ${COLUMNS}, server_time() AS read_at FROM administrators`

const toAdministrator = (row: ReadRow): AdministratorRecord => ({
  id: row.id,
  name: row.name,
  email: row.email,
  role: row.role as AdministratorRole,
  createdAtMs: row.created_at,
  userHandle: row.user_handle,
  inviteExpiresAtMs: row.invite_expires_at ?? undefined,
  readAtMs: row.read_at ?? undefined,
})

const orUndefined = (row: ReadRow | undefined): AdministratorRecord | undefined => row && toAdministrator(row)

/** Throws `UniqueViolation` on `administrators.name`. */
export const insertAdministrator = (db: Queries, it: Administrator & { userHandle: string }): Promise<number> =>
  insertRow(db, 'administrators', {
    id: it.id,
    name: it.name,
    email: it.email,
    role: it.role,
    user_handle: it.userHandle,
    created_at: it.createdAtMs,
  })

/** Finds an administrator; the row stays as it is until the transaction ends, and no other one changes what belongs to it. */
export const lockAdministrator = async (db: Queries, id: string): Promise<AdministratorRecord | undefined> =>
  orUndefined(await db.get<ReadRow>(`${SELECT} WHERE id = ? FOR UPDATE`, id))

export const lockAdministratorNamed = async (db: Queries, name: string): Promise<AdministratorRecord | undefined> =>
  orUndefined(await db.get<ReadRow>(`${SELECT} WHERE name = ? FOR UPDATE`, name))

export const findAdministratorByInvite = async (
  db: Queries,
  inviteHash: string,
): Promise<AdministratorRecord | undefined> =>
  orUndefined(await db.get<ReadRow>(`${SELECT} WHERE invite_hash = ?`, inviteHash))

export const lockAdministratorByInvite = async (
  db: Queries,
  inviteHash: string,
): Promise<AdministratorRecord | undefined> =>
  orUndefined(await db.get<ReadRow>(`${SELECT} WHERE invite_hash = ? FOR UPDATE`, inviteHash))

export const setInvite = (
  db: Queries,
  id: string,
  { hash, expiresAtMs }: { hash: string | null; expiresAtMs: number | null },
): Promise<number> =>
  db.run('UPDATE administrators SET invite_hash = ?, invite_expires_at = ? WHERE id = ?', hash, expiresAtMs, id)

export const updateAdministratorRole = (db: Queries, id: string, role: AdministratorRole): Promise<number> =>
  db.run('UPDATE administrators SET role = ? WHERE id = ?', role, id)

/** Deletes an administrator, with their passkeys and sessions. */
export const deleteAdministrator = (db: Queries, id: string): Promise<number> =>
  db.run('DELETE FROM administrators WHERE id = ?', id)

/** An administrator in the list. */
export interface ListedAdministrator extends Administrator {
  passkeys: number
  /** The passkey that was used last, was used then. */
  lastUsedAtMs: number | undefined
  /** The link is good until then. */
  inviteExpiresAtMs: number | undefined
}

/** Finds all administrators, by name. */
export const findAdministrators = async (db: Queries, nowMs: number): Promise<ListedAdministrator[]> => {
  const rows = await db.all<ReadRow & { passkeys: number; last_used_at: number | null }>(
    `SELECT ${COLUMNS}, server_time() AS read_at,
       (SELECT COUNT(*) FROM administrator_passkeys WHERE administrator_id = administrators.id) AS passkeys,
       (SELECT MAX(last_used_at) FROM administrator_passkeys WHERE administrator_id = administrators.id) AS last_used_at
     FROM administrators ORDER BY name`,
  )
  return rows.map((row) => {
    const { id, name, email, role, createdAtMs, inviteExpiresAtMs = 0, readAtMs = nowMs } = toAdministrator(row)
    return {
      id,
      name,
      email,
      role,
      createdAtMs,
      passkeys: row.passkeys,
      lastUsedAtMs: row.last_used_at ?? undefined,
      inviteExpiresAtMs: inviteExpiresAtMs > readAtMs ? inviteExpiresAtMs : undefined,
    }
  })
}

type PasskeyRow = TableRow<'administrator_passkeys'>

const PASSKEY_COLUMNS = columnsOf('administrator_passkeys')

const toAdministratorPasskey = (row: PasskeyRow): Passkey => passkeyOf(row, row.administrator_id)

/** Throws `UniqueViolation` on `administrator_passkeys.credential_id`. */
export const insertAdministratorPasskey = (db: Queries, passkey: Passkey): Promise<number> =>
  insertRow(db, 'administrator_passkeys', { ...columnsOfPasskey(passkey), administrator_id: passkey.userId })

export const findAdministratorPasskey = async (db: Queries, credentialId: string): Promise<Passkey | undefined> => {
  const row = await db.get<PasskeyRow>(
    `SELECT ${PASSKEY_COLUMNS} FROM administrator_passkeys WHERE credential_id = ?`,
    credentialId,
  )
  return row && toAdministratorPasskey(row)
}

/** Finds the passkeys of an administrator, the oldest first. */
export const findAdministratorPasskeys = async (db: Queries, administratorId: string): Promise<Passkey[]> => {
  const rows = await db.all<PasskeyRow>(
    `SELECT ${PASSKEY_COLUMNS} FROM administrator_passkeys WHERE administrator_id = ? ORDER BY id`,
    administratorId,
  )
  return rows.map(toAdministratorPasskey)
}

/** Stores the values that a use changes; resolves to 0 when the passkey has gone. */
export const updateAdministratorPasskey = (
  db: Queries,
  { id, signCount, isBackedUp, usedAtMs }: { id: string; signCount: number; isBackedUp: boolean; usedAtMs: number },
): Promise<number> =>
  db.run(
    'UPDATE administrator_passkeys SET sign_count = ?, backed_up = ?, last_used_at = ? WHERE id = ?',
    signCount,
    isBackedUp ? 1 : 0,
    usedAtMs,
    id,
  )

export const deleteAdministratorPasskey = (db: Queries, administratorId: string, id: string): Promise<number> =>
  db.run('DELETE FROM administrator_passkeys WHERE administrator_id = ? AND id = ?', administratorId, id)

export const deleteAdministratorPasskeys = (db: Queries, administratorId: string): Promise<number> =>
  db.run('DELETE FROM administrator_passkeys WHERE administrator_id = ?', administratorId)
