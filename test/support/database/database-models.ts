import { randomBytes } from 'node:crypto'
import { copyFileSync, existsSync } from 'node:fs'
import path from 'node:path'
import { bootstrap } from '../../../src/bootstrap.ts'
import { type Config, readConfig } from '../../../src/config/config.ts'
import { openSecretFile } from '../../../src/config/root-secret.ts'
import { createLog } from '../../../src/lib/log.ts'
import { createDatabase, queryOnce } from '../postgres/postgres-databases.ts'

/** Migrates an empty database as a first start does. */
const migrate = async (url: string): Promise<void> => {
  const secret = randomBytes(32).toString('base64')
  const config = readConfig({ SVC_DATABASE_URL: url, SVC_SECRET: secret }, () => '')
  const { db } = await bootstrap({ config, log: createLog('silent', { write: () => {} }) })
  await db.close()
}

/**
 * Creates an empty database of each kind with all migrations applied, from which services start with a copy. `env` says
 * where they are; the caller removes the folder.
 */
export const prepareDatabaseModels = async (folder: string, adminUrl: string) => {
  const file = path.join(folder, 'svc.db')
  await migrate(`sqlite:${file}`)
  const { url, drop } = await createDatabase(adminUrl)
  await migrate(url)
  const name = new URL(url).pathname.slice(1)
  // No connection of the server may be open when it is copied.
  await queryOnce(adminUrl, `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
  return { env: { SVC_TEST_SQLITE_MODEL: file, SVC_TEST_PG_TEMPLATE: name }, drop }
}

/** Creates a SQLite database as a copy of the model of the run, or by migrations if there is no model. */
export const copyDatabaseModel = ({ database, secret }: Config): void => {
  const model = process.env.SVC_TEST_SQLITE_MODEL
  if (!model || database.kind !== 'sqlite' || existsSync(database.file)) return
  // The secret before the database, as at a first start.
  if (secret === undefined) openSecretFile(database.file)
  if (existsSync(path.dirname(database.file))) copyFileSync(model, database.file)
}
