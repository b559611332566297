import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { afterwards } from '../cleanup.ts'
import { createDatabase } from '../postgres/postgres-databases.ts'
import type { Environment } from '../service/command.ts'
import { databaseChoice, postgresUrl } from './database-choice.ts'

type Installation = { url: string; secret: string }

/** The machine may be slow: a test of the time limit sets its own. */
const TIMEOUT = '1m'

const installations = new Map<string, Promise<Installation>>()

const createInstallation = async (
  directory: string,
  template: string | undefined,
  t: TestContext | undefined,
): Promise<Installation> => {
  const { url, drop } = await createDatabase(await postgresUrl(), { template })
  afterwards(t, async () => {
    installations.delete(directory)
    await drop()
  })
  return { url, secret: randomBytes(32).toString('base64') }
}

/**
 * The database settings of a service in this folder, unless `env` contains some. SQLite needs none. With PostgreSQL
 * each folder gets a database and a root secret, which two services in one folder share. The database is a copy of the
 * model of the run if there is one, and is dropped after the test `t`, or after the file if no test is given.
 */
export const databaseSettings = async (
  directory: string,
  env: Environment,
  t: TestContext | undefined,
  template: string | undefined = process.env.SVC_TEST_PG_TEMPLATE,
): Promise<Environment> => {
  if (databaseChoice === 'sqlite' || env.SVC_DATABASE_URL !== undefined) return {}
  const installation = installations.get(directory) ?? createInstallation(directory, template, t)
  installations.set(directory, installation)
  const { url, secret } = await installation
  const hasSecret = (env.SVC_SECRET ?? env.SVC_SECRET_FILE) !== undefined
  return { SVC_DATABASE_URL: url, SVC_DATABASE_TIMEOUT: TIMEOUT, ...(!hasSecret && { SVC_SECRET: secret }) }
}

/** The same with a database without tables. */
export const emptyDatabaseSettings = (directory: string, t: TestContext): Promise<Environment> =>
  databaseSettings(directory, {}, t, 'template0')
