import { createHash } from 'node:crypto'
import { AppError } from '../../lib/errors.ts'
import { type Dialect, type Queries, UniqueViolation } from '../database.ts'
import type { Row } from '../rows.ts'
import type { Table } from '../tables.ts'

/** `npm run bench:copy` measured this: more rows at once are no faster, and cost memory. */
const PAGE_ROWS = 1000

/**
 * The conditions select the rows that are copied; all rows of the other tables are. Rows of `installation` that belong
 * to one database stay there: leases and locks of processes, and the records of migrations, of a copy and of an index.
 */
export const COPIED_ROWS: Readonly<Record<string, string>> = {
  installation: `name NOT LIKE 'lease %' AND name NOT LIKE 'lock %' AND name NOT IN ('schema works with', 'copy', 'users indexed')`,
}

const where = ({ name }: Table, condition: string): string =>
  COPIED_ROWS[name] ? `${condition} AND ${COPIED_ROWS[name]}` : condition

export const keyOf = ({ columns: [key] }: Table, row: Row | undefined): string => String(row?.[key])

/**
 * Reads the rows after a key in the order of keys, page by page; all rows when the key is empty. Throws an error that
 * names the row when a value has a type that svc never writes.
 */
export async function* readPages(db: Queries, table: Table, after: string): AsyncGenerator<Row[]> {
  const { name, columns } = table
  const [key] = columns
  const sql = `SELECT ${columns.join(', ')} FROM ${name} WHERE ${where(table, `${key} > ?`)} ORDER BY ${key} LIMIT ${PAGE_ROWS}`
  for (let last = after; ; ) {
    const rows = await db.all<Row>(sql, last).catch(async (error: unknown) => {
      throw (await findUnsafeInteger(db, table, last, error)) ?? error
    })
    for (const row of rows) checkRow(table, row)
    if (rows.length > 0) yield rows
    if (rows.length < PAGE_ROWS) return
    last = keyOf(table, rows.at(-1))
  }
}

const NOT_A_SAFE_INTEGER = `holds no whole number from -${Number.MAX_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`

/** Checks the types of values: SQLite stores any type in any column. */
const checkRow = (table: Table, row: Row): void => {
  for (const column of table.columns) {
    const value: unknown = row[column]
    if (value === null || typeof value === 'string' || typeof value === 'number') continue
    throw invalidRow(table, row[table.columns[0]], `${column} holds bytes, and no text`)
  }
  for (const column of table.integerColumns) {
    if (row[column] === null || Number.isSafeInteger(row[column])) continue
    throw invalidRow(table, row[table.columns[0]], `${column} ${NOT_A_SAFE_INTEGER}`)
  }
}

/**
 * Finds the row that Node refused to read, because a number is too large to be exact; Node's error does not name it.
 */
const findUnsafeInteger = async (db: Queries, table: Table, after: string, error: unknown) => {
  if (!(error instanceof Error && 'code' in error && error.code === 'ERR_OUT_OF_RANGE')) return undefined
  const [key] = table.columns
  for (const column of table.integerColumns) {
    const isTooGreat = `typeof(${column}) = 'integer' AND abs(${column} / 2) > ${Number.MAX_SAFE_INTEGER / 2}`
    const sql = `SELECT ${key} AS found FROM ${table.name} WHERE ${where(table, `${key} > ? AND ${isTooGreat}`)} LIMIT 1`
    const row = await db.get<{ found: string }>(sql, after)
    if (row) return invalidRow(table, row.found, `${column} ${NOT_A_SAFE_INTEGER}`)
  }
  return undefined
}

export const countRows = async (db: Queries, table: Table): Promise<number> => {
  const sql = `SELECT count(*) AS rows_there FROM ${table.name} WHERE ${where(table, '1 = 1')}`
  const row = await db.get<{ rows_there: number }>(sql)
  return row?.rows_there ?? 0
}

export interface TableDigest {
  rows: number
  /** This is SHA-256 in hex over each row in the order of keys: its values as a JSON array, and a line end. */
  sha256: string
}

/** Reads a whole table, so that databases of different kinds can be compared. */
export const digestTable = async (db: Queries, table: Table, onRows: (count: number) => void): Promise<TableDigest> => {
  const hash = createHash('sha256')
  let count = 0
  for await (const rows of readPages(db, table, '')) {
    for (const row of rows) hash.update(`${JSON.stringify(table.columns.map((column) => row[column]))}\n`)
    count += rows.length
    onRows(count)
  }
  return { rows: count, sha256: hash.digest('hex') }
}

export const START_OVER =
  'Another process wrote to one of the databases during the copy: stop every svc that uses them, and copy to a new, empty database.'

/** SQLSTATE and SQLite's extended result code stand for a violated foreign key. */
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

const invalidRow = ({ name }: Table, key: unknown, wrong: string): AppError =>
  copyError(
    `${name} has a row that cannot be copied, ${JSON.stringify(key)}: ${wrong}. Correct it, and copy again to a new, empty database.`,
  )

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

const findNul = (table: Table, rows: Row[]): AppError | undefined => {
  const [key] = table.columns
  for (const row of rows) {
    const column = table.columns.find((name) => String(row[name]).includes('\0'))
    if (column) return invalidRow(table, row[key], `${column} has a NUL character, which PostgreSQL cannot hold`)
  }
  return undefined
}
