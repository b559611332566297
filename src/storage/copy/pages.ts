import { createHash } from 'node:crypto'
import type { Queries } from '../database.ts'
import type { Row, Table } from '../schema.ts'
import { invalidRow } from './errors.ts'

/** Measured by `npm run bench:copy`: more rows at once are no faster, and cost memory. */
const PAGE_ROWS = 1000

const where = ({ only }: Table, condition: string): string => (only ? `${condition} AND ${only}` : condition)

/**
 * The rows behind a key in the order of keys, page by page; from the first one when the key is empty. A value that is
 * none of svc's is an error that names its row.
 */
export async function* readPages(db: Queries, table: Table, after: string): AsyncGenerator<Row[]> {
  const { name, columns } = table
  const [key] = columns
  const sql = `SELECT ${columns.join(', ')} FROM ${name} WHERE ${where(table, `${key} > ?`)} ORDER BY ${key} LIMIT ${PAGE_ROWS}`
  for (let last = after; ; ) {
    const rows = await db.all<Row>(sql, last).catch(async (error: unknown) => {
      throw (await findTooGreat(db, table, last, error)) ?? error
    })
    for (const row of rows) checkRow(table, row)
    if (rows.length > 0) yield rows
    if (rows.length < PAGE_ROWS) return
    last = String(rows.at(-1)?.[key])
  }
}

const TOO_GREAT = `holds no whole number from -${Number.MAX_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`

/** SQLite keeps in any column what it is given: once, times with fractions of a millisecond, which are rounded here. */
const checkRow = (table: Table, row: Row): void => {
  for (const column of table.columns) {
    const value = row[column]
    if (value === null || typeof value === 'string') continue
    if (typeof value !== 'number') throw invalidRow(table, row[table.columns[0]], `${column} holds bytes, and no text`)
    if (!Number.isInteger(value)) row[column] = Math.round(value)
  }
  for (const column of table.numbers) {
    if (row[column] === null || Number.isSafeInteger(row[column])) continue
    throw invalidRow(table, row[table.columns[0]], `${column} ${TOO_GREAT}`)
  }
}

/** Node reads no number from SQLite that it could not hold exactly, and does not say where it is. */
const findTooGreat = async (db: Queries, table: Table, after: string, error: unknown) => {
  if (!(error instanceof Error && 'code' in error && error.code === 'ERR_OUT_OF_RANGE')) return undefined
  const [key] = table.columns
  for (const column of table.numbers) {
    const isTooGreat = `typeof(${column}) = 'integer' AND abs(${column} / 2) > ${Number.MAX_SAFE_INTEGER / 2}`
    const sql = `SELECT ${key} AS found FROM ${table.name} WHERE ${where(table, `${key} > ? AND ${isTooGreat}`)} LIMIT 1`
    const row = await db.get<{ found: string }>(sql, after)
    if (row) return invalidRow(table, row.found, `${column} ${TOO_GREAT}`)
  }
  return undefined
}

/** One statement, so that a page is there as a whole or not at all. */
export const insertPage = (db: Queries, { name, columns }: Table, rows: Row[]): Promise<number> => {
  const one = `(${columns.map(() => '?').join(', ')})`
  const all = Array.from({ length: rows.length }, () => one).join(', ')
  const values = rows.flatMap((row) => columns.map((column) => row[column] ?? null))
  return db.run(`INSERT INTO ${name} (${columns.join(', ')}) VALUES ${all}`, ...values)
}

/** The greatest key that is there; empty when there is no row. */
export const findLastKey = async (db: Queries, table: Table): Promise<string> => {
  const [key] = table.columns
  const sql = `SELECT ${key} AS last FROM ${table.name} WHERE ${where(table, '1 = 1')} ORDER BY ${key} DESC LIMIT 1`
  const row = await db.get<{ last: string }>(sql)
  return row?.last ?? ''
}

export const countRows = async (db: Queries, table: Table): Promise<number> => {
  const sql = `SELECT count(*) AS rows_there FROM ${table.name} WHERE ${where(table, '1 = 1')}`
  const row = await db.get<{ rows_there: number }>(sql)
  return row?.rows_there ?? 0
}

export interface Content {
  rows: number
  /** SHA-256 in hex over each row in the order of keys: its values as a JSON array, and a line end. */
  sha256: string
}

/** What is in a table, so that it can be compared between databases of any kind. */
export const readContent = async (
  db: Queries,
  table: Table,
  onRows: (count: number) => void = () => {},
): Promise<Content> => {
  const hash = createHash('sha256')
  let count = 0
  for await (const rows of readPages(db, table, '')) {
    for (const row of rows) hash.update(`${JSON.stringify(table.columns.map((column) => row[column]))}\n`)
    count += rows.length
    onRows(count)
  }
  return { rows: count, sha256: hash.digest('hex') }
}
