import type { Queries } from '../storage/database.ts'
import { type CodeRow, limitedColumns } from './wrong-code-store.ts'

export interface CodeSetUp {
  userId: string
  secretSealed: string
  /** The time tells this set-up from one that replaces it. */
  createdAtMs: number
  lastUsedStep: number
}

export const findSetUp = (db: Queries, userId: string): Promise<CodeSetUp | undefined> =>
  db.get(
    `SELECT user_id AS "userId", secret_sealed AS "secretSealed", created_at AS "createdAtMs",
       last_used_step AS "lastUsedStep"
     FROM one_time_codes WHERE user_id = ?`,
    userId,
  )

/** Changes nothing if there is one already. */
export const insertSetUp = (db: Queries, setUp: CodeSetUp): Promise<number> =>
  db.run(
    `INSERT INTO one_time_codes (user_id, secret_sealed, created_at, last_used_step, wrong_in_a_row)
     VALUES (?, ?, ?, ?, 0) ON CONFLICT (user_id) DO NOTHING`,
    setUp.userId,
    setUp.secretSealed,
    setUp.createdAtMs,
    setUp.lastUsedStep,
  )

/** Changes nothing if the one that was made at `replacedMs` is gone. Wrong codes in a row stay counted. */
export const replaceSetUp = (db: Queries, setUp: CodeSetUp, replacedMs: number): Promise<number> =>
  db.run(
    `UPDATE one_time_codes SET secret_sealed = ?, created_at = ?, last_used_step = ?
     WHERE user_id = ? AND created_at = ?`,
    setUp.secretSealed,
    setUp.createdAtMs,
    setUp.lastUsedStep,
    setUp.userId,
    replacedMs,
  )

export const deleteSetUp = (db: Queries, userId: string, sinceMs: number): Promise<number> =>
  db.run('DELETE FROM one_time_codes WHERE user_id = ? AND created_at >= ?', userId, sinceMs)

/**
 * Uses the code of a step up, and every earlier one. It resolves to 0 if that was done before, or if the app was
 * replaced. It ends these rows of wrong codes if they have not reached their limit.
 */
export const useStep = (
  db: Queries,
  { userId, createdAtMs }: CodeSetUp,
  step: number,
  rows: readonly CodeRow[],
): Promise<number> => {
  const limited = limitedColumns(rows)
  return db.run(
    `UPDATE one_time_codes SET last_used_step = ?
       ${limited.map(({ column }) => `, ${column} = CASE WHEN ${column} < ? THEN 0 ELSE ${column} END`).join('')}
     WHERE user_id = ? AND created_at = ? AND last_used_step < ?`,
    step,
    ...limited.map(({ limit }) => limit),
    userId,
    createdAtMs,
    step,
  )
}

/** It holds a secret as it is stored, and the same secret sealed again. */
export interface SealedSecret {
  userId: string
  sealed: string
  again: string
}

/** Finds secrets that were made at `sinceMs` or later, in the order of their users, from the one after `after`. */
export const findSetUpsAfter = (
  db: Queries,
  { after, limit, sinceMs }: { after: string; limit: number; sinceMs: number },
): Promise<Pick<SealedSecret, 'userId' | 'sealed'>[]> =>
  db.all(
    `SELECT user_id AS "userId", secret_sealed AS sealed FROM one_time_codes
     WHERE user_id > ? AND created_at >= ? ORDER BY user_id LIMIT ?`,
    after,
    sinceMs,
    limit,
  )

/** Changes nothing if the app was replaced since. */
export const replaceSealedSecret = (db: Queries, { userId, sealed, again }: SealedSecret): Promise<number> =>
  db.run('UPDATE one_time_codes SET secret_sealed = ? WHERE user_id = ? AND secret_sealed = ?', again, userId, sealed)
