import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { afterwards } from '../cleanup.ts'
import { connect } from '../postgres/postgres-databases.ts'
import type { Service } from '../service/service.ts'
import { databasePath, openDatabaseFile } from './database-file.ts'

type Value = string | number | null
type Row = Record<string, unknown>

/** The database of a service, SQLite or PostgreSQL, as another program sees it. `?` stands for each value. */
export type OpenDatabase = {
  rows(sql: string, ...values: Value[]): Promise<Row[]>
  /** Every column of every table of svc's. */
  columns(): Promise<{ table: string; name: string }[]>
  /** Blocks all writes, and no reads, until the returned function is called. */
  lock(): Promise<() => Promise<void>>
  /** Makes the database unusable. */
  dropTables(): Promise<void>
  /** The content of a stolen copy. */
  contents(): Promise<Buffer>
}

const openPostgres = async (url: string, t: TestContext | undefined): Promise<OpenDatabase> => {
  const client = await connect(url)
  afterwards(t, () => client.end())
  const rows = async (sql: string, ...values: Value[]): Promise<Row[]> => {
    let count = 0
    return (
      await client.query<Row>(
        sql.replaceAll('?', () => `$${++count}`),
        values,
      )
    ).rows
  }
  const columns = async () => {
    const found = await rows(
      `SELECT table_name AS "table", column_name AS name FROM information_schema.columns
       WHERE table_schema = current_schema()`,
    )
    return found.map(({ table, name }) => ({ table: String(table), name: String(name) }))
  }
  const tables = async () => [...new Set((await columns()).map(({ table }) => `"${table}"`))]
  return {
    rows,
    columns,
    lock: async () => {
      await rows('BEGIN')
      await rows(`LOCK TABLE ${(await tables()).join(', ')} IN EXCLUSIVE MODE`)
      return async () => void (await rows('ROLLBACK'))
    },
    dropTables: async () => void (await rows(`DROP TABLE ${(await tables()).join(', ')}`)),
    contents: async () => {
      const texts: unknown[] = []
      for (const table of await tables()) {
        const found = await rows(`SELECT each::text AS text FROM ${table} AS each`)
        texts.push(...found.map(({ text }) => text))
      }
      return Buffer.from(texts.join('\n'))
    },
  }
}

const openSqlite = (service: Service, t: TestContext | undefined): OpenDatabase => {
  const file = openDatabaseFile(service, t)
  // The index of texts holds no text, and cannot be read like a table.
  const columns = async () =>
    file
      .rows(
        `SELECT m.name AS "table", c.name AS name FROM sqlite_master m, pragma_table_info(m.name) c
         WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name NOT LIKE 'user_search%'`,
      )
      .map(({ table, name }) => ({ table: String(table), name: String(name) }))
  return {
    rows: async (sql, ...values) => file.rows(sql, ...values),
    columns,
    lock: async () => {
      const release = file.lock()
      return async () => release()
    },
    dropTables: async () => {
      file.rows('PRAGMA foreign_keys = OFF')
      file.run('DROP TABLE user_search')
      for (const table of new Set((await columns()).map(({ table }) => table))) file.run(`DROP TABLE "${table}"`)
    },
    contents: async () => {
      const folder = path.dirname(databasePath(service.directory))
      const files = readdirSync(folder).filter((name) => name.startsWith(path.basename(databasePath(''))))
      // By another process: if this one opened and closed the file, all locks would go that SQLite holds on it here.
      return execFileSync('cat', files, { cwd: folder, maxBuffer: 1024 ** 3 })
    },
  }
}

/** Opens the database of a service. It is closed after the test, or after the file if no test is given. */
export const openDatabase = async (service: Service, t?: TestContext): Promise<OpenDatabase> => {
  const url = service.env.SVC_DATABASE_URL
  return url?.startsWith('postgres') ? openPostgres(url, t) : openSqlite(service, t)
}

/** The root secret of a service, as text. */
export const rootSecret = ({ env, directory }: Service): string =>
  env.SVC_SECRET ?? readFileSync(path.join(path.dirname(databasePath(directory)), 'svc.secret'), 'utf8').trim()
