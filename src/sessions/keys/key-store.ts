import type { JsonWebKey } from 'node:crypto'
import { insertRow, type Queries } from '../../storage/database.ts'

/** It is a signing key. Times are in milliseconds since 1970. */
export interface KeyRecord {
  /** It is `kid`, the JWK thumbprint (RFC 7638). */
  id: string
  publicJwk: JsonWebKey
  privateJwkSealed: string
  createdAtMs: number
  /** The key signs from this time on; it is null if it signs since it was created. */
  signsAtMs: number | null
  /** The next key signs in its place from this time on; it is null for the newest key. */
  retiredAtMs: number | null
  /** None of its tokens is accepted since this time; it is null if they are accepted until they expire. */
  revokedAtMs: number | null
}

/** Lists the newest first. */
export const findKeys = async (db: Queries): Promise<KeyRecord[]> => {
  const rows = await db.all<Omit<KeyRecord, 'publicJwk'> & { publicJwk: string }>(
    `SELECT id, public_jwk AS "publicJwk", private_jwk_sealed AS "privateJwkSealed", created_at AS "createdAtMs",
       signs_at AS "signsAtMs", retired_at AS "retiredAtMs", revoked_at AS "revokedAtMs"
     FROM signing_keys ORDER BY created_at DESC, id`,
  )
  return rows.map((row) => ({ ...row, publicJwk: JSON.parse(row.publicJwk) as JsonWebKey }))
}

/** Lets one process at a time decide which key signs, until its transaction ends. */
export const lockKeys = (db: Queries): Promise<number> =>
  db.run(`INSERT INTO installation (name, value) VALUES ('lock signing_keys', '')
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`)

export const insertKey = (db: Queries, key: KeyRecord): Promise<number> =>
  insertRow(db, 'signing_keys', {
    id: key.id,
    public_jwk: JSON.stringify(key.publicJwk),
    private_jwk_sealed: key.privateJwkSealed,
    created_at: key.createdAtMs,
    signs_at: key.signsAtMs,
    retired_at: key.retiredAtMs,
    revoked_at: key.revokedAtMs,
  })

/** Lets the newest key sign until a time, which may be in the future. */
export const retireKeys = (db: Queries, timeMs: number): Promise<number> =>
  db.run('UPDATE signing_keys SET retired_at = ? WHERE retired_at IS NULL', timeMs)

/** Revokes all keys, which retire with it: none of their tokens is accepted any more. */
export const revokeKeys = (db: Queries, nowMs: number): Promise<number> =>
  db.run('UPDATE signing_keys SET retired_at = 0, revoked_at = ? WHERE revoked_at IS NULL', nowMs)

/** Deletes keys that have retired, or were revoked, before a time. */
export const deleteKeysRetiredBefore = (db: Queries, timeMs: number): Promise<number> =>
  db.run('DELETE FROM signing_keys WHERE retired_at IS NOT NULL AND COALESCE(revoked_at, retired_at) < ?', timeMs)

export const replaceSealed = (db: Queries, id: string, privateJwkSealed: string): Promise<number> =>
  db.run('UPDATE signing_keys SET private_jwk_sealed = ? WHERE id = ?', privateJwkSealed, id)

const RESEALED = 'root secret since'

/** Records when the keys were sealed with another root secret. */
export const recordResealing = (db: Queries, nowMs: number): Promise<number> =>
  db.run(
    'INSERT INTO installation (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    RESEALED,
    String(nowMs),
  )

/** Gives the time in milliseconds since 1970; it resolves to undefined when the root secret was never rotated. */
export const findResealedAt = async (db: Queries): Promise<number | undefined> => {
  const row = await db.get<{ value: string }>('SELECT value FROM installation WHERE name = ?', RESEALED)
  return row && Number(row.value)
}
