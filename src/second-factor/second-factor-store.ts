import { countWith, insertRow, type Queries } from '../storage/database.ts'
import { updateUpdatedAt } from '../accounts/user-store.ts'
import { deleteSetUp } from './one-time-code-store.ts'

interface StoredCode {
  userId: string
  place: string
  hash: string
}

const idOf = (userId: string, place: string): string => `${userId}/${place}`

/**
 * Finds the hash of the code at a place. It resolves to undefined if the code was used, or made at `madeBeforeMs` or
 * later.
 */
export const findRecoveryHash = async (
  db: Queries,
  { userId, place }: Pick<StoredCode, 'userId' | 'place'>,
  madeBeforeMs: number,
): Promise<string | undefined> => {
  const row = await db.get<{ hash: string }>(
    'SELECT hash FROM recovery_codes WHERE id = ? AND created_at < ?',
    idOf(userId, place),
    madeBeforeMs,
  )
  return row?.hash
}

export const insertRecoveryCode = (db: Queries, { userId, place, hash }: StoredCode, nowMs: number) =>
  insertRow(db, 'recovery_codes', { id: idOf(userId, place), user_id: userId, hash, created_at: nowMs })

/** Uses a code up. It resolves to 0 if another request was first, or if there are new codes. */
export const useRecoveryCode = (db: Queries, { userId, place, hash }: StoredCode): Promise<number> =>
  db.run('DELETE FROM recovery_codes WHERE id = ? AND hash = ?', idOf(userId, place), hash)

export const countRecoveryCodes = (db: Queries, userId: string): Promise<number> =>
  countWith(db, 'SELECT COUNT(*) AS count FROM recovery_codes WHERE user_id = ?', userId)

/** Finds when the newest of them was made; it resolves to undefined if there are none. */
export const findNewestRecoveryCode = async (db: Queries, userId: string): Promise<number | undefined> => {
  const sql = 'SELECT MAX(created_at) AS newest FROM recovery_codes WHERE user_id = ?'
  return (await db.get<{ newest: number | null }>(sql, userId))?.newest ?? undefined
}

export const deleteRecoveryCodes = (db: Queries, userId: string, sinceMs = 0): Promise<number> =>
  db.run('DELETE FROM recovery_codes WHERE user_id = ? AND created_at >= ?', userId, sinceMs)

/** An account has this many of each besides password and providers, whatever the settings allow. */
interface StoredFactors {
  codes: number
  recoveryCodes: number
  passkeys: number
}

/** Finds the factors of the users from one id up to another; users who have none are left out. */
export const findFactorsBetween = (
  db: Pick<Queries, 'all'>,
  firstId: string,
  lastId: string,
): Promise<{ userId: string; codes: number; passkeys: number }[]> =>
  db.all(
    `SELECT user_id AS "userId", SUM(codes) AS codes, SUM(passkeys) AS passkeys FROM (
       SELECT user_id, 1 AS codes, 0 AS passkeys FROM one_time_codes WHERE user_id BETWEEN ? AND ?
       UNION ALL SELECT user_id, 0 AS codes, 1 AS passkeys FROM passkeys WHERE user_id BETWEEN ? AND ?
     ) AS factors GROUP BY user_id`,
    firstId,
    lastId,
    firstId,
    lastId,
  )

const count = (table: string, condition = ''): string =>
  `(SELECT COUNT(*) FROM ${table} WHERE user_id = users.id AND created_at < ?${condition})`

/** Counts the factors that were made before a time, or all of them when it is left out. */
export const countFactors = async (
  db: Pick<Queries, 'get'>,
  userId: string,
  { beforeMs = Number.MAX_SAFE_INTEGER, exceptPasskey = '' }: { beforeMs?: number; exceptPasskey?: string },
): Promise<StoredFactors> => {
  const row = await db.get<{ codes: number; recovery_codes: number; passkeys: number }>(
    `SELECT ${count('one_time_codes')} AS codes, ${count('recovery_codes')} AS recovery_codes,
       ${count('passkeys', ' AND id <> ?')} AS passkeys
     FROM users WHERE id = ?`,
    beforeMs,
    beforeMs,
    beforeMs,
    exceptPasskey,
    userId,
  )
  return { codes: row?.codes ?? 0, recoveryCodes: row?.recovery_codes ?? 0, passkeys: row?.passkeys ?? 0 }
}

/**
 * Deletes recovery codes of an account that has neither one-time codes nor a passkey any longer: nothing is left that
 * they could stand for. It must be called after one of these was deleted.
 */
export const deleteUselessRecoveryCodes = (db: Queries, userId: string): Promise<number> =>
  db.run(
    `DELETE FROM recovery_codes WHERE user_id = ?
       AND NOT EXISTS (SELECT 1 FROM one_time_codes WHERE user_id = ?)
       AND NOT EXISTS (SELECT 1 FROM passkeys WHERE user_id = ?)`,
    userId,
    userId,
    userId,
  )

/**
 * Deletes recovery codes that were made at `sinceMs` or later: a thief may have made them with a passkey, and then
 * removed it. It must be called after such a passkey was deleted, or was found gone already.
 */
export const deleteRecoveryCodesSince = async (db: Queries, userId: string, sinceMs: number): Promise<void> => {
  await deleteRecoveryCodes(db, userId, sinceMs)
  await deleteUselessRecoveryCodes(db, userId)
}

/** Deletes the authenticator app and the recovery codes of a user that were made at `sinceMs` or later. */
export const deleteCodesSince = async (
  db: Queries,
  { userId, sinceMs, nowMs }: { userId: string; sinceMs: number; nowMs: number },
): Promise<{ codes: boolean; recoveryCodes: number }> => {
  const codes = await deleteSetUp(db, userId, sinceMs)
  // The server API shows if there is an app.
  if (codes > 0) await updateUpdatedAt(db, userId, nowMs)
  const recoveryCodes = await deleteRecoveryCodes(db, userId, sinceMs)
  return { codes: codes > 0, recoveryCodes: recoveryCodes + (await deleteUselessRecoveryCodes(db, userId)) }
}
