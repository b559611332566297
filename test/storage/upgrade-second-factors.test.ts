// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logIn, logOut, signedUp } from '../support/client/accounts.ts'
import { assertSignedIn, assertSignedOut } from '../support/client/assertions.ts'
import { createUserAgent, type UserAgent } from '../support/client/user-agent.ts'
import { openDatabase } from '../support/database/database.ts'
import { claimsOf } from '../support/service/access-tokens.ts'
import { startService } from '../support/service/service.ts'
import { takeBack } from './earlier-version.ts'

const claims = (agent: UserAgent) => claimsOf(agent.cookies.get('svc_access') ?? '')
const amrOf = async (agent: UserAgent) => (await agent.get('/auth/check')).headers['x-svc-user-amr']

test('an installation of the version before goes on: nobody is logged out, and a login says what it proved', async (t) => {
  const service = await startService({ t })
  const { agent, person } = await signedUp(service)
  const other = await signedUp(service)
  const database = await openDatabase(service, t)
  await takeBack(database, '009-second-factors')
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
