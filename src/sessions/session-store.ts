import { findAll } from '../lib/sql-values.ts'
import {
  columnsOf,
  type Database,
  insertRow,
  type Queries,
  type TableRow,
  type CachedRow,
} from '../storage/database.ts'
import {
  type Session,
  type SessionWithUser,
  type CachedSession,
  type SessionAuthentication,
  toCachedSession,
} from './session.ts'

export type SessionRow = TableRow<'sessions'>

/** The columns of a session have the name of their table, because `users` has columns of the same name. */
export const SESSION_COLUMNS = columnsOf('sessions').replace(/\w+/g, 'sessions.$&')

interface SessionWithUserRow extends SessionRow {
  email: string
  username: string
  name?: string | null
  language: string | null
  roles: string
  disabled: number
  user_created_at: number
  email_verified_at: number | null
  newest_key_id: string | null
  read_at: number | null
}

/** The name of the user is read only where it is shown. */
const selectWithUser = (
  names: boolean,
): string => `SELECT ${SESSION_COLUMNS}, email, username,${names ? ' name,' : ''} language, roles, disabled, users.created_at AS user_created_at,
  email_verified_at,
  (SELECT id FROM signing_keys WHERE retired_at IS NULL ORDER BY created_at DESC, id LIMIT 1) AS newest_key_id,
  server_time() AS read_at
  FROM sessions JOIN users ON users.id = sessions.user_id`

const WITHOUT_NAME = selectWithUser(false)

/** The column holds words with spaces between them. */
const toAmr = ({ amr }: Pick<SessionRow, 'amr'>): Session['amr'] => (amr ? (amr.split(' ') as Session['amr']) : [])

export const toSession = (row: SessionRow): Session => ({
  id: row.id,
  userId: row.user_id,
  salt: row.salt,
  generation: row.generation,
  replacedAtMs: JSON.parse(row.replaced_at) as number[],
  createdAtMs: row.created_at,
  lastSeenAtMs: row.last_seen_at,
  expiresAtMs: row.expires_at,
  absoluteExpiresAtMs: row.absolute_expires_at,
  userAgent: row.user_agent,
  address: row.address,
  authenticatedAtMs: row.authenticated_at ?? undefined,
  amr: toAmr(row),
  provider: row.provider ?? undefined,
  deviceHash: row.device_hash,
})

const toSessionWithUser = (row: SessionWithUserRow): SessionWithUser => ({
  ...toSession(row),
  user: {
    email: row.email,
    username: row.username,
    name: row.name,
    language: row.language,
    roles: JSON.parse(row.roles) as string[],
    disabled: row.disabled === 1,
    createdAtMs: row.user_created_at,
    emailVerified: row.email_verified_at !== null,
  },
  newestKeyId: row.newest_key_id ?? '',
  readAtMs: row.read_at ?? undefined,
})

/** Every request asks for this row, by the session's id; `keep` turns it into the value that is remembered. */
export const cacheSessions = <Kept>(db: Database, names: boolean, keep: (session: SessionWithUser) => Kept) =>
  db.cachedRow<SessionWithUserRow, Kept>({
    select: selectWithUser(names),
    key: 'sessions.id',
    mapRow: (row) => keep(toSessionWithUser(row)),
  })

export const findSession = async (db: Queries, id: string): Promise<SessionWithUser | undefined> => {
  const row = await db.get<SessionWithUserRow>(`${WITHOUT_NAME} WHERE sessions.id = ?`, id)
  return row && toSessionWithUser(row)
}

export const insertSession = (db: Queries, session: Session): Promise<number> =>
  insertRow(db, 'sessions', {
    id: session.id,
    user_id: session.userId,
    salt: session.salt,
    generation: session.generation,
    replaced_at: JSON.stringify(session.replacedAtMs),
    created_at: session.createdAtMs,
    last_seen_at: session.lastSeenAtMs,
    expires_at: session.expiresAtMs,
    absolute_expires_at: session.absoluteExpiresAtMs,
    user_agent: session.userAgent,
    address: session.address,
    authenticated_at: session.authenticatedAtMs ?? null,
    amr: session.amr.length > 0 ? session.amr.join(' ') : null,
    provider: session.provider ?? null,
    device_hash: session.deviceHash,
  })

/**
 * Writes the next generation of a session. It resolves to 0 when another request has done so, the session has ended, or
 * the server comes to it after the deadline by its own clock: then nobody waits for the result any more.
 */
export const updateRotatedSession = (db: Pick<Queries, 'run'>, session: Session, deadlineMs: number): Promise<number> =>
  db.run(
    `UPDATE sessions SET generation = ?, replaced_at = ?, last_seen_at = ?, expires_at = ?, user_agent = ?, address = ?
     WHERE id = ? AND generation = ? AND COALESCE(server_time(), 0) <= ?`,
    session.generation,
    JSON.stringify(session.replacedAtMs),
    session.lastSeenAtMs,
    session.expiresAtMs,
    session.userAgent,
    session.address,
    session.id,
    session.generation - 1,
    deadlineMs,
  )

/** Does the same when nobody knows if the rotation was made: it changes when its earlier token was replaced. */
export const updateUnansweredSession = (
  db: Pick<Queries, 'run'>,
  { id, generation, replacedAtMs }: Session,
): Promise<number> =>
  db.run(
    'UPDATE sessions SET generation = ?, replaced_at = ? WHERE id = ? AND generation IN (?, ?)',
    generation,
    JSON.stringify(replacedAtMs),
    id,
    generation - 1,
    generation,
  )

/** The sessions with these ids, or those of a user; `exceptId` is none of them. */
export type WhichSessions =
  | { ids: readonly string[]; userId?: string | undefined }
  | { userId: string; exceptId?: string | undefined }

/** `grants` is null if no client has any grant: then none hangs on the session. */
export interface DeletedSession extends Pick<Session, 'id' | 'userId' | 'salt'> {
  grants: number | null
}

const deletion = (where: string): string =>
  `DELETE FROM sessions WHERE ${where} RETURNING id, user_id AS "userId", salt,
   (SELECT 1 FROM grants LIMIT 1) AS grants`

/** Deletes sessions, as `removal.ts` alone does. */
export const deleteSessions = (db: Pick<Queries, 'all'>, which: WhichSessions): Promise<DeletedSession[]> => {
  if (!('ids' in which)) return db.all(deletion('user_id = ? AND id <> ?'), which.userId, which.exceptId ?? '')
  const { ids, userId } = which
  return findAll(ids, (list, piece) =>
    userId === undefined
      ? db.all<DeletedSession>(deletion(`id IN ${list}`), ...piece)
      : db.all<DeletedSession>(deletion(`id IN ${list} AND user_id = ?`), ...piece, userId),
  )
}

type LockedRow = Pick<SessionRow, 'user_id' | 'authenticated_at' | 'amr' | 'provider'> & { read_at: number | null }

/**
 * Locks a session, and its user before it, until the transaction ends; it resolves to undefined when the session has
 * ended. Every transaction that locks both keeps this order: two that wait for each other would have to be repeated.
 */
export const lockSession = async (
  db: Queries,
  id: string,
  userId: string,
): Promise<SessionAuthentication | undefined> => {
  await db.get('SELECT id FROM users WHERE id = ? FOR UPDATE', userId)
  const row = await db.get<LockedRow>(
    `SELECT user_id, authenticated_at, amr, provider, server_time() AS read_at FROM sessions
     WHERE id = ? AND user_id = ? FOR SHARE`,
    id,
    userId,
  )
  return (
    row && {
      userId: row.user_id,
      authenticatedAtMs: row.authenticated_at ?? undefined,
      amr: toAmr(row),
      provider: row.provider ?? undefined,
      readAtMs: row.read_at ?? undefined,
    }
  )
}

/** It resolves to 0 if the session has `mfa` already. */
export const updateAmr = (db: Queries, id: string, amr: readonly string[]): Promise<number> =>
  db.run(`UPDATE sessions SET amr = ? WHERE id = ? AND (amr IS NULL OR amr NOT LIKE '%mfa%')`, amr.join(' '), id)

/** Gives sessions by id, as they are in the database at this moment; from memory if nothing has changed. */
export type CachedSessions = CachedRow<CachedSession>

export const createCachedSessions = (db: Database, names: boolean): CachedSessions =>
  cacheSessions(db, names, toCachedSession)
