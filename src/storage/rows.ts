import { TABLE_COLUMNS, type ColumnType } from './tables.ts'

export type TableName = keyof typeof TABLE_COLUMNS

type ColumnOf<Name extends TableName> = keyof (typeof TABLE_COLUMNS)[Name] & string

interface ValueOf {
  text: string
  'text?': string | null
  integer: number
  'integer?': number | null
}

type TypeOf<Name extends TableName, Column extends ColumnOf<Name>> = (typeof TABLE_COLUMNS)[Name][Column] & ColumnType

/** The database returns a row of a table in this form. */
export type TableRow<Name extends TableName> = {
  [Column in ColumnOf<Name>]: ValueOf[TypeOf<Name, Column>]
}

/** This is a row to insert: columns that may be null can be left out. */
export type NewRow<Name extends TableName> = Partial<TableRow<Name>> & {
  [Column in ColumnOf<Name> as null extends TableRow<Name>[Column] ? never : Column]: TableRow<Name>[Column]
}

/** This is a row of any table, by column. */
export type Row = Record<string, string | number | null>

interface Inserting {
  run(sql: string, ...values: Row[string][]): Promise<number>
}

/** Lists the columns of a table for a `SELECT`, in the order of the table, without those that are named. */
export const columnsOf = <Name extends TableName>(name: Name, ...without: ColumnOf<Name>[]): string =>
  Object.keys(TABLE_COLUMNS[name])
    .filter((column) => !without.some((each) => each === column))
    .join(', ')

/** Inserts rows in one statement, so that all are there or none is. All have the keys of the first, their columns. */
export const insertRows = (db: Inserting, name: string, rows: readonly Row[]): Promise<number> => {
  const columns = Object.keys(rows[0] ?? {})
  const marks = `(${columns.map(() => '?').join(', ')})`
  const sql = `INSERT INTO ${name} (${columns.join(', ')}) VALUES ${rows.map(() => marks).join(', ')}`
  return db.run(sql, ...rows.flatMap((row) => columns.map((column) => row[column] ?? null)))
}

export const insertRow = <Name extends TableName>(db: Inserting, name: Name, row: NewRow<Name>): Promise<number> =>
  insertRows(db, name, [row])
