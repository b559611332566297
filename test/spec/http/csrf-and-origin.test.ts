// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logIn, logOut, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertErrorPage, assertJsonError, assertSignedIn } from '../../support/client/assertions.ts'
import { type Answer, type Form, type UserAgent, createUserAgent, urlEncoded } from '../../support/client/user-agent.ts'
import { accessToken, claimsOf } from '../../support/service/access-tokens.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()
const { agent, person } = await signedUp(service)
const named = await startService({ env: { SVC_BASE_URL: 'https://app.example.com' } })
const guest = (await signedUp(named)).agent
const refresh = '/auth/api/v1/sessions/refresh?audience=app'
const changed = newPerson()

/** Every POST route, with a form that would succeed without the guard. */
const routes: [string, Form][] = [
  ['/auth/login', { email: person.email, password: person.password }],
  ['/auth/signup', changed],
  ['/auth/logout', {}],
  ['/auth/account/username', { username: changed.username }],
  ['/auth/account/password', { current_password: person.password, new_password: changed.password }],
  ['/auth/account/sessions', { session_id: String(claimsOf(accessToken(agent)).sid) }],
  ['/auth/account/delete', { password: person.password }],
  [refresh, {}],
]

const refuse = (path: string, answer: Answer): string => {
  if (path !== refresh) {
    assertErrorPage(answer, 403)
    return answer.text.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&#x2F;', '/')
  }
  return assertJsonError(answer, 403, 'forbidden')
}

/** Checks that the session, the account and its names have not changed. */
const assertUnharmed = async () => {
  await assertSignedIn(agent)
  const user = (await agent.get('/auth/api/v1/user')).json<{ username: string }>()
  assert.equal(user.username, person.username)
}

type Attempt = { form?: Form; headers?: Record<string, string | string[]> }
const csrf = agent.cookies.get('svc_csrf') ?? ''
const cookiesWithout = agent.cookies.header('/auth/')?.replace(/svc_csrf=[^;]*/, 'x=y') ?? ''

const attempts: [string, Attempt][] = [
  ['no token at all', {}],
  ['an empty field', { form: { csrf_token: '' } }],
  ['an empty header', { headers: { 'x-csrf-token': '' } }],
  ['a wrong field', { form: { csrf_token: 'A'.repeat(43) } }],
  ['a wrong header', { headers: { 'x-csrf-token': 'A'.repeat(43) } }],
  ['the token cut short', { headers: { 'x-csrf-token': csrf.slice(0, -1) } }],
  ['the token and more', { headers: { 'x-csrf-token': `${csrf}A` } }],
  ['the token in other case', { headers: { 'x-csrf-token': csrf.toLowerCase() } }],
  ['the token with a letter beyond ASCII', { form: { csrf_token: `${csrf.slice(0, -1)}é` } }],
  [
    'only the cookie of another visitor',
    { headers: { cookie: `${cookiesWithout}; svc_csrf=${'B'.repeat(43)}`, 'x-csrf-token': csrf } },
  ],
  ['a token and no cookie', { headers: { cookie: cookiesWithout, 'x-csrf-token': csrf } }],
  [
    'an empty token and no cookie',
    { headers: { cookie: cookiesWithout, 'x-csrf-token': '' }, form: { csrf_token: '' } },
  ],
  ['an empty token and an empty cookie', { headers: { cookie: `${cookiesWithout}; svc_csrf=`, 'x-csrf-token': '' } }],
  ['no token and an empty cookie', { headers: { cookie: `${cookiesWithout}; svc_csrf=` } }],
  [
    'the cookie twice',
    { headers: { cookie: `${cookiesWithout}; svc_csrf=${csrf}; svc_csrf=evil`, 'x-csrf-token': 'evil' } },
  ],
  ['the token in the query', {}],
  ...['evil', 'A'.repeat(42), 'A'.repeat(44), `${'A'.repeat(42)}=`, `${'A'.repeat(42)}+`, 'é'.repeat(43)].map(
    (token): [string, Attempt] => [
      `a token that has not the shape of ours, in the cookie too (${token})`,
      {
        headers: {
          cookie: Buffer.from(`${cookiesWithout}; svc_csrf=${token}`).toString('latin1'),
          'x-csrf-token': Buffer.from(token).toString('latin1'),
        },
      },
    ],
  ),
]

for (const [path, form] of routes) {
  for (const [what, attempt] of attempts) {
    test(`§5.2 every POST under /auth requires the token: ${path} with ${what} is 403`, async () => {
      const query = what.endsWith('query') ? `${path.includes('?') ? '&' : '?'}csrf_token=${csrf}` : ''
      const body = urlEncoded({ ...form, ...attempt.form })
      const headers = { 'content-type': 'application/x-www-form-urlencoded', ...attempt.headers }
      const answer = await agent.copy().send({ method: 'POST', path: path + query, headers, body })
      refuse(path, answer)
      assert.ok(!answer.cleared.includes('svc_access') && !answer.cleared.includes('svc_refresh'))
      await assertUnharmed()
    })
  }
}

const own = [`http://localhost:${service.port}`, `http://127.0.0.1:${service.port}`]
const foreign: [string, string][] = [
  ['sec-fetch-site', 'cross-site'],
  ['sec-fetch-site', 'same-site'],
  ['origin', 'https://evil.example'],
  ['origin', 'null'],
  ['origin', `http://localhost:${service.port + 1}`],
  ['origin', 'http://localhost'],
  ['origin', `http://localhost:${service.port}.evil.example`],
  ['origin', `http://evil.example/http://localhost:${service.port}`],
  ['origin', `http://sub.localhost:${service.port}`],
]
for (const [path, form] of routes) {
  for (const [header, value] of foreign) {
    test(`§5.2 a POST with ${header}: ${value} is 403, and the message names the header and both values: ${path}`, async () => {
      const token = { 'x-csrf-token': csrf }
      const answer = await agent.copy().post(path, form, { ...token, [header]: value })
      const message = refuse(path, answer)
      assert.match(message, new RegExp(header, 'i'))
      assert.ok(message.includes(value), message)
      assert.ok(message.includes(header === 'origin' ? service.url : 'same-origin'), message)
      await assertUnharmed()
    })
  }
}

/** Refreshes with these headers at the service with a base URL. */
const sentToNamed = async (headers: Record<string, string>): Promise<Answer> =>
  guest.refresh('audience=app', { host: 'app.example.com', ...headers })

test('§5.2 SVC_BASE_URL set: its origin passes with any Host header of the proxy', async () => {
  for (const host of ['app.example.com', 'svc.internal:8080', `localhost:${named.port}`]) {
    const headers = { origin: 'https://app.example.com', host }
    assert.equal((await sentToNamed(headers)).status, 200, host)
  }
})

for (const [origin, headers] of [
  ['http://app.example.com', {}],
  ['http://app.example.com', { 'x-forwarded-proto': 'http' }],
  ['https://app.example.com:8443', { host: 'app.example.com:8443' }],
  ['https://app.example.com:443', {}],
  ['https://APP.example.com', {}],
  ['https://app.example.com.', { host: 'app.example.com.' }],
  ['https://evil.example', { host: 'evil.example' }],
  ['http://evil.example', { host: 'evil.example' }],
  ['https://evil.example', { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }],
  [`http://localhost:${named.port}`, { host: `localhost:${named.port}` }],
  ['https://app.example.com, https://app.example.com', {}],
] satisfies [string, Record<string, string>][]) {
  test(`§5.2 SVC_BASE_URL set: a whole origin is compared, not the host alone: ${origin} ${JSON.stringify(headers)}`, async () => {
    const answer = await sentToNamed({ origin, ...headers })
    const message = assertJsonError(answer, 403, 'forbidden')
    assert.match(message, /header Origin/)
    assert.ok(message.includes(`"${origin}"`) && message.includes('expected "https://app.example.com".'), message)
    assertErrorPage(await guest.copy().post('/auth/logout', {}, { host: 'app.example.com', origin, ...headers }), 403)
    await assertSignedIn(guest)
  })
}

const https = { 'x-forwarded-proto': 'https' }
const unnamed: [string, Record<string, string>, boolean][] = [
  ['http://app.example', { host: 'app.example' }, true],
  ['http://app.example', { host: 'app.example:80' }, true],
  ['http://app.example', { host: 'APP.example' }, true],
  ['http://app.example:81', { host: 'app.example' }, false],
  ['https://app.example', { host: 'app.example' }, false],
  ['https://app.example', { host: 'app.example', ...https }, true],
  ['https://app.example', { host: 'app.example:443', ...https }, true],
  ['http://app.example', { host: 'app.example', ...https }, false],
  ['https://app.example', { host: 'svc.internal', 'x-forwarded-host': 'app.example', ...https }, true],
  [
    'https://other.example',
    { host: 'svc.internal', 'x-forwarded-host': 'other.example, app.example', ...https },
    false,
  ],
  ['https://app.example', { host: 'app.example', 'x-forwarded-proto': 'https, http' }, false],
  ['http://app.example/', { host: 'app.example/' }, false],
  ['http://user@app.example', { host: 'user@app.example' }, false],
]
for (const [origin, headers, passes] of unnamed) {
  const verb = passes ? 'passes' : 'is refused'
  test(`§5.2 SVC_BASE_URL not set: the whole origin of the request ${verb}: ${origin} ${JSON.stringify(headers)}`, async () => {
    const answer = await agent.refresh('audience=app', { origin, ...headers })
    if (passes) return assert.equal(answer.status, 200, answer.text)
    const message = assertJsonError(answer, 403, 'forbidden')
    assert.ok(message.includes(`"${origin}"`) && message.includes(`"${service.url}"`), message)
  })
}

test('§5.2 SVC_BASE_URL not set: headers of an address that is no trusted proxy change nothing', async (t) => {
  const direct = await startService({ t, env: { SVC_TRUST_PROXY: 'none' } })
  const visitor = (await signedUp(direct)).agent
  const host = 'app.example'
  const forwarded = { ...https, 'x-forwarded-host': host }
  const origin = (value: string, headers: Record<string, string>) =>
    visitor.refresh('audience=app', { origin: value, ...headers })
  assert.equal((await origin(`https://${host}`, { host, ...forwarded })).status, 403)
  assert.equal((await origin(`https://${host}`, { host: 'svc.internal', ...forwarded })).status, 403)
  assert.equal((await origin(`http://${host}`, { host, ...forwarded })).status, 200)
})

const harmless = async (headers: Record<string, string>, host?: string) => {
  const sent = host === undefined ? headers : { ...headers, host }
  return (await agent.refresh('audience=app', sent)).status
}

for (const value of ['same-origin', 'none']) {
  test(`§5.2 a POST whose Sec-Fetch-Site is ${value} passes`, async () => {
    assert.equal(await harmless({ 'sec-fetch-site': value }), 200)
  })
}
for (const origin of own) {
  test(`§5.2 an Origin that is SVC_BASE_URL's or the request's own host passes: ${origin}`, async () => {
    assert.equal(await harmless({ origin }, new URL(origin).host), 200)
  })
}
test("§5.2 SVC_BASE_URL's Origin passes behind a proxy that names another host", async () => {
  assert.equal(await harmless({ origin: service.url }, 'svc.internal:8080'), 200)
})
test('§5.2 the right Origin does not outweigh Sec-Fetch-Site: cross-site', async () => {
  assert.equal(await harmless({ origin: service.url, 'sec-fetch-site': 'cross-site' }), 403)
})
test('§5.2 no other origin may read a response', async () => {
  for (const method of ['GET', 'OPTIONS']) {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'GET' }
    const answer = await agent.send({ method, path: '/auth/api/v1/user', headers })
    assert.equal(answer.headers['access-control-allow-origin'], undefined)
    assert.equal(answer.headers['access-control-allow-credentials'], undefined)
  }
})
test('§5.2 a GET may come from anywhere: a link of another site opens the login page', async () => {
  const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
  assert.equal((await createUserAgent(service).get('/auth/login', headers)).status, 200)
})

for (const path of ['/auth/login', '/auth/signup', '/auth/logout', '/auth/nothing', '/auth/login?return_to=//x']) {
  test(`§5.2 any page under /auth sets svc_csrf if it is missing (32 random bytes, base64url): ${path}`, async () => {
    const visitor = createUserAgent(service)
    const value = (await visitor.get(path)).cookie('svc_csrf')?.value ?? ''
    assert.match(value, /^[\w-]{43}$/)
    assert.equal(Buffer.from(value, 'base64url').length, 32)
    assert.equal((await visitor.get(path)).cookie('svc_csrf'), undefined, 'and not where it is there')
    assert.notEqual((await createUserAgent(service).get(path)).cookie('svc_csrf')?.value, value)
  })
}

const changes: [string, (visitor: UserAgent) => Promise<Answer>][] = [
  ['signup', (visitor) => signUp(visitor, newPerson())],
  ['login', (visitor) => logIn(visitor, person)],
  ['logout', (visitor) => logOut(visitor)],
]
for (const [what, change] of changes) {
  test(`§5.2 svc_csrf changes at ${what}, and the new one works`, async () => {
    const visitor = what === 'logout' ? (await signedUp(service)).agent : createUserAgent(service)
    await visitor.get('/auth/login')
    const before = visitor.cookies.get('svc_csrf')
    assert.equal((await change(visitor)).status, 303)
    const after = visitor.cookies.get('svc_csrf')
    assert.match(after ?? 'none', /^[\w-]{43}$/)
    assert.notEqual(after, before)
    assert.equal((await visitor.post('/auth/logout', {})).status, 303)
  })
}
