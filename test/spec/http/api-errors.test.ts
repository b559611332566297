// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertErrorPage, assertJsonError } from '../../support/client/assertions.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { testOnSqlite } from '../../support/database/database-choice.ts'
import { loggedLine } from '../../support/service/request-log.ts'
import { startService } from '../../support/service/service.ts'

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

// PostgreSQL without tables is an outage (test/durability/postgres-outage.test.ts).
testOnSqlite(
  '§7 500 internal_error: POST /sessions/refresh when the database is broken, without any SQL text',
  async (t) => {
    const broken = await startService({ t })
    const { agent } = await signedUp(broken)
    const database = await openDatabase(broken, t)
    await database.dropTables()
    const answer = await agent.refresh()
    assertJsonError(answer, 500, 'internal_error')
    assert.deepEqual(answer.cleared, [], 'an error of ours logs nobody out')
    assertErrorPage(await signUp(createUserAgent(broken), newPerson()), 500)
    const id = answer.headers['x-request-id']
    // The log has the cause under the id in the response.
    await loggedLine(broken, (line) => line.level === 'error' && line.request_id === id)
  },
)
