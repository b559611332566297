// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentUser, logOut, signedUp } from '../../support/client/accounts.ts'
import { assertErrorPage, assertJsonError } from '../../support/client/assertions.ts'
import { type Answer, createUserAgent, type UserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabase } from '../../support/database/database.ts'
import { connectRaw } from '../../support/network/raw-connection.ts'
import { startService } from '../../support/service/service.ts'

const clock = turnedClock()
const service = await startService({ clock })
const anonymous = createUserAgent(service)

/** The headers that name the user. */
const identityOf = ({ headers }: Answer) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => /^(?:x-svc|remote)-/.test(name)))

/** Checks for 200 without a body, for no cookie, and for nothing that may be stored. */
const assertAllowed = (answer: Answer): void => {
  assert.deepEqual([answer.status, answer.text, answer.setCookies], [200, '', []])
  assert.equal(answer.headers['cache-control'], 'no-store')
}

const assertRefused = (answer: Answer): void => {
  assertJsonError(answer, 401, 'unauthorized')
  assert.deepEqual([answer.setCookies, identityOf(answer)], [[], {}])
}

const setRoles = (id: string, roles: string[]) =>
  service.cli(['users', 'set-roles', id, ...roles]).then(({ code, stderr }) => assert.equal(code, 0, stderr))

test('§4.13 a session is 200, empty, with the user in headers, and never with the token', async () => {
  const { agent, person } = await signedUp(service)
  const { id } = await currentUser(agent)
  const answer = await agent.get('/auth/check')
  assertAllowed(answer)
  assert.deepEqual(identityOf(answer), {
    'x-svc-user-id': id,
    'x-svc-user-email': person.email,
    'x-svc-user-username': person.username,
    'x-svc-user-roles': '-',
    'x-svc-user-email-verified': 'false',
    'x-svc-user-amr': 'pwd',
  })
  const token = agent.cookies.get('svc_access') ?? ''
  assert.ok(!JSON.stringify(answer.headers).includes(token.slice(-20)))
})

test('§4.13 roles, a verified email and a changed username are there with the next request', async () => {
  const { agent } = await signedUp(service)
  const { id } = await currentUser(agent)
  assertAllowed(await agent.get('/auth/check'))
  await setRoles(id, ['admin', 'billing:read', 'x.y-z_1'])
  assert.equal((await service.cli(['users', 'verify-email', id])).code, 0)
  assert.equal((await service.cli(['users', 'set-username', id, 'renamed-for-check'])).code, 0)
  const seen = identityOf(await agent.get('/auth/check'))
  assert.equal(seen['x-svc-user-roles'], 'admin,billing:read,x.y-z_1')
  assert.equal(seen['x-svc-user-email-verified'], 'true')
  assert.equal(seen['x-svc-user-username'], 'renamed-for-check')
})

test('§4.13 what the user proved is named, and `-` where that is not known', async (t) => {
  const { agent } = await signedUp(service)
  const { id } = await currentUser(agent)
  const database = await openDatabase(service, t)
  const expected: [string | null, string][] = [
    ['pwd otp mfa', 'pwd,otp,mfa'],
    [null, '-'],
    ['swk mfa', 'swk,mfa'],
  ]
  for (const [amr, header] of expected) {
    await database.rows('UPDATE sessions SET amr = ? WHERE user_id = ? RETURNING id', amr, id)
    const answer = await agent.get('/auth/check')
    assertAllowed(answer)
    assert.equal(identityOf(answer)['x-svc-user-amr'], header)
  }
})

test('§4.13 with headers=remote there are the names that other software knows, and only then', async () => {
  const { agent, person } = await signedUp(service)
  const { id } = await currentUser(agent)
  const remote = (roles: string) => ({
    'remote-user': person.username,
    'remote-email': person.email,
    'remote-name': person.username,
    'remote-groups': roles,
  })
  const remoteOf = (answer: Answer) =>
    Object.fromEntries(Object.entries(identityOf(answer)).filter(([name]) => name.startsWith('remote-')))
  assert.deepEqual(remoteOf(await agent.get('/auth/check?headers=remote')), remote('-'))
  await setRoles(id, ['a', 'b'])
  const answer = await agent.get('/auth/check?redirect=1&headers=remote')
  assertAllowed(answer)
  assert.deepEqual(remoteOf(answer), remote('a,b'))
  assert.equal(identityOf(answer)['x-svc-user-roles'], 'a,b')
  for (const path of ['/auth/check', '/auth/check?headers=other', '/auth/check/forward/a?headers=remote']) {
    const plain = await agent.get(path)
    assertAllowed(plain)
    assert.deepEqual(remoteOf(plain), {}, path)
  }
})

test('§4.13 values are ASCII: all else and % are percent-encoded, and none can begin another header', async (t) => {
  const { agent, person } = await signedUp(service)
  const { id } = await currentUser(agent)
  const database = await openDatabase(service, t)
  const email = `50%\r\nX-Injected: 1\u007f\u00e9\u65e5\ud83d\ude00 ${person.email}`
  await database.rows('UPDATE users SET email = ? WHERE id = ? RETURNING id', email, id)
  const answer = await agent.get('/auth/check?headers=remote')
  assertAllowed(answer)
  const expected = `50%25%0D%0AX-Injected: 1%7F%C3%A9%E6%97%A5%F0%9F%98%80 ${person.email}`
  assert.equal(answer.headers['x-svc-user-email'], expected)
  assert.equal(answer.headers['remote-email'], expected)
  assert.equal(answer.headers['x-injected'], undefined)
})

test('§4.13 every method is answered alike, and a body is not looked at', async (t) => {
  const { agent } = await signedUp(service)
  const usual = identityOf(await agent.get('/auth/check'))
  for (const method of ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'REPORT']) {
    for (const path of ['/auth/check', '/auth/check/forward/a/b?c']) {
      const answer = await agent.send({ method, path, headers: { origin: 'https://evil.example' } })
      assertAllowed(answer)
      assert.deepEqual(identityOf(answer), usual, method)
      assertRefusedWithoutBody(method, await anonymous.send({ method, path }))
    }
  }
  const cookie = agent.cookies.header('/') ?? ''
  const raw = await connectRaw(service, t)
  // A proxy that announces the body of its visitor and sends none must not use the connection again.
  raw.write(`POST /auth/check HTTP/1.1\r\nHost: x\r\nCookie: ${cookie}\r\nContent-Length: 100000\r\n\r\n`)
  assert.match(await raw.answer(), /^HTTP\/1\.1 200 [^]*\r\nconnection: close\r\n/i)
  for (const announced of ['', 'Content-Length: 0\r\n']) {
    const kept = await connectRaw(service, t)
    kept.write(`POST /auth/check HTTP/1.1\r\nHost: x\r\nCookie: ${cookie}\r\n${announced}\r\n`)
    assert.match(await kept.answer(/\r\n\r\n/), /\r\nconnection: keep-alive\r\n/i, announced)
  }
  // Larger than any that is read elsewhere.
  const sent = await agent.send({ method: 'PUT', path: '/auth/check', body: 'x'.repeat(20_000) })
  assert.deepEqual(identityOf(sent), usual)
})

const assertRefusedWithoutBody = (method: string, answer: Answer): void => {
  if (method === 'HEAD') assert.deepEqual([answer.status, answer.setCookies], [401, []])
  else assertRefused(answer)
}

test('§4.13 no session, a forged or a refresh token, and repeated cookies are 401 without a cookie', async () => {
  const { agent } = await signedUp(service)
  const access = agent.cookies.get('svc_access') ?? ''
  const refresh = agent.cookies.get('svc_refresh') ?? ''
  for (const cookie of [
    [],
    'svc_access=',
    'svc_access=x',
    `svc_access=${access}x`,
    `svc_access=${refresh}`,
    `svc_refresh=${refresh}`,
    `svc_access=${access}; svc_access=${access}`,
    `svc_access=${access}; svc_csrf=a; svc_csrf=b`,
    `svc_access=${access}; svc_refresh=a; svc_refresh=b`,
  ]) {
    for (const path of ['/auth/check', '/auth/check?redirect=1', '/auth/check/forward/a']) {
      assertRefused(await anonymous.get(path, { cookie }))
    }
  }
  const navigation = { 'sec-fetch-mode': 'navigate', 'x-forwarded-method': 'POST' }
  const page = await anonymous.get('/auth/check?redirect=1', { ...navigation, cookie: 'svc_access=a; svc_access=b' })
  assertErrorPage(page, 401)
  assert.deepEqual(page.setCookies, [])
  assertAllowed(await agent.get('/auth/check'))
})

test('§4.13 logout, disabling and deletion are refused with the next request', async () => {
  const end: Record<string, (agent: UserAgent, id: string) => Promise<unknown>> = {
    logout: (agent) => logOut(agent.copy()),
    disabled: (_, id) => service.cli(['users', 'disable', id]),
    sessions: (_, id) => service.cli(['sessions', 'revoke', id]),
    deleted: (_, id) => service.cli(['users', 'delete', id, '--yes']),
  }
  for (const [name, act] of Object.entries(end)) {
    const { agent } = await signedUp(service)
    const { id } = await currentUser(agent)
    const before = agent.copy()
    assertAllowed(await before.get('/auth/check'))
    await act(agent, id)
    assert.equal((await before.get('/auth/check')).status, 401, name)
  }
})

test('§4.13 an expired access token is refused, and nothing is renewed or rotated, 100 times at once', async () => {
  const { agent } = await signedUp(service)
  const refresh = agent.cookies.get('svc_refresh')
  await clock.turnTo(11 * 60_000)
  const access = agent.cookies.header('/')
  const answers = await Promise.all(Array.from({ length: 100 }, () => agent.get('/auth/check', { cookie: access })))
  for (const answer of answers) assertRefused(answer)
  assert.equal(agent.cookies.get('svc_refresh'), refresh)
  assert.equal((await agent.refresh()).status, 200)
  assertAllowed(await agent.get('/auth/check'))
})
