import { hash } from 'node:crypto'
import type { NamedStatement } from './named-query.ts'

export type Prepare = (sql: string, values: NamedStatement['values']) => NamedStatement

/** `now()` would be the start of the transaction, which may be older than the rows that the statement reads. */
const SERVER_TIME = 'CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)'

/**
 * Gives each statement a name, so that a connection parses it once. The name is a hash of the text: processes that
 * share a connection behind a pooler must never use one name for two statements.
 */
export const createNamedStatements = (): Prepare => {
  const prepared = new Map<string, Pick<NamedStatement, 'name' | 'text'>>()
  return (sql, values) => {
    let statement = prepared.get(sql)
    if (!statement) {
      let count = 0
      const text = sql.replaceAll('server_time()', SERVER_TIME).replaceAll('?', () => `$${++count}`)
      statement = { name: statementName(text), text }
      prepared.set(sql, statement)
    }
    return { ...statement, values }
  }
}

/** The first 132 bits of the text's SHA-256. */
const statementName = (text: string): string => `svc_${hash('sha256', text, 'base64url').slice(0, 22)}`
