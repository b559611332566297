import { type Database, insertRow, type Queries, type TableRow } from '../storage/database.ts'
import type { Administrator, AdministratorRole } from './administrator.ts'

/** A session of an administrator, with the time of the database's server as it was read. */
interface AdministratorSessionRecord {
  id: string
  administrator: Administrator
  createdAtMs: number
  seenAtMs: number
  provedAtMs: number
  readAtMs: number | undefined
}

interface NewSession {
  id: string
  administratorId: string
  secretHash: string
  nowMs: number
}

/** A session begins with a passkey, which is the proof for the first changes. */
export const insertAdministratorSession = (db: Queries, it: NewSession): Promise<number> =>
  insertRow(db, 'administrator_sessions', {
    id: it.id,
    administrator_id: it.administratorId,
    secret_hash: it.secretHash,
    created_at: it.nowMs,
    seen_at: it.nowMs,
    proved_at: it.nowMs,
  })

type SessionRow = Omit<TableRow<'administrator_sessions'>, 'secret_hash'> &
  Pick<TableRow<'administrators'>, 'name' | 'email' | 'role'> & { began_at: number; read_at: number | null }

/** Finds a session in any state, with its administrator as they are now. */
export const findAdministratorSession = async (
  db: Queries,
  secretHash: string,
): Promise<AdministratorSessionRecord | undefined> => {
  const row = await db.get<SessionRow>(
    `SELECT s.id, s.administrator_id, s.created_at AS began_at, s.seen_at, s.proved_at, server_time() AS read_at,
       a.name, a.email, a.role, a.created_at
     FROM administrator_sessions s JOIN administrators a ON a.id = s.administrator_id WHERE s.secret_hash = ?`,
    secretHash,
  )
  if (!row) return undefined
  const { administrator_id: id, name, email, created_at: createdAtMs } = row
  return {
    id: row.id,
    administrator: { id, name, email, role: row.role as AdministratorRole, createdAtMs },
    createdAtMs: row.began_at,
    seenAtMs: row.seen_at,
    provedAtMs: row.proved_at,
    readAtMs: row.read_at ?? undefined,
  }
}

/** Tells whether a session is there; it stays until the transaction ends. */
export const lockAdministratorSession = async (db: Queries, id: string): Promise<boolean> =>
  (await db.get('SELECT id FROM administrator_sessions WHERE id = ? FOR UPDATE', id)) !== undefined

/** A crash may lose it: the session then ends earlier. */
export const noteSeen = async (db: Pick<Database, 'runUnsynced'>, id: string, nowMs: number): Promise<void> => {
  await db.runUnsynced('UPDATE administrator_sessions SET seen_at = ? WHERE id = ? AND seen_at < ?', nowMs, id, nowMs)
}

/** Resolves to 0 when the session has ended. */
export const updateProved = (db: Queries, id: string, nowMs: number): Promise<number> =>
  db.run('UPDATE administrator_sessions SET proved_at = ? WHERE id = ?', nowMs, id)

export const deleteAdministratorSession = (db: Queries, id: string): Promise<number> =>
  db.run('DELETE FROM administrator_sessions WHERE id = ?', id)

export const deleteAdministratorSessions = (db: Queries, administratorId: string): Promise<number> =>
  db.run('DELETE FROM administrator_sessions WHERE administrator_id = ?', administratorId)

export const deleteOtherAdministratorSessions = (
  db: Queries,
  administratorId: string,
  keptId: string,
): Promise<number> =>
  db.run('DELETE FROM administrator_sessions WHERE administrator_id = ? AND id <> ?', administratorId, keptId)

/** Deletes the sessions that began, or were seen last, before these times. */
export const deleteEndedAdministratorSessions = (
  db: Queries,
  { beganBeforeMs, seenBeforeMs }: { beganBeforeMs: number; seenBeforeMs: number },
): Promise<number> =>
  db.run('DELETE FROM administrator_sessions WHERE created_at <= ? OR seen_at <= ?', beganBeforeMs, seenBeforeMs)
