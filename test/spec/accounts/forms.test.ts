// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentUser, loggedIn, logIn, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertCannotLogIn,
  assertErrorPage,
  assertPage,
  assertRedirect,
  assertSignedIn,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import { createUserAgent, urlEncoded } from '../../support/client/user-agent.ts'
import { createUser, runCommandOf } from '../../support/service/operator-commands.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()

test('§4.2 failed forms: 401 (credentials)', async () => {
  const { person } = await signedUp(service)
  assertPage(await logIn(createUserAgent(service), { ...person, password: 'wrong password' }), 401)
})

test('§4.2 failed forms keep the typed values except the password', async () => {
  const person = { ...newPerson(), password: 'sEcReT-that-is-typed' }
  const login = await logIn(createUserAgent(service), person)
  assertPage(login, 401)
  assert.ok(login.text.includes(person.email))
  assert.ok(!login.text.includes(person.password))
  const signup = await signUp(createUserAgent(service), { ...person, email: 'no-email', username: 'Typed-Name' })
  assertPage(signup, 422)
  assert.match(signup.text, /value="no-email"/)
  assert.match(signup.text, /value="Typed-Name"/i)
  assert.ok(!signup.text.includes(person.password))
  const taken = await signedUp(service)
  const conflict = await signUp(createUserAgent(service), { ...person, email: taken.person.email })
  assertPage(conflict, 409)
  assert.ok(conflict.text.includes(taken.person.email) && !conflict.text.includes(person.password))
})

test('§4.2 a form that fails twice works the third time with the fields of its page', async () => {
  const agent = createUserAgent(service)
  const person = newPerson()
  assert.equal((await signUp(agent, { ...person, email: 'x' })).status, 422)
  assert.equal((await signUp(agent, { ...person, password: 'x' })).status, 422)
  assertRedirect(await signUp(agent, person), '/')
  await assertSignedIn(agent)
})

for (const [path, fields] of [
  ['/auth/login', ['email', 'password']],
  ['/auth/signup', ['email', 'password']],
] as const) {
  for (const field of fields) {
    test(`§4.2 ${path} without ${field} is refused with its page`, async () => {
      const { [field]: _, ...form } = newPerson()
      const answer = await createUserAgent(service).post(path, form)
      assert.ok([401, 422].includes(answer.status), String(answer.status))
      assertPage(answer, answer.status)
    })
  }
}

test('§4.2 bodies are application/x-www-form-urlencoded: any other type is 415', async () => {
  const agent = createUserAgent(service)
  await agent.get('/auth/login')
  const person = newPerson()
  const types: [string, string][] = [
    ['application/json', JSON.stringify(person)],
    ['text/plain', urlEncoded(person)],
    ['multipart/form-data; boundary=x', '--x\r\ncontent-disposition: form-data; name="email"\r\n\r\na\r\n--x--\r\n'],
    ['application/xml', '<email/>'],
    ['application/x-www-form-urlencoded-not', urlEncoded(person)],
    ['nonsense', urlEncoded(person)],
  ]
  for (const [type, body] of types) {
    const headers = { 'content-type': type, 'x-csrf-token': agent.cookies.get('svc_csrf') }
    assertErrorPage(await agent.send({ method: 'POST', path: '/auth/signup', headers, body }), 415)
  }
  await assertCannotLogIn(service, person)
})

test('§4.2 bodies may name their character set', async () => {
  const type = 'application/x-www-form-urlencoded; charset=UTF-8'
  assertRedirect(await createUserAgent(service).post('/auth/signup', newPerson(), { 'content-type': type }), '/')
})

test('§4.2 bodies are at most 16 KiB: one byte more is 413, with and without Content-Length', async () => {
  const agent = createUserAgent(service)
  await agent.get('/auth/login')
  const { password, ...person } = newPerson()
  const form = { csrf_token: agent.cookies.get('svc_csrf') ?? '', ...person, password }
  const padded = (bytes: number) => {
    const body = `${urlEncoded(form)}&padding=`
    return body + 'x'.repeat(bytes - body.length)
  }
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  const send = (bytes: number, headers = {}) =>
    agent.send({ method: 'POST', path: '/auth/signup', headers: { ...type, ...headers }, body: padded(bytes) })
  assertErrorPage(await send(16_385), 413)
  assertErrorPage(await send(16_385, { 'transfer-encoding': 'chunked' }), 413)
  await assertCannotLogIn(service, { ...person, password })
  assertRedirect(await send(16_384), '/')
})

test('§4.2 GET /auth/account needs a session, else 303 to /auth/login?return_to=%2Fauth%2Faccount', async () => {
  const { agent, person } = await signedUp(service)
  const answer = await agent.get('/auth/account')
  assertPage(answer)
  assert.ok(answer.text.includes(person.email) && answer.text.includes(person.username))
  const anonymous = createUserAgent(service)
  assertRedirect(await anonymous.get('/auth/account'), '/auth/login?return_to=%2Fauth%2Faccount')
})

test('§4.2 GET /auth/account with only a valid refresh token redirects to the account by way of the login', async () => {
  const { agent } = await signedUp(service)
  agent.cookies.delete('svc_access')
  let answer = await agent.get('/auth/account')
  for (let hops = 0; answer.status === 303 && hops < 3; hops++) answer = await agent.get(answer.location ?? '/')
  assertPage(answer)
  await assertSignedIn(agent)
})

for (const action of ['username', 'password', 'sessions', 'delete']) {
  test(`§4.2 POST /auth/account/${action} requires a session, and does nothing without one`, async () => {
    const answer = await createUserAgent(service).post(`/auth/account/${action}`, { username: 'nobody' })
    assert.ok(answer.status === 303 || answer.status === 401, String(answer.status))
    if (answer.status === 303) assert.match(answer.location ?? '', /^\/auth\/login/)
  })
}

test('§4.2 deleting the account requires the password: a wrong one is 401 with the page, and nothing is deleted', async () => {
  const { agent, person } = await signedUp(service)
  for (const password of ['wrong password', '']) {
    const answer = await agent.post('/auth/account/delete', { password })
    assert.ok(answer.status === 401 || (password === '' && answer.status === 422), String(answer.status))
    assertPage(answer, answer.status)
  }
  await assertSignedIn(agent)
  await assertCanLogIn(service, person)
})

test('§4.2 deleting the account: 303 to /auth/login?done=deleted, every session ends, email and username are free', async () => {
  const { agent, person } = await signedUp(service)
  const other = await loggedIn(service, person)
  const { id } = await currentUser(agent)
  const seen = agent.copy()
  const answer = await agent.post('/auth/account/delete', { password: person.password })
  assertRedirect(answer, '/auth/login?done=deleted')
  assert.ok(answer.cleared.includes('svc_access') && answer.cleared.includes('svc_refresh'))
  await assertSignedOut(seen)
  await assertSignedOut(other)
  await assertCannotLogIn(service, person)
  assertPage(await agent.get('/auth/login?done=deleted'))
  const again = await signedUp(service, person)
  assert.notEqual((await currentUser(again.agent)).id, id)
})

test('§4.2 a disabled user is not logged in, and sees the same page as an unknown one', async () => {
  const { person } = await signedUp(service)
  await runCommandOf(service, ['users', 'disable', person.email])
  await assertCannotLogIn(service, person)
})

test('§4.2 SVC_SIGNUP=off: no new accounts except by the command line', async (t) => {
  const closed = await startService({ t, env: { SVC_SIGNUP: 'off' } })
  const [person, guest] = [newPerson(), newPerson()]
  const page = await createUserAgent(closed).get('/auth/signup')
  assert.ok(page.status >= 400 && page.status < 500, String(page.status))
  const answer = await signUp(createUserAgent(closed), guest)
  assert.ok(answer.status >= 400 && answer.status < 500, String(answer.status))
  await assertCannotLogIn(closed, guest)
  assert.doesNotMatch((await createUserAgent(closed).get('/auth/login')).text, /\/auth\/signup/)
  await createUser(closed, person)
  await assertCanLogIn(closed, person)
})

test('§4.2 a login while signed in as another user starts the new session and does not touch the former account', async () => {
  const [one, other] = await Promise.all([signedUp(service), signedUp(service)])
  assertRedirect(await logIn(one.agent, other.person), '/')
  assert.equal((await currentUser(one.agent)).email, other.person.email)
})
