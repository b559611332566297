import {
  columnsOf,
  countWith,
  type Database,
  insertRow,
  type Queries,
  type TableRow,
  type Transaction,
} from '../storage/database.ts'
import type { CachedGrant, Grant, GrantWithUser } from './grant.ts'

type GrantRow = TableRow<'grants'>

const COLUMNS = columnsOf('grants').replace(/\w+/g, 'grants.$&')

interface GrantWithUserRow extends GrantRow {
  email: string
  username: string
  roles: string
  disabled: number
  updated_at: number
  email_verified_at: number | null
  disabled_at: number | null
  session_expires_at: number | null
  newest_key_id: string | null
  read_at: number | null
}

const SELECT = `SELECT ${COLUMNS}, email, username, users.roles AS roles, disabled, users.updated_at AS updated_at,
  email_verified_at, clients.disabled_at AS disabled_at, sessions.expires_at AS session_expires_at,
  (SELECT id FROM signing_keys WHERE retired_at IS NULL ORDER BY created_at DESC, id LIMIT 1) AS newest_key_id,
  server_time() AS read_at
  FROM grants JOIN users ON users.id = grants.user_id JOIN clients ON clients.id = grants.client_id
  LEFT JOIN sessions ON sessions.id = grants.session_id`

const toWords = (text: string | null): string[] => (text ? text.split(' ') : [])

const toGrant = (row: GrantRow): Grant => ({
  id: row.id,
  userId: row.user_id,
  clientId: row.client_id,
  sessionId: row.session_id ?? undefined,
  salt: row.salt,
  generation: row.generation,
  replacedAtMs: JSON.parse(row.replaced_at) as number[],
  createdAtMs: row.created_at,
  lastUsedAtMs: row.last_used_at,
  expiresAtMs: row.expires_at,
  absoluteExpiresAtMs: row.absolute_expires_at,
  scopes: toWords(row.scopes),
  resource: row.resource ?? undefined,
  authenticatedAtMs: row.authenticated_at ?? undefined,
  amr: toWords(row.amr) as Grant['amr'],
})

const toGrantWithUser = (row: GrantWithUserRow): GrantWithUser => ({
  ...toGrant(row),
  user: {
    email: row.email,
    emailVerified: row.email_verified_at !== null,
    username: row.username,
    roles: JSON.parse(row.roles) as string[],
    disabled: row.disabled === 1,
    updatedAtMs: row.updated_at,
  },
  isClientDisabled: row.disabled_at !== null,
  sessionExpiresAtMs: row.session_expires_at ?? undefined,
  newestKeyId: row.newest_key_id ?? '',
  readAtMs: row.read_at ?? undefined,
})

const toCachedGrant = (row: GrantWithUserRow): CachedGrant => ({ grant: toGrantWithUser(row), refreshToken: undefined })

/** The row that every request with a token of a client asks for. */
export const cacheGrants = (db: Database) =>
  db.cachedRow<GrantWithUserRow, CachedGrant>({ select: SELECT, key: 'grants.id', mapRow: toCachedGrant })

/** Finds a grant in the transaction that has inserted it. */
export const findNewGrant = async (transaction: Transaction, id: string): Promise<CachedGrant> => {
  const row = await transaction.get<GrantWithUserRow>(`${SELECT} WHERE grants.id = ?`, id)
  if (!row) throw new Error('The grant that was inserted is not there.')
  return toCachedGrant(row)
}

export const insertGrant = (db: Pick<Queries, 'run'>, grant: Grant): Promise<number> =>
  insertRow(db, 'grants', {
    id: grant.id,
    user_id: grant.userId,
    client_id: grant.clientId,
    session_id: grant.sessionId ?? null,
    salt: grant.salt,
    generation: grant.generation,
    replaced_at: JSON.stringify(grant.replacedAtMs),
    created_at: grant.createdAtMs,
    last_used_at: grant.lastUsedAtMs,
    expires_at: grant.expiresAtMs,
    absolute_expires_at: grant.absoluteExpiresAtMs,
    scopes: grant.scopes.join(' '),
    resource: grant.resource ?? null,
    authenticated_at: grant.authenticatedAtMs ?? null,
    amr: grant.amr.length > 0 ? grant.amr.join(' ') : null,
  })

export const updateRotatedGrant = (db: Pick<Queries, 'run'>, grant: Grant, deadlineMs: number): Promise<number> =>
  db.run(
    `UPDATE grants SET generation = ?, replaced_at = ?, last_used_at = ?, expires_at = ?
     WHERE id = ? AND generation = ? AND COALESCE(server_time(), 0) <= ?`,
    grant.generation,
    JSON.stringify(grant.replacedAtMs),
    grant.lastUsedAtMs,
    grant.expiresAtMs,
    grant.id,
    grant.generation - 1,
    deadlineMs,
  )

export const updateUnansweredGrant = (
  db: Pick<Queries, 'run'>,
  { id, generation, replacedAtMs }: Grant,
): Promise<number> =>
  db.run(
    'UPDATE grants SET generation = ?, replaced_at = ? WHERE id = ? AND generation IN (?, ?)',
    generation,
    JSON.stringify(replacedAtMs),
    id,
    generation - 1,
    generation,
  )

/** Writes that a grant was used whose token stays the same; it resolves to 0 when the grant has ended. */
export const updateGrantUse = (
  db: Pick<Queries, 'run'>,
  { id, lastUsedAtMs, expiresAtMs }: Pick<Grant, 'id' | 'lastUsedAtMs' | 'expiresAtMs'>,
): Promise<number> =>
  db.run('UPDATE grants SET last_used_at = ?, expires_at = ? WHERE id = ?', lastUsedAtMs, expiresAtMs, id)

interface AboveLimit {
  userId: string
  /** Grants of this client alone count. */
  clientId?: string | undefined
  newId: string
  nowMs: number
  limit: number
}

/** No more exist above a limit than from before there was one. */
const MOST_AT_ONCE = 1000

/** Finds the live grants above a limit: those that were not used for longest, and never `newId`. The user is locked. */
export const findGrantsAboveLimit = async (
  db: Queries,
  { userId, clientId, newId, nowMs, limit }: AboveLimit,
): Promise<string[]> => {
  const ofClient = clientId === undefined ? '' : ' AND client_id = ?'
  const values = [userId, nowMs, newId, clientId, limit - 1].filter((value) => value !== undefined)
  const rows = await db.all<{ id: string }>(
    `SELECT id FROM grants WHERE user_id = ? AND expires_at > ? AND id <> ?${ofClient}
     ORDER BY last_used_at DESC, id DESC LIMIT ${MOST_AT_ONCE} OFFSET ?`,
    ...values,
  )
  return rows.map(({ id }) => id)
}

/** Finds the live grants of a user or of a client, the last used first. */
export const findLiveGrants = async (
  db: Pick<Queries, 'all'>,
  of: { userId: string } | { clientId: string },
  nowMs: number,
): Promise<Grant[]> => {
  const [column, value] = 'userId' in of ? ['user_id', of.userId] : ['client_id', of.clientId]
  const rows = await db.all<GrantRow>(
    `SELECT ${COLUMNS} FROM grants LEFT JOIN sessions ON sessions.id = grants.session_id
     WHERE grants.${column} = ? AND grants.expires_at > COALESCE(server_time(), ?)
     AND (grants.session_id IS NULL OR sessions.expires_at > COALESCE(server_time(), ?))
     ORDER BY last_used_at DESC, grants.id DESC`,
    value,
    nowMs,
    nowMs,
  )
  return rows.map(toGrant)
}

/** Counts the grants of a client that have not expired, up to a number. */
export const countGrantsOfClient = (
  db: Pick<Queries, 'get'>,
  { clientId, nowMs, most }: { clientId: string; nowMs: number; most: number },
): Promise<number> =>
  countWith(
    db,
    `SELECT COUNT(*) AS count FROM
       (SELECT 1 AS one FROM grants WHERE client_id = ? AND expires_at > COALESCE(server_time(), ?) LIMIT ?) AS counted`,
    clientId,
    nowMs,
    most,
  )
