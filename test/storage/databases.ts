import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../src/lib/time.ts'
import type { Database } from '../../src/storage/database.ts'
import { migrate } from '../../src/storage/migrations.ts'
import { negotiateConnection } from '../../src/storage/postgres/negotiate-connection.ts'
import { openPostgres } from '../../src/storage/postgres/postgres.ts'
import { readPostgresUrl } from '../../src/storage/postgres/url.ts'
import { openSqlite } from '../../src/storage/sqlite/sqlite.ts'
import { afterwards } from '../support/cleanup.ts'
import { databaseChoice, postgresUrl } from '../support/database/database-choice.ts'
import { createDatabase, type OwnDatabase } from '../support/postgres/postgres-databases.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** Only for PostgreSQL. */
type PostgresOptions = {
  size?: number
  timeoutMs?: number
  /** Settings of the server for the sessions of this handle. */
  session?: Record<string, string>
}

/** One database of the kind of this run. */
export type TestDatabase = {
  /** Opens another handle, as another process would. Closed after the test, or after the file if no test is given. */
  open(options?: PostgresOptions): Promise<Database>
  /** The URL for connections without svc; only with PostgreSQL. */
  url: string
}

/** Registers a test of a rule that does not exist on SQLite; on SQLite the test is not registered. */
export const testOnPostgres = (title: string, run: (t: TestContext) => Promise<void>): void => {
  if (databaseChoice === 'postgres') test(title, run)
}

/** An error in background work fails the test. */
const fail = (error: Error): never => {
  throw error
}

const failWhenDown = (isUp: boolean, error = new Error('the database does not answer')) =>
  isUp ? undefined : fail(error)

const sqliteDatabase = (t: TestContext | undefined): TestDatabase => {
  const file = path.join(temporaryDirectory(t), 'data', 'svc.db')
  const open = async () => {
    const db = await openSqlite({ file, onFailure: fail })
    afterwards(t, () => db.close())
    return db
  }
  return { open, url: '' }
}

/**
 * A database with the collation of a language, which nothing may depend on. A server before PostgreSQL 15, or without
 * ICU, creates one with its default collation.
 */
const createWithLanguage = (adminUrl: string): Promise<OwnDatabase> =>
  createDatabase(adminUrl, { options: `LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C'` }).catch(() =>
    createDatabase(adminUrl),
  )

const postgresDatabase = async (t: TestContext | undefined): Promise<TestDatabase> => {
  const { url, drop } = await createWithLanguage(await postgresUrl())
  afterwards(t, drop)
  const reached = await negotiateConnection(readPostgresUrl(url), { waitMs: 0, onWait: fail })
  const open = async ({ size = 10, timeoutMs = 20_000, session = {} }: PostgresOptions = {}) => {
    const options = Object.entries(session).map(([name, value]) => `-c ${name}=${value}`)
    const connection = { ...reached, ...(options.length > 0 && { options: options.join(' ') }) }
    const db = openPostgres({ connection, size, timeoutMs, onChange: failWhenDown })
    afterwards(t, () => db.close())
    return db
  }
  return { open, url }
}

/** A database without tables. */
export const emptyDatabase = async (t?: TestContext): Promise<TestDatabase> =>
  databaseChoice === 'postgres' ? postgresDatabase(t) : sqliteDatabase(t)

/** A new database with svc's tables. */
export const freshDatabase = async (t?: TestContext): Promise<TestDatabase & { db: Database }> => {
  const database = await emptyDatabase(t)
  const db = await database.open()
  await migrate(db, systemClock)
  return { ...database, db }
}

/** The same with one more table, `probe`, for values of every type. */
export const probeDatabase = async (t?: TestContext): Promise<TestDatabase & { db: Database }> => {
  const database = await freshDatabase(t)
  await database.db.run('CREATE TABLE probe (id TEXT PRIMARY KEY, amount BIGINT, words TEXT)')
  return database
}
