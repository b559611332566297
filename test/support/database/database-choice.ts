import { type TestContext, test } from 'node:test'
import { type Postgres, startPostgres } from '../postgres/postgres.ts'

const CHOICES = ['sqlite', 'postgres'] as const

const readChoice = (): (typeof CHOICES)[number] => {
  const given = process.env.SVC_TEST_DATABASE || 'sqlite'
  const choice = CHOICES.find((name) => name === given)
  if (!choice) throw new Error(`SVC_TEST_DATABASE=${given}: one of ${CHOICES.join(', ')}`)
  return choice
}

/** The database that the services of this run get, unless a test says otherwise. */
export const databaseChoice = readChoice()

/** Registers a test of a rule for SQLite only; on PostgreSQL it is not registered. */
export const testOnSqlite = (title: string, run: (t: TestContext) => void | Promise<void>): void => {
  if (databaseChoice === 'sqlite') test(title, run)
}

let own: Promise<Postgres> | undefined

/** The server for databases: that of the whole run, or else one that this file starts at the first use. */
export const postgresUrl = async (): Promise<string> => {
  const given = process.env.SVC_TEST_PG_URL
  if (given) return given
  own ??= startPostgres()
  return (await own).url()
}
