import { AppError } from '../../lib/errors.ts'
import { type Dialect, UniqueViolation } from '../database.ts'
import type { Row } from '../rows.ts'
import type { Table } from '../tables.ts'

/** Tells the operator what to do when the copy can no longer become equal. */
export const START_OVER =
  'Another process wrote to one of the databases during the copy: stop every svc that uses them, and copy to a new, empty database.'

/** SQLSTATE and SQLite's extended result code of a violated foreign key. */
const FOREIGN_KEY = { code: '23503', errcode: 787 }

const isConstraintViolation = (error: unknown): boolean => {
  if (error instanceof UniqueViolation) return true
  const cause = error instanceof AppError ? error.cause : undefined
  if (!(cause instanceof Error)) return false
  return 'errcode' in cause ? cause.errcode === FOREIGN_KEY.errcode : 'code' in cause && cause.code === FOREIGN_KEY.code
}

const copyError = (message: string, error?: unknown): AppError => {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  return new AppError('internal_error', message, { cause })
}

/** The error for a row of the source that cannot be copied, with its key. */
export const invalidRow = ({ name }: Table, key: unknown, wrong: string): AppError =>
  copyError(
    `${name} has a row that cannot be copied, ${JSON.stringify(key)}: ${wrong}. Correct it, and copy again to a new, empty database.`,
  )

/** Turns the error of inserting these rows into one that tells an operator what to do. */
export const explainInsertError = (error: unknown, table: Table, rows: Row[], dialect: Dialect): unknown => {
  if (error instanceof AppError && error.code === 'unavailable') return error
  // A row without its user, or with the email of another user, was written after the other rows had been read.
  if (isConstraintViolation(error)) {
    return copyError(`Rows of ${table.name} do not fit those that were copied before. ${START_OVER}`, error)
  }
  const [key] = table.columns
  const keys = `${JSON.stringify(rows[0]?.[key])} to ${JSON.stringify(rows.at(-1)?.[key])}`
  return (
    (dialect === 'postgres' && findNul(table, rows)) ||
    copyError(`The target does not take one of the rows of ${table.name} from ${keys}.`, error)
  )
}

/** Finds a value that PostgreSQL cannot hold. */
const findNul = (table: Table, rows: Row[]): AppError | undefined => {
  const [key] = table.columns
  for (const row of rows) {
    const column = table.columns.find((name) => String(row[name]).includes('\0'))
    if (column) return invalidRow(table, row[key], `${column} has a NUL character, which PostgreSQL cannot hold`)
  }
  return undefined
}
