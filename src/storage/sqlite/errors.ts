import { AppError, unavailable } from '../../lib/errors.ts'
import { NO_TABLES, OTHER_TABLES, UniqueViolation } from '../database.ts'

const UNIQUE = 2067
const PRIMARY_KEY = 1555

// A retry or an operator can mend these failures (https://www.sqlite.org/rescode.html).
const TRANSIENT_FAILURES: Record<number, string> = {
  5: 'is locked',
  6: 'is locked',
  7: 'ran out of memory',
  8: 'is read-only',
  10: 'cannot be read or written',
  11: 'is damaged',
  13: 'is full',
  14: 'cannot be opened',
  26: 'is not a database file',
}

/** SQLite has no code of its own for a name in a statement that the schema lacks. */
const NO_SUCH_TABLE = /^no such table: /
const NO_SUCH_COLUMN = /^(?:no such column: |table \S+ has no column named )/

const describeFailure = (code: number, message: string): string | undefined => {
  if (code === 1 && NO_SUCH_TABLE.test(message)) return NO_TABLES
  if (code === 1 && NO_SUCH_COLUMN.test(message)) return OTHER_TABLES
  return TRANSIENT_FAILURES[code & 0xff]
}

const resultCode = (error: unknown): number | undefined => {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined
  return typeof code === 'number' ? code : undefined
}

/** Tells whether another connection holds the lock. */
export const isBusy = (error: unknown): boolean => [5, 6].includes((resultCode(error) ?? 0) & 0xff)

/** Turns an error of SQLite into one that `Database` documents. */
export const translateSqliteError = (error: unknown): unknown => {
  const code = resultCode(error)
  if (code === undefined || !(error instanceof Error)) return error
  if (code === UNIQUE || code === PRIMARY_KEY) {
    return new UniqueViolation(error.message.replace(/^.*failed: /, '').split(', '), error)
  }
  const failure = describeFailure(code, error.message)
  if (failure) return unavailable(`The database ${failure}.`, error)
  return new AppError('internal_error', 'The database refused a statement.', { cause: error })
}
