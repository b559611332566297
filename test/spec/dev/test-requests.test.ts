// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { logIn, newAgent, newPerson, signedUp } from '../../support/client/accounts.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { startDevHere } from '../../support/dev/dev.ts'
import { eventually } from '../../support/wait.ts'

const dev = await startDevHere()

type SignedIn = { user: { id: string; email: string; username: string; roles: string[] }; cookie: string }

const userOf = async (cookie: string) => createUserAgent(dev).get('/auth/api/v1/user', { cookie })

/** What the server API says with the key of the start. */
const ask = (path: string) => dev.get(`/auth/api/v2/${path}`, { authorization: `Bearer ${dev.apiKey}`, cookie: '' })

/** Those who were created in one millisecond are listed in any order. */
const usersNow = async (): Promise<string[]> =>
  (await ask('users'))
    .json<{ users: { email: string }[] }>()
    .users.map(({ email }) => email)
    .toSorted()

describe('POST /auth/dev/sign-in', () => {
  test('signs a user in by one request, by the cookies of a login', async () => {
    const answer = await dev.post('/auth/dev/sign-in', { email: 'Grace@Example.com' })
    const { user, cookie } = answer.json<SignedIn>()
    assert.equal(answer.status, 200)
    assert.deepEqual([user.email, user.username, user.roles], ['grace@example.com', 'grace', ['admin']])
    const byLogin = await logIn(newAgent(dev), {
      ...newPerson(),
      email: 'grace@example.com',
      password: 'grace finds bugs',
    })
    const attributes = (found: typeof byLogin) =>
      found.setCookies.filter(({ name }) => name !== 'svc_last_way').map(({ line }) => line.replace(/=[^;]*/, ''))
    assert.deepEqual(attributes(answer).toSorted(), attributes(byLogin).toSorted())
    const found = await userOf(cookie)
    assert.equal(found.json<{ id: string }>().id, user.id)
    assert.equal(found.headers['x-svc-user-amr'], 'pwd')
    assert.ok(!cookie.includes('svc_refresh'))
  })

  test('makes the account where there is none, with a verified address', async () => {
    const { user, cookie } = (await dev.post('/auth/dev/sign-in', { email: 'alan@example.com' })).json<SignedIn>()
    const found = await userOf(cookie)
    assert.deepEqual(
      [found.json<{ email: string }>().email, found.headers['x-svc-user-email-verified']],
      ['alan@example.com', 'true'],
    )
    const again = (await dev.post('/auth/dev/sign-in', { email: 'alan@example.com' })).json<SignedIn>()
    assert.equal(again.user.id, user.id)
  })

  test('the session can be renewed, and changes the account as one of a login does', async () => {
    const agent = createUserAgent(dev)
    await agent.send({
      method: 'POST',
      path: '/auth/dev/sign-in',
      headers: { 'content-type': 'application/json' },
      body: '{"email":"ada@example.com"}',
    })
    assert.equal((await agent.refresh()).status, 200)
    const renamed = await agent.post('/auth/account/username', { username: 'countess' })
    assert.equal(renamed.status, 303, renamed.text)
    assert.equal((await agent.post('/auth/logout')).status, 303)
    assert.equal((await agent.get('/auth/api/v1/user')).status, 401)
  })

  test('names the field that is wrong, and refuses a disabled user', async () => {
    for (const body of [{}, { email: 1 }, { email: 'ada' }, { email: '' }, { mail: 'ada@example.com' }]) {
      const answer = await dev.post('/auth/dev/sign-in', body)
      assert.deepEqual([answer.status, answer.setCookies], [422, []], JSON.stringify(body))
      assert.match(answer.text, /"field":"(?:email|mail)"/)
    }
    const { agent, person } = await signedUp(dev)
    const { id } = (await agent.get('/auth/api/v1/user')).json<{ id: string }>()
    const headers = { authorization: `Bearer ${dev.apiKey}`, 'content-type': 'application/json' }
    await createUserAgent(dev).send({
      method: 'PATCH',
      path: `/auth/api/v2/users/${id}`,
      headers,
      body: '{"disabled":true}',
    })
    const refused = await dev.post('/auth/dev/sign-in', { email: person.email })
    assert.deepEqual([refused.status, refused.setCookies], [409, []])
    for (const text of ['', '[]', '{"email"', '"ada@example.com"']) {
      const answer = await createUserAgent(dev).send({
        method: 'POST',
        path: '/auth/dev/sign-in',
        headers: { 'content-type': 'application/json' },
        body: text,
      })
      assert.ok([400, 422].includes(answer.status), text)
      assert.doesNotMatch(answer.text, / at /)
    }
  })
})

describe('POST /auth/dev/clock', () => {
  test('moves the clock past an access token, and past a session', async () => {
    const agent = createUserAgent(dev)
    const body = '{"email":"ada@example.com"}'
    await agent.send({
      method: 'POST',
      path: '/auth/dev/sign-in',
      headers: { 'content-type': 'application/json' },
      body,
    })
    const asked = async () => (await agent.get('/auth/api/v1/user')).status
    assert.equal(await asked(), 200)
    const { now } = (await dev.post('/auth/dev/clock', { forward: '15m' })).json<{ now: string }>()
    assert.ok(Date.parse(now) > Date.now() + 14 * 60_000)
    assert.equal(await asked(), 401)
    assert.equal((await agent.refresh()).status, 200)
    assert.equal(await asked(), 200)
    await dev.post('/auth/dev/clock', { forward: '720h' })
    assert.equal((await agent.refresh()).status, 401)
  })

  test('accepts durations alone', async () => {
    for (const forward of ['', '15', '-15m', 'soon', '9999999999h', 15, null]) {
      const answer = await dev.post('/auth/dev/clock', { forward })
      assert.deepEqual([answer.status, answer.text.includes('"field":"forward"')], [422, true], String(forward))
    }
  })
})

describe('POST /auth/dev/reset', () => {
  test('empties everything, and puts the users, the API key and the clock right', async () => {
    const { agent } = await signedUp(dev)
    await eventually('its message has arrived', async () =>
      (await dev.get('/auth/dev/mail.json')).text.includes('Confirm'),
    )
    await dev.post('/auth/dev/clock', { forward: '48h' })
    const { keys } = (await dev.get('/auth/.well-known/jwks.json')).json<{ keys: object[] }>()
    assert.equal((await dev.post('/auth/dev/reset')).status, 204)
    assert.deepEqual(await usersNow(), ['ada@example.com', 'grace@example.com'])
    assert.equal((await agent.get('/auth/api/v1/user')).status, 401)
    assert.deepEqual((await dev.get('/auth/dev/mail.json')).json(), { messages: [] })
    assert.deepEqual((await dev.get('/auth/dev/webhooks.json')).json(), { webhooks: [] })
    assert.deepEqual(
      (await dev.get('/auth/.well-known/jwks.json')).json<{ keys: object[] }>().keys,
      keys,
      'verifiers hold on to them',
    )
    const { cookie } = (await dev.post('/auth/dev/sign-in', { email: 'ada@example.com' })).json<SignedIn>()
    const seconds = Number((await userOf(cookie)).headers['x-svc-user-auth-time'])
    assert.ok(Math.abs(seconds - Date.now() / 1000) < 3600)
    const person = { ...newPerson(), email: 'grace@example.com', password: 'grace finds bugs' }
    assert.equal((await logIn(newAgent(dev), person)).status, 303)
  })

  test('requests at the same moment wait for it, and so does another reset', async () => {
    const answers = await Promise.all([
      dev.post('/auth/dev/reset'),
      dev.get('/auth/health'),
      dev.post('/auth/dev/reset'),
      dev.post('/auth/dev/sign-in', { email: 'ada@example.com' }),
    ])
    assert.deepEqual(
      answers.map(({ status }) => status),
      [204, 200, 204, 200],
    )
  })
})

test('POST /auth/dev/api-keys makes a key with the scopes that it names', async () => {
  const { api_key: key } = (await dev.post('/auth/dev/api-keys', { scopes: ['users:read'] })).json<{
    api_key: string
  }>()
  const authorization = `Bearer ${key}`
  assert.equal((await dev.get('/auth/api/v2/users', { authorization })).status, 200)
  assert.equal((await dev.get('/auth/api/v2/audit', { authorization })).status, 403)
  for (const scopes of [[], ['users'], 'users:read']) {
    const answer = await dev.post('/auth/dev/api-keys', { scopes })
    assert.deepEqual([answer.status, answer.text.includes('"field":"scopes"')], [422, true])
  }
})
