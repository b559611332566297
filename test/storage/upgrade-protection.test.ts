// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logIn, signedUp } from '../support/client/accounts.ts'
import { assertSignedIn } from '../support/client/assertions.ts'
import { createUserAgent } from '../support/client/user-agent.ts'
import { openDatabase } from '../support/database/database.ts'
import { runJsonCommandOf } from '../support/service/operator-commands.ts'
import { startService } from '../support/service/service.ts'
import { takeBack } from './earlier-version.ts'

interface Event {
  type: string
  actor: string
  details: Record<string, unknown>
}

test('an installation of the version before goes on, counts what it counted, and records from then on', async (t) => {
  const service = await startService({ t })
  const { agent, person } = await signedUp(service)
  const database = await openDatabase(service, t)
  await takeBack(database, '011-own-records')
  await takeBack(database, '010-protection')
  await database.rows(`INSERT INTO counters (id, count, ends_at) VALUES ('of before', 7, ${Number.MAX_SAFE_INTEGER})`)
  assert.ok(!(await database.columns()).some(({ table }) => table === 'audit_events'))
  await service.restart()

  await assertSignedIn(agent)
  const [counter] = await database.rows("SELECT count FROM counters WHERE id = 'of before'")
  assert.equal(Number(counter?.count), 7)
  const device = createUserAgent(service)
  assert.equal((await logIn(device, { ...person, password: 'not the password of this account' })).status, 401)
  assert.equal((await logIn(device, person)).status, 303)
  await service.cli(['users', 'disable', person.email])
  const { id } = await runJsonCommandOf<{ id: string }>(service, ['users', 'show', person.email])
  const events = await runJsonCommandOf<Event[]>(service, ['audit', 'list', '--user', id])
  const found = events.map(({ type, actor }) => `${type} by ${actor}`).filter((text) => !text.startsWith('session.'))
  assert.deepEqual(found.sort(), ['login.failed by user', 'login.succeeded by user', 'user.disabled by cli'])
  assert.equal(events.find(({ type }) => type === 'login.failed')?.details.count, 1)
})
