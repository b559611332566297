// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logIn, logOut, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertJsonError, assertRedirect, assertSignedIn } from '../../support/client/assertions.ts'
import { clearsCookie } from '../../support/client/cookie-jar.ts'
import { type Answer, createUserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()

const shape = (answer: Answer, name: string) => {
  const cookie = answer.cookie(name)
  assert.ok(cookie, `${name} is set`)
  const { httponly, samesite, path, secure, domain, expires } = cookie.attributes
  assert.equal(expires, undefined, 'Max-Age alone says how long')
  return { httpOnly: httponly === '', sameSite: samesite, path, secure: secure === '', domain }
}
const expiredPaths = (answer: Answer, name: string) =>
  answer.setCookies
    .filter((cookie) => cookie.name === name && clearsCookie(cookie))
    .map(({ attributes }) => attributes.path)
const maxAge = (answer: Answer, name: string) => Number(answer.cookie(name)?.attributes['max-age'])
const common = { sameSite: 'Lax', secure: false, domain: undefined }
const table = {
  svc_access: { ...common, httpOnly: true, path: '/' },
  svc_refresh: { ...common, httpOnly: true, path: '/auth' },
  svc_csrf: { ...common, httpOnly: false, path: '/' },
  svc_session: { ...common, httpOnly: false, path: '/' },
  svc_fresh: { ...common, httpOnly: false, path: '/' },
}

for (const [name, expected] of Object.entries(table)) {
  test(`§5.1 ${name} has the attributes of the table, host-only, at signup, login and when it is cleared`, async () => {
    const visitor = createUserAgent(service)
    const person = newPerson()
    assert.deepEqual(shape(await signUp(visitor, person), name), expected)
    const logout = await logOut(visitor)
    assert.deepEqual(shape(logout, name), expected, 'a cookie is only cleared under the same path')
    const login = await visitor.post('/auth/login', { email: person.email, password: person.password })
    assert.deepEqual(shape(login, name), expected)
  })
}

for (const [name, expected] of Object.entries(table).filter(([name]) => name !== 'svc_csrf')) {
  test(`§5.1 ${name} has the attributes of the table at refresh`, async () => {
    const { agent } = await signedUp(service)
    assert.deepEqual(shape(await agent.refresh(), name), expected)
  })
}

test("§5.1 svc_access: Max-Age is the access token's lifetime, 10 minutes", async () => {
  const { agent } = await signedUp(service)
  assert.equal(maxAge(await agent.refresh(), 'svc_access'), 600)
})

test('§5.1 svc_refresh: Max-Age is the remaining lifetime of the session, at most 30 days', async () => {
  const { agent } = await signedUp(service)
  const seconds = maxAge(await agent.refresh(), 'svc_refresh')
  assert.ok(seconds > 13 * 86_400 && seconds <= 30 * 86_400, String(seconds))
})

test('§5.1 svc_refresh and svc_csrf: Max-Age is the remaining lifetime of the session, and a refresh does not extend it', async (t) => {
  const env = { SVC_SESSION_TTL: '1h', SVC_SESSION_IDLE_TTL: '1h', SVC_ACCESS_TOKEN_TTL: '90s' }
  const clock = turnedClock()
  const short = await startService({ t, clock, env })
  const visitor = createUserAgent(short)
  const signup = await signUp(visitor, newPerson())
  assert.equal(maxAge(signup, 'svc_access'), 90)
  for (const name of ['svc_refresh', 'svc_csrf', 'svc_session']) {
    const seconds = maxAge(signup, name)
    assert.ok(seconds > 3590 && seconds <= 3600, `${name} ${seconds}`)
  }
  await clock.turnTo(600_000)
  const seconds = maxAge(await visitor.refresh(), 'svc_refresh')
  assert.ok(seconds <= 3000 && seconds > 2900, String(seconds))
})

test('§5.1 svc_fresh ends before svc_access does: by 60 s, or by half its life where that is less', async (t) => {
  const { agent } = await signedUp(service)
  assert.equal(maxAge(await agent.refresh(), 'svc_fresh'), 540)
  for (const [lifetime, fresh] of [
    ['90s', 45],
    ['3s', 1],
    ['1s', 0],
  ] as const) {
    const short = await startService({ t, env: { SVC_ACCESS_TOKEN_TTL: lifetime } })
    assert.equal(maxAge(await signUp(createUserAgent(short), newPerson()), 'svc_fresh'), fresh, lifetime)
  }
})

test('§5.1 svc_session and svc_fresh have the value 1, and go wherever svc_access goes', async () => {
  const { agent, person } = await signedUp(service)
  const token = 'x'.repeat(43)
  const outdated = { cookie: `svc_refresh=none; svc_csrf=${token}`, 'x-csrf-token': token }
  const answers = [
    await agent.refresh(),
    await logIn(agent.copy(), person),
    await agent.copy().get('/auth/api/v1/user', { cookie: 'svc_access=a; svc_access=b' }),
    await agent.copy().refresh('audience=app', outdated),
    await logOut(agent),
  ]
  for (const answer of answers) {
    const isCleared = answer.cleared.includes('svc_access')
    for (const name of ['svc_session', 'svc_fresh']) {
      assert.equal(answer.cleared.includes(name), isCleared, answer.text)
      assert.equal(answer.cookie(name)?.value, isCleared ? '' : '1')
    }
  }
  assert.deepEqual(
    answers.map(({ cleared }) => cleared.includes('svc_access')),
    [false, false, true, true, true],
  )
})

test('§5.1 svc_session and svc_fresh are never read: repeated or invented they change nothing', async () => {
  const { agent } = await signedUp(service)
  const own = `svc_access=${agent.cookies.get('svc_access')}`
  for (const more of ['svc_fresh=1; svc_fresh=1', 'svc_session=evil; svc_session=1', 'svc_fresh=; svc_session=']) {
    const answer = await agent.copy().get('/auth/api/v1/user', { cookie: `${own}; ${more}` })
    assert.deepEqual([answer.status, answer.setCookies], [200, []], more)
    assertJsonError(await agent.copy().get('/auth/api/v1/user', { cookie: more }), 401, 'unauthorized')
  }
})

test('§5.1 a session that began before there was a svc_session gets it at its next renewal', async () => {
  const { agent } = await signedUp(service)
  for (const name of ['svc_session', 'svc_fresh', 'svc_access']) agent.cookies.delete(name)
  const answer = await agent.get('/auth/login?return_to=%2Fshop')
  assertRedirect(answer, '/shop')
  assert.deepEqual([agent.cookies.get('svc_session'), agent.cookies.get('svc_fresh')], ['1', '1'])
})

test('§5.1 svc_access: Max-Age is never more than the remaining lifetime of the session', async (t) => {
  const env = { SVC_SESSION_TTL: '60s', SVC_SESSION_IDLE_TTL: '60s' }
  const short = await startService({ t, env })
  const signup = await signUp(createUserAgent(short), newPerson())
  assert.ok(maxAge(signup, 'svc_refresh') <= 60)
})

test('§5.1 svc_csrf: without a session it lasts until the browser closes', async () => {
  const cookie = (await createUserAgent(service).get('/auth/login')).cookie('svc_csrf')
  assert.ok(cookie)
  assert.equal(cookie.attributes['max-age'], undefined)
  assert.equal(cookie.attributes.expires, undefined)
})

test('§5.1 svc_csrf: after logout it lasts until the browser closes', async () => {
  const { agent } = await signedUp(service)
  assert.equal((await logOut(agent)).cookie('svc_csrf')?.attributes['max-age'], undefined)
})

test('§5.1 Secure exactly when SVC_BASE_URL is https', async (t) => {
  const secure = await startService({ t, env: { SVC_BASE_URL: 'https://app.example.com' } })
  const answer = await signUp(createUserAgent(secure), newPerson())
  assert.equal(answer.status, 303)
  for (const name of Object.keys(table)) assert.equal(shape(answer, name).secure, true, name)
})

test('§5.1 Secure does not depend on the request: http with X-Forwarded-Proto: https', async () => {
  const visitor = createUserAgent(service)
  const answer = await visitor.post('/auth/signup', newPerson(), { 'x-forwarded-proto': 'https' })
  for (const name of Object.keys(table)) assert.equal(shape(answer, name).secure, false, name)
})

test('§5.1 where svc_access arrives twice, the request counts as unauthenticated and the duplicate is expired', async () => {
  const { agent } = await signedUp(service)
  const token = agent.cookies.get('svc_access')
  for (const cookie of [`svc_access=${token}; svc_access=evil`, `svc_access=evil; svc_access=${token}`]) {
    const answer = await agent.copy().get('/auth/api/v1/user', { cookie })
    assertJsonError(answer, 401, 'unauthorized')
    assert.ok(expiredPaths(answer, 'svc_access').includes('/'), 'expired')
  }
  await assertSignedIn(agent)
})

test('§5.1 the duplicate is expired on the paths above the request, for the host and for its parent domains', async (t) => {
  const deep = await startService({ t, env: { SVC_BASE_URL: 'http://login.example.com' } })
  const answer = await createUserAgent(deep).get('/auth/api/v1/user', { cookie: 'svc_access=a; svc_access=b' })
  const paths = ['/', '/auth', '/auth/api', '/auth/api/v1', '/auth/api/v1/user']
  const domains = ['', '; Domain=login.example.com', '; Domain=example.com']
  const expected = paths.flatMap((path) =>
    domains.map((domain) => `svc_access=; Path=${path}${domain}; Max-Age=0; SameSite=Lax`),
  )
  const signals = ['svc_session', 'svc_fresh'].map((name) => `${name}=; Path=/; Max-Age=0; SameSite=Lax`)
  assert.deepEqual(answer.headers['set-cookie'], [...expected, ...signals])
})

test('§5.1 where svc_access arrives twice with the same value, the request counts as unauthenticated, too', async () => {
  const { agent } = await signedUp(service)
  const token = agent.cookies.get('svc_access')
  const answer = await agent.copy().get('/auth/api/v1/user', { cookie: `svc_access=${token}; svc_access=${token}` })
  assertJsonError(answer, 401, 'unauthorized')
})

test('§5.1 where svc_refresh arrives twice, refresh is 401, the duplicate is expired and the session stays valid', async () => {
  const { agent } = await signedUp(service)
  const { svc_refresh, svc_csrf } = {
    svc_refresh: agent.cookies.get('svc_refresh'),
    svc_csrf: agent.cookies.get('svc_csrf'),
  }
  for (const pair of [`svc_refresh=${svc_refresh}; svc_refresh=evil`, `svc_refresh=evil; svc_refresh=${svc_refresh}`]) {
    const answer = await agent.copy().refresh('audience=app', { cookie: `${pair}; svc_csrf=${svc_csrf}` })
    assertJsonError(answer, 401, 'unauthorized')
    assert.ok(expiredPaths(answer, 'svc_refresh').includes('/auth'), 'expired')
  }
  assert.equal((await agent.refresh()).status, 200)
})

test('§5.1 a doubled cookie does not open the account page', async () => {
  const { agent } = await signedUp(service)
  const cookie = `svc_access=${agent.cookies.get('svc_access')}; svc_access=evil`
  assertRedirect(await agent.copy().get('/auth/account', { cookie }), '/auth/login?return_to=%2Fauth%2Faccount')
})

test('§5.1 an empty cookie counts as absent', async () => {
  const cookie = 'svc_access=; svc_refresh=; svc_csrf='
  const visitor = createUserAgent(service)
  assertJsonError(await visitor.get('/auth/api/v1/user', { cookie }), 401, 'unauthorized')
  assertJsonError(await visitor.refresh('audience=app', { cookie }), 401, 'unauthorized')
})
