// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { logIn, logOut, signedUp } from '../support/client/accounts.ts'
import { assertSignedIn, assertSignedOut } from '../support/client/assertions.ts'
import { createUserAgent, type UserAgent } from '../support/client/user-agent.ts'
import { type OpenDatabase, openDatabase } from '../support/database/database.ts'
import { databaseChoice } from '../support/database/database-choice.ts'
import { claimsOf } from '../support/service/access-tokens.ts'
import { startService } from '../support/service/service.ts'

const MIGRATION = '009-second-factors'
const DIALECT = databaseChoice === 'sqlite' ? 'sqlite' : 'postgres'
const SQL = readFileSync(
  path.join(import.meta.dirname, `../../src/storage/migrations/${MIGRATION}.${DIALECT}.sql`),
  'utf8',
)

const found = (pattern: RegExp): string[][] => [...SQL.matchAll(pattern)].map(([, ...parts]) => parts.map(String))

/** Makes the schema that of the version before, as if the migration had never been. */
const takeBack = async ({ rows }: OpenDatabase): Promise<void> => {
  for (const [index] of found(/CREATE (?:UNIQUE )?INDEX (\w+)/g)) await rows(`DROP INDEX ${index}`)
  for (const [table] of found(/CREATE TABLE (\w+)/g)) await rows(`DROP TABLE ${table}`)
  for (const [table, column] of found(/ALTER TABLE (\w+) ADD COLUMN (\w+)/g))
    await rows(`ALTER TABLE ${table} DROP COLUMN ${column}`)
  await rows('DELETE FROM migrations WHERE name = ? RETURNING name', MIGRATION)
}

const claims = (agent: UserAgent) => claimsOf(agent.cookies.get('svc_access') ?? '')
const amrOf = async (agent: UserAgent) => (await agent.get('/auth/check')).headers['x-svc-user-amr']

test('an installation of the version before goes on: nobody is logged out, and a login says what it proved', async (t) => {
  const service = await startService({ t })
  const { agent, person } = await signedUp(service)
  const other = await signedUp(service)
  const database = await openDatabase(service, t)
  await takeBack(database)
  const columns = (await database.columns()).map(({ table, name }) => `${table}.${name}`)
  assert.ok(!columns.includes('sessions.amr') && columns.includes('sessions.authenticated_at'))
  await service.restart()

  await assertSignedIn(agent)
  assert.equal(await amrOf(agent), '-')
  assert.equal((await agent.refresh()).status, 200)
  assert.equal('amr' in claims(agent), false, 'what is not known is not said')
  assert.equal(typeof claims(agent).auth_time, 'number')
  assert.equal(await amrOf(agent), '-')

  const device = createUserAgent(service)
  assert.equal((await logIn(device, person)).status, 303)
  assert.deepEqual([claims(device).amr, await amrOf(device)], [['pwd'], 'pwd'])
  assert.equal((await logOut(agent)).status, 303)
  await assertSignedOut(agent)
  await assertSignedIn(other.agent)
  const { stdout } = await service.cli(['users', 'show', other.person.email, '--json'])
  assert.partialDeepStrictEqual(JSON.parse(stdout), { second_factors: [], recovery_codes: 0, passkeys: 0 })
})
