import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** SQLite has no row locks and needs none: `BEGIN IMMEDIATE` locks the whole database. */
const ROW_LOCK = / FOR (?:UPDATE|SHARE)$/

/** Prepares each statement once, and turns the SQL of `Queries` into that of SQLite. */
export const createStatementCache = (connection: DatabaseSync): ((sql: string) => StatementSync) => {
  const prepared = new Map<string, StatementSync>()
  return (sql) => {
    const existing = prepared.get(sql)
    if (existing) return existing
    const statement = connection.prepare(sql.replace(ROW_LOCK, '').replaceAll('server_time()', 'NULL'))
    prepared.set(sql, statement)
    return statement
  }
}
