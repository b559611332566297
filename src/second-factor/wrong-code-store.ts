import { CODES_IN_A_ROW } from '../limits/limit-table.ts'
import type { Queries } from '../storage/database.ts'

/** Wrong codes count in these rows: in browsers that the account does not know, on the pages of links, and anywhere. */
export type CodeRow = keyof typeof CODES_IN_A_ROW

const COLUMN_OF: Record<CodeRow, string> = {
  anywhere: 'wrong_anywhere',
  browsers: 'wrong_in_a_row',
  links: 'wrong_on_links',
}

/** Lists the columns of the rows, each with its limit. */
export const limitedColumns = (rows: readonly CodeRow[]): { column: string; limit: number }[] =>
  rows.map((row) => ({ column: COLUMN_OF[row], limit: CODES_IN_A_ROW[row] }))

/**
 * Counts a code that may be wrong. It resolves to 0 if one of the rows has reached its limit, or if there is no app.
 */
export const countInARow = (db: Queries, userId: string, rows: readonly CodeRow[]): Promise<number> => {
  const limited = limitedColumns(rows)
  return db.run(
    `UPDATE one_time_codes SET ${limited.map(({ column }) => `${column} = ${column} + 1`).join(', ')}
     WHERE user_id = ?${limited.map(({ column }) => ` AND ${column} < ?`).join('')}`,
    userId,
    ...limited.map(({ limit }) => limit),
  )
}

/** Finds the first row that has reached its limit. It resolves to undefined if none has, or if there is no app. */
export const findFullRow = async (
  db: Queries,
  userId: string,
  rows: readonly CodeRow[],
): Promise<CodeRow | undefined> => {
  const columns = Object.values(COLUMN_OF).join(', ')
  const found = await db.get<Record<string, number>>(`SELECT ${columns} FROM one_time_codes WHERE user_id = ?`, userId)
  return rows.find((row) => (found?.[COLUMN_OF[row]] ?? 0) >= CODES_IN_A_ROW[row])
}

/** Takes back the count of a code that was not wrong. */
export const discountInARow = (db: Queries, userId: string, rows: readonly CodeRow[]): Promise<number> => {
  const less = rows.map(
    (row) => `${COLUMN_OF[row]} = CASE WHEN ${COLUMN_OF[row]} > 0 THEN ${COLUMN_OF[row]} - 1 ELSE 0 END`,
  )
  return db.run(`UPDATE one_time_codes SET ${less.join(', ')} WHERE user_id = ?`, userId)
}

/** Accepts codes everywhere again, after a new password. */
export const forgetWrongCodes = (db: Queries, userId: string): Promise<number> =>
  db.run(
    `UPDATE one_time_codes SET wrong_in_a_row = 0, wrong_on_links = 0, wrong_anywhere = 0
     WHERE user_id = ? AND wrong_in_a_row + wrong_on_links + wrong_anywhere > 0`,
    userId,
  )

/** Ends the row of wrong codes over all places, after a right recovery code or passkey. */
export const endRowAnywhere = (db: Queries, userId: string): Promise<number> =>
  db.run('UPDATE one_time_codes SET wrong_anywhere = 0 WHERE user_id = ? AND wrong_anywhere > 0', userId)
