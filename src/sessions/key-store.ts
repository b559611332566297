import type { JsonWebKey } from 'node:crypto'
import type { Queries } from '../storage/database.ts'

export interface KeyRecord {
  /** `kid`: the JWK thumbprint (RFC 7638) */
  id: string
  publicJwk: JsonWebKey
  privateJwkSealed: string
  createdAtMs: number
  retiredAtMs: number | null
}

interface KeyRow {
  id: string
  public_jwk: string
  private_jwk_sealed: string
  created_at: number
  retired_at: number | null
}

/** Newest first. */
export const findKeys = async (db: Queries): Promise<KeyRecord[]> => {
  const rows = await db.all<KeyRow>(
    `SELECT id, public_jwk, private_jwk_sealed, created_at, retired_at FROM signing_keys
     ORDER BY created_at DESC, id`,
  )
  return rows.map((row) => ({
    id: row.id,
    publicJwk: JSON.parse(row.public_jwk) as JsonWebKey,
    privateJwkSealed: row.private_jwk_sealed,
    createdAtMs: row.created_at,
    retiredAtMs: row.retired_at,
  }))
}

/** Lets one process at a time decide which key signs, until its transaction ends. */
export const lockKeys = (db: Queries): Promise<number> =>
  db.run(`INSERT INTO installation (name, value) VALUES ('lock signing_keys', '')
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`)

export const insertKey = (db: Queries, key: KeyRecord): Promise<number> =>
  db.run(
    'INSERT INTO signing_keys (id, public_jwk, private_jwk_sealed, created_at, retired_at) VALUES (?, ?, ?, ?, ?)',
    key.id,
    JSON.stringify(key.publicJwk),
    key.privateJwkSealed,
    key.createdAtMs,
    key.retiredAtMs,
  )

export const retireKeys = (db: Queries, nowMs: number): Promise<number> =>
  db.run('UPDATE signing_keys SET retired_at = ? WHERE retired_at IS NULL', nowMs)

export const deleteKeysRetiredBefore = (db: Queries, timeMs: number): Promise<number> =>
  db.run('DELETE FROM signing_keys WHERE retired_at < ?', timeMs)
