import type { Queries } from '../storage/database.ts'

/**
 * Where wrong codes in a row are counted: in browsers that the account does not know, on the pages of links, and wherever
 * a code is entered.
 */
const CODE_ROWS = ['anywhere', 'browsers', 'links'] as const

export type CodeRow = (typeof CODE_ROWS)[number]

/** How many there may be in each of these rows. */
export type RowLimits = Partial<Record<CodeRow, number>>

const COLUMN_OF: Record<CodeRow, string> = {
  browsers: 'wrong_in_a_row',
  links: 'wrong_on_links',
  anywhere: 'wrong_anywhere',
}

/** The rows of the limits, with their columns. */
export const rowsOf = (limits: RowLimits): { row: CodeRow; column: string; limit: number }[] =>
  CODE_ROWS.flatMap((row) => {
    const limit = limits[row]
    return limit === undefined ? [] : [{ row, column: COLUMN_OF[row], limit }]
  })

/** Counts a code that may be wrong; 0 where one of the rows has reached its limit, or there is no app. */
export const countInARow = (db: Queries, userId: string, limits: RowLimits): Promise<number> => {
  const rows = rowsOf(limits)
  return db.run(
    `UPDATE one_time_codes SET ${rows.map(({ column }) => `${column} = ${column} + 1`).join(', ')}
     WHERE user_id = ?${rows.map(({ column }) => ` AND ${column} < ?`).join('')}`,
    userId,
    ...rows.map(({ limit }) => limit),
  )
}

/** The first of the rows that has reached its limit; undefined where none has, as where there is no app. */
export const findFullRow = async (db: Queries, userId: string, limits: RowLimits): Promise<CodeRow | undefined> => {
  const columns = Object.values(COLUMN_OF).join(', ')
  const found = await db.get<Record<string, number>>(`SELECT ${columns} FROM one_time_codes WHERE user_id = ?`, userId)
  return rowsOf(limits).find(({ column, limit }) => (found?.[column] ?? 0) >= limit)?.row
}

/** The code that was counted was not wrong. */
export const discountInARow = (db: Queries, userId: string, limits: RowLimits): Promise<number> => {
  const less = rowsOf(limits).map(({ column }) => `${column} = CASE WHEN ${column} > 0 THEN ${column} - 1 ELSE 0 END`)
  return db.run(`UPDATE one_time_codes SET ${less.join(', ')} WHERE user_id = ?`, userId)
}

/** With a new password, codes are accepted everywhere again. */
export const forgetWrongCodes = (db: Queries, userId: string): Promise<number> =>
  db.run(
    `UPDATE one_time_codes SET wrong_in_a_row = 0, wrong_on_links = 0, wrong_anywhere = 0
     WHERE user_id = ? AND wrong_in_a_row + wrong_on_links + wrong_anywhere > 0`,
    userId,
  )

/** A recovery code or a passkey was right: the row of wrong codes over all places ends. */
export const endRowAnywhere = (db: Queries, userId: string): Promise<number> =>
  db.run('UPDATE one_time_codes SET wrong_anywhere = 0 WHERE user_id = ? AND wrong_anywhere > 0', userId)
