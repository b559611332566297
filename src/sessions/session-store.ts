import type { Database, Queries } from '../storage/database.ts'

/** One row: somebody is signed in with one browser. Times in milliseconds since 1970. */
export interface Session {
  /** UUID of version 7, so that ids are in order of creation. */
  id: string
  userId: string
  salt: string
  generation: number
  /** When the tokens before `generation` were replaced, the latest last. */
  replacedAtMs: number[]
  createdAtMs: number
  lastSeenAtMs: number
  expiresAtMs: number
  absoluteExpiresAtMs: number
  userAgent: string
  address: string
  /** When its user was last seen to prove who he is; undefined when that was not said. */
  authenticatedAtMs: number | undefined
}

/** A session with as much of its user as every request needs. */
export interface SessionOfUser extends Session {
  user: {
    email: string
    username: string
    roles: string[]
    disabled: boolean
    createdAtMs: number
  }
  /** The newest key, which says whether the keys have changed: read with the row, so that it is as fresh. */
  newestKeyId: string
  /** The time of the database's server as the row was read; undefined where there is no server, and the row may be kept. */
  readAtMs: number | undefined
}

interface SessionRow {
  id: string
  user_id: string
  salt: string
  generation: number
  replaced_at: string
  created_at: number
  last_seen_at: number
  expires_at: number
  absolute_expires_at: number
  user_agent: string
  address: string
  authenticated_at: number | null
}

interface SessionOfUserRow extends SessionRow {
  email: string
  username: string
  roles: string
  disabled: number
  user_created_at: number
  newest_key_id: string | null
  read_at: number | null
}

const COLUMNS = `sessions.id, user_id, salt, generation, replaced_at, sessions.created_at, last_seen_at, expires_at,
  absolute_expires_at, user_agent, address, authenticated_at`

const WITH_USER = `SELECT ${COLUMNS}, email, username, roles, disabled, users.created_at AS user_created_at,
  (SELECT id FROM signing_keys WHERE retired_at IS NULL ORDER BY created_at DESC, id LIMIT 1) AS newest_key_id,
  server_time() AS read_at
  FROM sessions JOIN users ON users.id = sessions.user_id`

const toSession = (row: SessionRow): Session => ({
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
})

const toSessionOfUser = (row: SessionOfUserRow): SessionOfUser => ({
  ...toSession(row),
  user: {
    email: row.email,
    username: row.username,
    roles: JSON.parse(row.roles) as string[],
    disabled: row.disabled === 1,
    createdAtMs: row.user_created_at,
  },
  newestKeyId: row.newest_key_id ?? '',
  readAtMs: row.read_at ?? undefined,
})

/** The row that every request asks for, by the session's id; `keep` makes of it what is to be remembered. */
export const cacheSessions = <Kept>(db: Database, keep: (session: SessionOfUser) => Kept) =>
  db.cachedRow<SessionOfUserRow, Kept>({
    select: WITH_USER,
    key: 'sessions.id',
    keep: (row) => keep(toSessionOfUser(row)),
  })

export const findSession = async (db: Queries, id: string): Promise<SessionOfUser | undefined> => {
  const row = await db.get<SessionOfUserRow>(`${WITH_USER} WHERE sessions.id = ?`, id)
  return row && toSessionOfUser(row)
}

/**
 * Holds a user who is about to get a session, so that logins of the same user come one after the other; undefined when the
 * user is gone. `readAtMs` is the time of the database's server, where there is one.
 */
export const lockUserOfSession = async (
  db: Queries,
  userId: string,
): Promise<{ readAtMs: number | undefined } | undefined> => {
  const row = await db.get<{ read_at: number | null }>(
    'SELECT server_time() AS read_at FROM users WHERE id = ? FOR UPDATE',
    userId,
  )
  return row && { readAtMs: row.read_at ?? undefined }
}

/**
 * Holds a session, and its user before it, as they are until the transaction ends; undefined when it has ended. The user first, as everybody does who changes both: two who wait for each other would
 * have to begin again.
 */
export const lockSession = async (
  db: Queries,
  id: string,
  userId: string,
): Promise<Pick<SessionOfUser, 'authenticatedAtMs' | 'readAtMs'> | undefined> => {
  await db.get('SELECT id FROM users WHERE id = ? FOR UPDATE', userId)
  const row = await db.get<Pick<SessionOfUserRow, 'authenticated_at' | 'read_at'>>(
    'SELECT authenticated_at, server_time() AS read_at FROM sessions WHERE id = ? AND user_id = ? FOR SHARE',
    id,
    userId,
  )
  return row && { authenticatedAtMs: row.authenticated_at ?? undefined, readAtMs: row.read_at ?? undefined }
}

/** Sessions of a user that have not run out: one before all others, then the last seen first. */
export const findSessionsOfUser = async (
  db: Queries,
  { userId, firstId, nowMs, limit }: { userId: string; firstId: string; nowMs: number; limit: number },
): Promise<Session[]> => {
  const rows = await db.all<SessionRow>(
    `SELECT ${COLUMNS} FROM sessions WHERE user_id = ? AND expires_at > ? 
     ORDER BY sessions.id = ? DESC, last_seen_at DESC, sessions.id DESC LIMIT ?`,
    userId,
    nowMs,
    firstId,
    limit,
  )
  return rows.map(toSession)
}

/** The ids of all sessions of a user, those that have run out too. */
export const findSessionIdsOfUser = async (db: Queries, userId: string): Promise<string[]> => {
  const rows = await db.all<{ id: string }>('SELECT id FROM sessions WHERE user_id = ?', userId)
  return rows.map(({ id }) => id)
}

export const countSessions = async (db: Queries, userId: string, nowMs: number): Promise<number> => {
  const row = await db.get<{ count: number }>(
    'SELECT COUNT(*) AS count FROM sessions WHERE user_id = ? AND expires_at > ?',
    userId,
    nowMs,
  )
  return row?.count ?? 0
}

export const insertSession = (db: Queries, session: Session): Promise<number> =>
  db.run(
    `INSERT INTO sessions (id, user_id, salt, generation, replaced_at, created_at, last_seen_at, expires_at,
       absolute_expires_at, user_agent, address, authenticated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    session.id,
    session.userId,
    session.salt,
    session.generation,
    JSON.stringify(session.replacedAtMs),
    session.createdAtMs,
    session.lastSeenAtMs,
    session.expiresAtMs,
    session.absoluteExpiresAtMs,
    session.userAgent,
    session.address,
    session.authenticatedAtMs ?? null,
  )

/** How many sessions were last seen before a time and have not run out, and when the last of them ends. */
export const findLongestUnseen = async (
  db: Queries,
  beforeMs: number,
  nowMs: number,
): Promise<{ count: number; lastEndMs: number | undefined }> => {
  const row = await db.get<{ count: number; last_end: number | null }>(
    'SELECT COUNT(*) AS count, MAX(expires_at) AS last_end FROM sessions WHERE last_seen_at < ? AND expires_at > ?',
    beforeMs,
    nowMs,
  )
  return { count: row?.count ?? 0, lastEndMs: row?.last_end ?? undefined }
}

/** Moves a session on by one generation; 0 when somebody else has done so, or the session is gone. */
export const rotateSession = (db: Pick<Queries, 'run'>, session: Session): Promise<number> =>
  db.run(
    `UPDATE sessions SET generation = ?, replaced_at = ?, last_seen_at = ?, expires_at = ?, user_agent = ?, address = ?
     WHERE id = ? AND generation = ?`,
    session.generation,
    JSON.stringify(session.replacedAtMs),
    session.lastSeenAtMs,
    session.expiresAtMs,
    session.userAgent,
    session.address,
    session.id,
    session.generation - 1,
  )

export const deleteSession = (db: Pick<Queries, 'run'>, id: string): Promise<number> =>
  db.run('DELETE FROM sessions WHERE id = ?', id)

export const deleteSessionOfUser = (db: Pick<Queries, 'run'>, id: string, userId: string): Promise<number> =>
  db.run('DELETE FROM sessions WHERE id = ? AND user_id = ?', id, userId)

/** One login comes upon more than so many too much only where there was no limit before. */
const TOO_MANY_AT_ONCE = 1000

/**
 * Deletes the live sessions of a user that are too many, those longest unseen, and never `newId`. To be called by who holds
 * the user (`lockUserOfSession`). Resolves to their ids.
 */
export const deleteLongestUnseen = async (
  db: Queries,
  { userId, newId, nowMs, most }: { userId: string; newId: string; nowMs: number; most: number },
): Promise<string[]> => {
  const rows = await db.all<{ id: string }>(
    `DELETE FROM sessions WHERE id IN (
       SELECT id FROM sessions WHERE user_id = ? AND expires_at > ? AND id <> ?
       ORDER BY last_seen_at DESC, id DESC LIMIT ${TOO_MANY_AT_ONCE} OFFSET ?)
     RETURNING id`,
    userId,
    nowMs,
    newId,
    most - 1,
  )
  return rows.map(({ id }) => id)
}

/** All of a user's sessions, or all but one. */
export const deleteSessionsOfUser = (db: Queries, userId: string, exceptId = ''): Promise<number> =>
  db.run('DELETE FROM sessions WHERE user_id = ? AND id <> ?', userId, exceptId)

/** The next ids in order, those of all users. */
export const findSessionIds = async (
  db: Queries,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> => {
  const rows = await db.all<{ id: string }>('SELECT id FROM sessions WHERE id > ? ORDER BY id LIMIT ?', after, limit)
  return rows.map(({ id }) => id)
}

/** The sessions between two ids, the last included. */
export const deleteSessionsUpTo = (
  db: Pick<Queries, 'run'>,
  { after, last }: { after: string; last: string },
): Promise<number> => db.run('DELETE FROM sessions WHERE id > ? AND id <= ?', after, last)

/** The next so many sessions in order of id, each with its end, and the time of the server where there is one. */
export const findSessionEnds = (
  db: Queries,
  { after, before, limit }: { after: string; before: string; limit: number },
): Promise<{ id: string; expires_at: number; read_at: number | null }[]> =>
  db.all(
    'SELECT id, expires_at, server_time() AS read_at FROM sessions WHERE id > ? AND id < ? ORDER BY id LIMIT ?',
    after,
    before,
    limit,
  )

/** Of the sessions between two ids, the last included, those whose end has come. */
export const deleteSessionsEndedBy = (
  db: Queries,
  { after, upTo, nowMs }: { after: string; upTo: string; nowMs: number },
): Promise<number> => db.run('DELETE FROM sessions WHERE id > ? AND id <= ? AND expires_at <= ?', after, upTo, nowMs)
