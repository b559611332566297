import { randomUUID } from 'node:crypto'
import pg from 'pg'

// Counts and times in milliseconds fit a number.
const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, Number)

/** Opens a separate connection, which the caller ends. */
export const connect = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: url, types, connectionTimeoutMillis: 60_000 })
  // Some tests stop the server while a connection is open. The next query fails then.
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Runs one statement on a separate connection. */
export const queryOnce = async <Row extends pg.QueryResultRow>(
  url: string,
  sql: string,
  values: unknown[] = [],
): Promise<Row[]> => {
  const client = await connect(url)
  try {
    return (await client.query<Row>(sql, values)).rows
  } finally {
    await client.end()
  }
}

/** What pg has, and its types do not name: whether the connection keeps this process alive. */
type Held = pg.Client & { ref(): void; unref(): void }

const kept = new Map<string, { client: Promise<Held>; running: number }>()

const keepConnection = (url: string) => {
  const connection = { client: connect(url) as Promise<Held>, running: 0 }
  kept.set(url, connection)
  const forget = () => void kept.delete(url)
  connection.client.then((client) => client.once('end', forget), forget)
  return connection
}

/**
 * The same on a connection that stays open for the next statement, since each new one costs the server a process. It
 * does not keep this process alive.
 */
export const queryKept = async (url: string, sql: string, values: unknown[] = []): Promise<void> => {
  const connection = kept.get(url) ?? keepConnection(url)
  connection.running += 1
  const client = await connection.client
  client.ref()
  try {
    await client.query(sql, values)
  } finally {
    connection.running -= 1
    if (connection.running === 0) client.unref()
  }
}

/** A database for one test. */
export type OwnDatabase = { url: string; drop(): Promise<void> }

/**
 * Copies the files of the template, the only way before PostgreSQL 15: writing the copy to the log would cost twice as
 * much.
 */
const findStrategy = async (adminUrl: string): Promise<string> => {
  const [{ version = 0 } = {}] = await queryOnce(
    adminUrl,
    `SELECT current_setting('server_version_num')::int AS version`,
  )
  return version < 150_000 ? '' : 'STRATEGY FILE_COPY'
}

const strategies = new Map<string, Promise<string>>()

/** The same, cached for each server. */
const strategy = (adminUrl: string): Promise<string> => {
  const found = strategies.get(adminUrl) ?? findStrategy(adminUrl)
  strategies.set(adminUrl, found)
  return found
}

/**
 * Creates a database on the server of `adminUrl`: an empty one with options of CREATE DATABASE, or a copy of the
 * template. `drop()` also ends the connections to it.
 */
export const createDatabase = async (
  adminUrl: string,
  { options = '', template = 'template0' }: { options?: string; template?: string | undefined } = {},
): Promise<OwnDatabase> => {
  const name = `svc_test_${randomUUID().replaceAll('-', '')}`
  await queryKept(
    adminUrl,
    `CREATE DATABASE ${name} ${await strategy(adminUrl)} TEMPLATE ${template} ${template === 'template0' ? `ENCODING 'UTF8' ${options}` : ''}`,
  )
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  return {
    url: url.href,
    drop: () => queryKept(adminUrl, `DROP DATABASE ${name} WITH (FORCE)`),
  }
}
