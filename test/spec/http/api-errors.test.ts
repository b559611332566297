// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logIn, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertErrorPage, assertJsonError, assertRedirect, assertSignedIn } from '../../support/client/assertions.ts'
import { type Answer, createUserAgent } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { testOnSqlite } from '../../support/database/database-choice.ts'
import { loggedLine } from '../../support/service/request-log.ts'
import { startService } from '../../support/service/service.ts'
import { eventually } from '../../support/wait.ts'

const service = await startService()
const anonymous = createUserAgent(service)

test('§7 401 unauthorized: GET /user and POST /sessions/refresh when authentication is missing', async () => {
  assertJsonError(await anonymous.get('/auth/api/v1/user'), 401, 'unauthorized')
  assertJsonError(await anonymous.refresh(), 401, 'unauthorized')
})

test('§7 401 unauthorized: GET /user and POST /sessions/refresh when authentication is invalid', async () => {
  const token = 'x'.repeat(43)
  const headers = { cookie: `svc_access=x; svc_refresh=x; svc_csrf=${token}`, 'x-csrf-token': token }
  assertJsonError(await anonymous.get('/auth/api/v1/user', headers), 401, 'unauthorized')
  assertJsonError(await anonymous.refresh('audience=app', headers), 401, 'unauthorized')
})

test('§7 400 invalid_request: POST /sessions/refresh', async () => {
  const { agent } = await signedUp(service)
  const message = assertJsonError(await agent.refresh(''), 400, 'invalid_request')
  assert.match(message, /audience/)
})

testOnSqlite(
  '§7 500 internal_error: POST /sessions/refresh when the database refuses a statement, without any SQL text',
  async (t) => {
    const broken = await startService({ t })
    const { agent } = await signedUp(broken)
    const database = await openDatabase(broken, t)
    for (const event of ['UPDATE ON sessions', 'INSERT ON sessions'])
      await database.rows(`CREATE TRIGGER "${event}" BEFORE ${event} BEGIN SELECT RAISE(ABORT, 'no'); END`)
    const answer = await agent.refresh()
    assertJsonError(answer, 500, 'internal_error')
    assert.deepEqual(answer.cleared, [], 'an error of ours logs nobody out')
    assertErrorPage(await signUp(createUserAgent(broken), newPerson()), 500)
    const id = answer.headers['x-request-id']
    // The log has the cause under the id in the response.
    await loggedLine(broken, (line) => line.level === 'error' && line.request_id === id)
  },
)

const assertLacking = (answer: Answer, words: RegExp) => {
  assert.match(assertJsonError(answer, 503, 'unavailable'), words)
  assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/)
  assert.deepEqual(answer.cleared, [])
}

test('§7 503 unavailable: without a table or a column, what needs it says svc migrate and logs nobody out; all else goes on', async (t) => {
  const broken = await startService({ t, env: { SVC_RATE_LIMIT: 'on' } })
  const { agent, person } = await signedUp(broken)
  const database = await openDatabase(broken, t)
  const logInByForm = () => logIn(createUserAgent(broken), person)

  await database.rows('ALTER TABLE counters RENAME TO counters_aside')
  const login = await logInByForm()
  assertErrorPage(login, 503)
  assert.match(login.headers['retry-after'] ?? '', /^[1-9]\d*$/)
  assert.match(JSON.stringify(broken.logLines()), /has no tables of svc: run `svc migrate`, or restore a backup/)
  await assertSignedIn(agent)
  await database.rows('ALTER TABLE counters_aside RENAME TO counters')
  assertRedirect(await logInByForm(), '/')

  await database.rows('ALTER TABLE sessions RENAME COLUMN salt TO pepper')
  assertLacking(await agent.refresh(), /has tables of another version: run `svc migrate`/)
  assertErrorPage(await logInByForm(), 503)
  await database.rows('ALTER TABLE sessions RENAME COLUMN pepper TO salt')
  assert.equal((await agent.refresh()).status, 200)

  await database.dropTables()
  assertLacking(await agent.refresh(), /has no tables of svc/)
  assertLacking(await createUserAgent(broken).get('/auth/ready'), /has no tables of svc/)
  assert.equal((await broken.cli(['migrate'])).code, 0)
  await eventually('it is ready', async () => (await createUserAgent(broken).get('/auth/ready')).status === 200)
  await assertSignedIn((await signedUp(broken)).agent)
})
