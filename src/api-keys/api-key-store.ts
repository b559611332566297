import { columnsOf, type Database, insertRow, type Queries, type TableRow } from '../storage/database.ts'
import type { ApiKey, Scope } from './api-key.ts'

type ApiKeyRow = Omit<TableRow<'api_keys'>, 'key_hash'>

const COLUMNS = columnsOf('api_keys', 'key_hash')

const toApiKey = (row: ApiKeyRow): ApiKey => ({
  id: row.id,
  name: row.name,
  scopes: JSON.parse(row.scopes) as Scope[],
  createdAtMs: row.created_at,
  expiresAtMs: row.expires_at ?? undefined,
  revokedAtMs: row.revoked_at ?? undefined,
  lastUsedAtMs: row.last_used_at ?? undefined,
})

export const insertApiKey = (db: Queries, key: ApiKey, keyHash: string): Promise<number> =>
  insertRow(db, 'api_keys', {
    id: key.id,
    name: key.name,
    key_hash: keyHash,
    scopes: JSON.stringify(key.scopes),
    created_at: key.createdAtMs,
    expires_at: key.expiresAtMs ?? null,
  })

/** Finds all keys, the newest first. */
export const findApiKeys = async (db: Queries): Promise<ApiKey[]> => {
  const rows = await db.all<ApiKeyRow>(`SELECT ${COLUMNS} FROM api_keys ORDER BY id DESC`)
  return rows.map(toApiKey)
}

/** Finds the keys with an id or a name, those first that are not revoked. */
export const findApiKeysNamed = async (db: Queries, nameOrId: string): Promise<ApiKey[]> => {
  const rows = await db.all<ApiKeyRow>(
    `SELECT ${COLUMNS} FROM api_keys WHERE id = ? OR name = ? ORDER BY revoked_at IS NOT NULL, id DESC`,
    nameOrId,
    nameOrId,
  )
  return rows.map(toApiKey)
}

/** Resolves to 0 when the key was revoked before. */
export const revokeApiKey = (db: Queries, id: string, nowMs: number): Promise<number> =>
  db.run('UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL', nowMs, id)

/** Moves the time of the last use forward. */
export const updateLastUse = (db: Pick<Queries, 'run'>, id: string, nowMs: number): Promise<number> =>
  db.run('UPDATE api_keys SET last_used_at = ? WHERE id = ? AND COALESCE(last_used_at, 0) < ?', nowMs, id, nowMs)

interface KeyByHashRow extends Omit<ApiKeyRow, 'id'> {
  /** The hash of the key, by which the row is asked for. */
  id: string
  key_id: string
  read_at: number | null
}

/** A key with the time of the database's server as it was read; undefined where there is no server. */
export interface FoundApiKey extends ApiKey {
  readAtMs: number | undefined
}

/** The row that every request of the server API asks for, by the hash of the key. */
export const cacheApiKeys = <Kept>(db: Database, keep: (key: FoundApiKey) => Kept) =>
  db.cachedRow<KeyByHashRow, Kept>({
    select: `SELECT key_hash AS id, id AS key_id, ${columnsOf('api_keys', 'key_hash', 'id')},
      server_time() AS read_at FROM api_keys`,
    key: 'key_hash',
    mapRow: (row) => keep({ ...toApiKey({ ...row, id: row.key_id }), readAtMs: row.read_at ?? undefined }),
  })
