// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newAgent, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertJsonError, assertSignedIn } from '../../support/client/assertions.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()

test('§5.1 a session is three cookies, and two that tell scripts of it; two are of the browser', async () => {
  const { setCookies } = await signUp(newAgent(service), newPerson())
  assert.deepEqual(setCookies.map(({ name }) => name).sort(), [
    'svc_access',
    'svc_csrf',
    'svc_device',
    'svc_fresh',
    'svc_last_way',
    'svc_refresh',
    'svc_session',
  ])
})

test('§5.1 svc_access authenticates API requests: it is sufficient and necessary', async () => {
  const { agent } = await signedUp(service)
  agent.cookies.delete('svc_refresh')
  agent.cookies.delete('svc_csrf')
  await assertSignedIn(agent)
  agent.cookies.delete('svc_access')
  assertJsonError(await agent.get('/auth/api/v1/user'), 401, 'unauthorized')
})

test('§4.1 the refresh and CSRF cookies do not replace the access cookie', async () => {
  const { agent } = await signedUp(service)
  agent.cookies.delete('svc_access')
  assertJsonError(await agent.get('/auth/api/v1/user'), 401, 'unauthorized')
})

test('§3.2 the refresh endpoint is authenticated by the svc_refresh cookie instead', async () => {
  const { agent } = await signedUp(service)
  agent.cookies.delete('svc_access')
  assert.equal((await agent.refresh()).status, 200)
})

test('§3.2 the access cookie of one user and the refresh cookie of another: the refresh cookie decides', async () => {
  const [one, other] = await Promise.all([signedUp(service), signedUp(service)])
  one.agent.cookies.set('svc_refresh', other.agent.cookies.get('svc_refresh') ?? '', '/auth')
  // The CSRF token is bound to the session that is refreshed.
  one.agent.cookies.set('svc_csrf', other.agent.cookies.get('svc_csrf') ?? '')
  assert.equal((await one.agent.refresh()).status, 200)
  const user = (await one.agent.get('/auth/api/v1/user')).json<{ email: string }>()
  assert.equal(user.email, other.person.email)
})

test('§5.2 the value in X-CSRF-Token must equal the svc_csrf cookie', async () => {
  const { agent } = await signedUp(service)
  assertJsonError(await agent.refresh('audience=app', { 'x-csrf-token': [] }), 403, 'forbidden')
  assertJsonError(await agent.refresh('audience=app', { 'x-csrf-token': 'other' }), 403, 'forbidden')
  assert.equal((await agent.refresh('audience=app')).status, 200)
})

test('§4.1 helpers of applications use the same endpoint: cookies passed on by a backend are enough', async () => {
  const { agent, person } = await signedUp(service)
  const cookie = agent.cookies.header('/auth/api/v1/user')
  const response = await fetch(`http://127.0.0.1:${service.port}/auth/api/v1/user`, {
    headers: { cookie: cookie ?? '' },
  })
  assert.equal(response.status, 200)
  assert.ok((await response.text()).includes(person.email))
})
