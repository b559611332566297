import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../src/lib/time.ts'
import type { Database } from '../../src/storage/database.ts'
import { migrate } from '../../src/storage/migrations.ts'
import { openPostgres } from '../../src/storage/postgres/postgres.ts'
import { reachPostgres } from '../../src/storage/postgres/start.ts'
import { readPostgresUrl } from '../../src/storage/postgres/url.ts'
import { openSqlite } from '../../src/storage/sqlite/sqlite.ts'
import { afterwards } from '../support/cleanup.ts'
import { databaseChoice, postgresUrl } from '../support/database-choice.ts'
import { createDatabase, type OwnDatabase } from '../support/postgres-databases.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** What only PostgreSQL is asked. */
type PostgresOptions = {
  size?: number
  timeoutMs?: number
  /** Settings of the server for the sessions of this handle. */
  session?: Record<string, string>
}

/** Where one database is, of the kind of this run. */
export type Place = {
  /** Opens a further handle, as another process would; closed after the test, or after the file when none is given. */
  open(options?: PostgresOptions): Promise<Database>
  /** For connections past svc; only with PostgreSQL. */
  url: string
}

/** Registers a test of what SQLite has no words for; on SQLite there is no such test. */
export const testOnPostgres = (title: string, run: (t: TestContext) => Promise<void>): void => {
  if (databaseChoice === 'postgres') test(title, run)
}

/** Anything that goes wrong behind the scenes fails the test. */
const fail = (error: Error): never => {
  throw error
}

const failWhenDown = (isUp: boolean, error = new Error('the database does not answer')) =>
  isUp ? undefined : fail(error)

const sqlitePlace = (t: TestContext | undefined): Place => {
  const file = path.join(temporaryDirectory(t), 'data', 'svc.db')
  const open = async () => {
    const db = await openSqlite({ file, onFailure: fail })
    afterwards(t, () => db.close())
    return db
  }
  return { open, url: '' }
}

/**
 * A database whose own collation is that of a language: nothing may depend on it. A server before PostgreSQL 15, or
 * without ICU, gives one with its usual collation.
 */
const createWithLanguage = (adminUrl: string): Promise<OwnDatabase> =>
  createDatabase(adminUrl, { options: `LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C'` }).catch(() =>
    createDatabase(adminUrl),
  )

const postgresPlace = async (t: TestContext | undefined): Promise<Place> => {
  const { url, drop } = await createWithLanguage(await postgresUrl())
  afterwards(t, drop)
  const reached = await reachPostgres(readPostgresUrl(url), { patienceMs: 0, onWait: fail })
  const open = async ({ size = 10, timeoutMs = 20_000, session = {} }: PostgresOptions = {}) => {
    const options = Object.entries(session).map(([name, value]) => `-c ${name}=${value}`)
    const connection = { ...reached, ...(options.length > 0 && { options: options.join(' ') }) }
    const db = openPostgres({ connection, size, timeoutMs, onChange: failWhenDown })
    afterwards(t, () => db.close())
    return db
  }
  return { open, url }
}

/** A place for a database that has no tables yet. */
export const emptyPlace = async (t?: TestContext): Promise<Place> =>
  databaseChoice === 'postgres' ? postgresPlace(t) : sqlitePlace(t)

/** A new database with svc's tables, and where it is. */
export const freshDatabase = async (t?: TestContext): Promise<Place & { db: Database }> => {
  const place = await emptyPlace(t)
  const db = await place.open()
  await migrate(db, systemClock)
  return { ...place, db }
}

/** The same with one more table, `probe`, for values of every kind. */
export const probeDatabase = async (t?: TestContext): Promise<Place & { db: Database }> => {
  const place = await freshDatabase(t)
  await place.db.run('CREATE TABLE probe (id TEXT PRIMARY KEY, amount BIGINT, words TEXT)')
  return place
}
