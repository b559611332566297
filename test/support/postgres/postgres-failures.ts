import assert from 'node:assert/strict'
import type { Client } from 'pg'
import type { Postgres } from './postgres.ts'
import { connect } from './postgres-databases.ts'

const ROLE = 'svc_test'
const PASSWORD = 'open-sesame-4711'

/** A server with a role and a database for svc, and the failures that an operator can cause. */
export type PostgresFailures = {
  /** The URL of the database for svc's role on a port. */
  url(port: number): string
  database: string
  /** The owner of the database. */
  role: string
  /** The password in that URL. */
  password: string
  /** Ends every connection of svc. */
  disconnect(): Promise<unknown>
  /** Runs `ALTER ROLE` on svc's role, and ends its connections. */
  alterRole(change: string): Promise<unknown>
  /** Whether the database accepts connections. If not, existing ones end. */
  allowConnections(allowed: boolean): Promise<unknown>
  /** Ends svc's connections and takes all remaining connections of the server. */
  fill(): Promise<void>
  empty(): Promise<void>
  setReadOnly(isReadOnly: boolean): Promise<void>
  /** Drops svc's database, except for a copy that `putBack` restores. */
  setAside(): Promise<void>
  putBack(): Promise<void>
  /** Creates svc's database, empty or as a copy of another one. */
  createAnew(template?: string): Promise<unknown>
  /** Holds the locks of these statements in svc's database until the returned function is called. */
  hold(...statements: string[]): Promise<() => Promise<void>>
  /** Runs a statement in svc's database. */
  inDatabase: (sql: string) => Promise<unknown>
  connections(): Promise<number>
}

/** Creates the role and the database. The server requires a password from that role only. */
export const preparePostgresFailures = async (postgres: Postgres): Promise<PostgresFailures> => {
  const operate = <Row extends Record<string, unknown>>(sql: string) => postgres.query<Row>(postgres.url(), sql)
  const database = new URL(await postgres.createDatabase()).pathname.slice(1)
  await operate(`CREATE ROLE ${ROLE} LOGIN PASSWORD '${PASSWORD}'`)
  await operate('CREATE ROLE crowd LOGIN')
  await operate(`ALTER DATABASE ${database} OWNER TO ${ROLE}`)
  await requirePassword(operate)

  const disconnect = () =>
    operate(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '${ROLE}'`)
  const allowConnections = async (allowed: boolean) => {
    await operate(`ALTER DATABASE ${database} ALLOW_CONNECTIONS ${allowed}`)
    if (!allowed) await disconnect()
  }
  const crowd: Client[] = []

  return {
    url: (port) => `postgres://${ROLE}:${PASSWORD}@127.0.0.1:${port}/${database}`,
    database,
    role: ROLE,
    password: PASSWORD,
    disconnect,
    alterRole: async (change) => {
      await operate(`ALTER ROLE ${ROLE} ${change}`)
      await disconnect()
    },
    allowConnections,
    fill: async () => {
      await disconnect()
      const url = new URL(postgres.url())
      url.username = 'crowd'
      try {
        for (;;) crowd.push(await connect(url.href))
      } catch (error) {
        assert.ok(error instanceof Error && 'code' in error && error.code === '53300', String(error))
      }
    },
    empty: async () => void (await Promise.all(crowd.splice(0).map((client) => client.end()))),
    setReadOnly: async (isReadOnly) => {
      const client = await connect(postgres.url())
      await client.query('SET default_transaction_read_only = off')
      await client.query(`ALTER SYSTEM SET default_transaction_read_only = ${isReadOnly}`)
      await client.query('SELECT pg_reload_conf()')
      await client.end()
    },
    setAside: async () => {
      await allowConnections(false)
      await operate(`CREATE DATABASE aside TEMPLATE ${database}`)
      await operate(`DROP DATABASE ${database}`)
    },
    createAnew: (template = 'template0') => operate(`CREATE DATABASE ${database} TEMPLATE ${template} OWNER ${ROLE}`),
    putBack: async () => {
      await operate(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
      await operate(`CREATE DATABASE ${database} TEMPLATE aside OWNER ${ROLE}`)
      await operate('DROP DATABASE aside')
    },
    hold: async (...statements) => {
      const client = await connect(postgres.url(database))
      for (const statement of ['BEGIN', ...statements]) await client.query(statement)
      return () => client.end()
    },
    inDatabase: (sql) => postgres.query(postgres.url(database), sql),
    connections: async () => {
      const rows = await operate(`SELECT pid FROM pg_stat_activity WHERE usename = '${ROLE}'`)
      return rows.length
    },
  }
}

type Operate = <Row extends Record<string, unknown>>(sql: string) => Promise<Row[]>

const requirePassword = async (operate: Operate): Promise<void> => {
  const [row] = await operate<{ hba_file: string }>('SHOW hba_file')
  const rules = ['postgres 127.0.0.1/32 trust', 'crowd 127.0.0.1/32 trust', 'all 127.0.0.1/32 scram-sha-256']
  const lines = rules.map((rule) => `'host all ${rule}'`).join(', ')
  await operate(`COPY (SELECT unnest(ARRAY[${lines}])) TO '${row?.hba_file}'`)
  await operate('SELECT pg_reload_conf()')
}
