// Runs on SQLite.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { afterwards } from '../support/cleanup.ts'
import { currentUser, newPerson, signedUp } from '../support/client/accounts.ts'
import { assertCanLogIn, assertErrorPage, assertJsonError, assertSignedIn } from '../support/client/assertions.ts'
import { type Answer, createUserAgent, urlEncoded } from '../support/client/user-agent.ts'
import { connectRaw } from '../support/network/raw-connection.ts'
import { listUsers } from '../support/service/operator-commands.ts'
import { startService } from '../support/service/service.ts'

const service = await startService()
const { agent, person } = await signedUp(service)
const before = { user: await currentUser(agent), users: await listUsers(service) }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

const assertUnharmed = async () => {
  assert.deepEqual(await currentUser(agent), before.user)
  await assertCanLogIn(service, person)
  assert.deepEqual(await listUsers(service), before.users)
}

afterwards(undefined, async () => {
  await service.stop()
  for (const line of service.logLines())
    assert.ok(line.level !== 'fatal' && Number(line.status ?? 0) < 500, JSON.stringify(line))
})

/** A POST with an unchanged body and a valid CSRF token in the header. */
const postBody = async (path: string, body: string, headers: Record<string, string> = {}) => {
  const visitor = createUserAgent(service)
  await visitor.get('/auth/login')
  const sent = { ...form, 'x-csrf-token': visitor.cookies.get('svc_csrf'), ...headers }
  return visitor.send({ method: 'POST', path, headers: sent, body })
}

const bodies: [string, string, number[]][] = [
  ['no body', '', [401, 422]],
  ['only separators', '&&&=&=&;', [401, 422]],
  ['a field without a value', 'email', [401, 422]],
  ['email=a&email=b', 'email=a@example.com&email=b@example.com&password=whatever+it+is', [400, 401, 422]],
  ['password twice', `email=${person.email}&password=a&password=${person.password}`, [400, 401, 422]],
  ['email[]=', `email[]=${person.email}&password[]=x`, [401, 422]],
  ['email[$ne]=', 'email[$ne]=x&password[$ne]=x', [401, 422]],
  ['__proto__', '__proto__=x&__proto__[admin]=1&constructor[prototype][admin]=1', [401, 422]],
  ['toString', 'toString=1&hasOwnProperty=1&email=x&password=whatever', [401, 422]],
  ['percent signs that stand for nothing', 'email=%zz&password=%', [400, 401, 422]],
  ['bytes that are no text', 'email=%ff%fe&password=%c0%af%c0%af%c0%af', [400, 401, 422]],
  ['a lone surrogate', 'email=%ED%A0%80&password=%ED%A0%80%ED%A0%80%ED%A0%80', [400, 401, 422]],
  ['a NUL everywhere', 'email=%00&password=%00&username=%00&return_to=', [400, 401, 422]],
  ['SQL', "email=' OR '1'='1&password=' OR '1'='1", [401, 422]],
  [
    'an email with a line break',
    'email=a%40example.com%0d%0aBcc%3a+b%40example.com&password=whatever+it+is',
    [401, 422],
  ],
  ['a thousand fields', Array.from({ length: 1000 }, (_, index) => `f${index}=x`).join('&'), [400, 401, 413, 422]],
  ['deep brackets', `a${'[b]'.repeat(2000)}=x`, [400, 401, 422]],
  ['JSON on a form route', JSON.stringify(person), [401, 422]],
]
for (const path of ['/auth/login', '/auth/signup']) {
  for (const [what, body, statuses] of bodies) {
    test(`${path} with ${what}: refused with a page, without a change of state`, async () => {
      const answer = await postBody(path, body)
      assert.ok(statuses.includes(answer.status), `${answer.status} ${answer.text}`)
      assert.match(answer.headers['content-type'] ?? '', /^text\/html/)
      assert.equal(answer.cookie('svc_access'), undefined)
    })
  }

  test(`${path} with JSON and its type: 415`, async () => {
    assertErrorPage(await postBody(path, JSON.stringify(person), { 'content-type': 'application/json' }), 415)
  })

  test(`${path} with a compressed body is not inflated`, async () => {
    const answer = await postBody(path, '\u001f\u008b\b', { 'content-encoding': 'gzip' })
    assert.ok(answer.status >= 400 && answer.status < 500, String(answer.status))
  })

  test(`${path} with a 1 MB password: 413`, async () => {
    assertErrorPage(await postBody(path, urlEncoded({ ...person, password: 'x'.repeat(1_000_000) })), 413)
  })
}

const cookies: [string, string | string[]][] = [
  ['empty', 'svc_access=; svc_refresh=; svc_csrf='],
  ['doubled', 'svc_access=a; svc_access=b; svc_refresh=a; svc_refresh=b; svc_csrf=a; svc_csrf=b'],
  ['8 KB', `svc_access=${'x'.repeat(2600)}; svc_refresh=${'y'.repeat(2600)}; svc_csrf=${'z'.repeat(2600)}`],
  ['only separators', ';;;,,;==;'],
  ['without values', 'svc_access; svc_refresh; svc_csrf'],
  ['quoted', 'svc_access="a"; svc_refresh="b"; svc_csrf="c"'],
  ['not text', 'svc_access=\u00ff\u00fe; svc_refresh=\u0080; svc_csrf=\u00e9'],
  ['named like the prototype', '__proto__=x; constructor=y; svc_access=z'],
  ['in other case', 'SVC_ACCESS=x; Svc_Refresh=y'],
  ['a thousand', Array.from({ length: 1000 }, (_, index) => `c${index}=1`).join('; ')],
  ['a JWT of another service', `svc_access=${btoa('{"alg":"RS256","typ":"JWT"}')}.${btoa('{"sub":"1"}')}.c2ln`],
  ['a JWT that is no object', `svc_access=${btoa('null')}.${btoa('[]')}.AA; svc_refresh=${btoa('1')}.${btoa('""')}.`],
  ['a JWT with a kid that is a path', `svc_access=${btoa('{"alg":"ES256","kid":"../../etc/passwd"}')}.e30.AA`],
  ['a JWT with a kid that is an object', `svc_access=${btoa('{"alg":"ES256","kid":{"a":1},"typ":"at+jwt"}')}.e30.AA`],
]
for (const [what, cookie] of cookies) {
  test(`cookies ${what}: no user, and no 5xx, on every route`, async () => {
    const visitor = createUserAgent(service)
    assertJsonError(await visitor.get('/auth/api/v1/user', { cookie }), 401, 'unauthorized')
    const refresh = await visitor.refresh('audience=app', { cookie })
    assert.ok([401, 403].includes(refresh.status), String(refresh.status))
    assert.equal((await visitor.get('/auth/login', { cookie })).status, 200)
    assert.equal((await visitor.get('/auth/account', { cookie })).status, 303)
    const logout = await visitor.send({ method: 'POST', path: '/auth/logout', headers: { ...form, cookie }, body: '' })
    assert.equal(logout.status, 403)
  })
}

const oddPaths = [
  '//auth/login',
  '/auth//login',
  '/auth/login/',
  '/auth/./login',
  '/auth/x/../login',
  '/x/../auth/login',
  '/auth/%6cogin',
  '/auth%2Flogin',
  '/auth/login%00',
  '/auth/login%20',
  '/auth/login;x=1',
  '/auth\\login',
  '/AUTH/LOGIN',
  '/auth/../etc/passwd',
  '/auth/%2e%2e/%2e%2e/etc/passwd',
  '/auth/assets',
  '/auth/assets/',
  '/auth/.git/config',
  '/auth/assets/../../package.json',
  '/auth/assets/%2e%2e/%2e%2e/package.json',
  '/auth/%',
  '/auth/%zz',
  '/auth/%ff',
  `/auth/${'x'.repeat(8000)}`,
  '/auth/__proto__',
  '/auth/api/v1/constructor',
]
for (const path of oddPaths) {
  test(`anything but the exact path is 404: ${path.slice(0, 50)}`, async () => {
    const answer = await createUserAgent(service).get(path)
    assert.ok([400, 404].includes(answer.status), `${answer.status} ${answer.location}`)
    assert.equal(answer.cookie('svc_access'), undefined)
    assert.doesNotMatch(answer.text, /name="password"|"dependencies"|root:/)
  })
}

for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH']) {
  test(`a method that a route does not have: ${method} is 405 with Allow`, async () => {
    const visitor = createUserAgent(service)
    const page = await visitor.send({ method, path: '/auth/login' })
    assert.equal(page.status, 405)
    assert.match(page.headers.allow ?? '', /GET/)
    assert.match(page.headers.allow ?? '', /POST/)
    const user = await visitor.send({ method, path: '/auth/api/v1/user' })
    assertJsonError(user, 405, 'method_not_allowed')
  })
}

const hosts: [string, Record<string, string>][] = [
  ['Host', { host: 'evil.example' }],
  ['Host with a script', { host: '"><script>alert(1)</script>' }],
  ['X-Forwarded-Host', { 'x-forwarded-host': 'evil.example' }],
  ['X-Forwarded-Proto', { 'x-forwarded-proto': 'javascript' }],
  ['X-Forwarded-For', { 'x-forwarded-for': 'evil.example, <script>' }],
  ['Forwarded', { forwarded: 'host=evil.example;proto=https;for=evil.example' }],
  ['X-Original-URL', { 'x-original-url': '/auth/account', 'x-rewrite-url': '/auth/account' }],
]
for (const [what, headers] of hosts) {
  test(`a spoofed ${what} changes no page and no redirect`, async () => {
    const answers: Answer[] = [
      await createUserAgent(service).get('/auth/login', headers),
      await createUserAgent(service).get('/auth/account', headers),
      await createUserAgent(service).post('/auth/login', { email: person.email, password: person.password }, headers),
    ]
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 303, 303],
    )
    assert.deepEqual(
      answers.map(({ location }) => location),
      [undefined, '/auth/login?return_to=%2Fauth%2Faccount', '/'],
    )
    for (const { text, setCookies } of answers) {
      assert.doesNotMatch(text, /evil\.example|<script>/)
      for (const { attributes } of setCookies) assert.equal(attributes.domain, undefined)
    }
  })
}

const crlf = '\r\n'
const login = `POST /auth/login HTTP/1.1${crlf}Host: localhost${crlf}Content-Type: application/x-www-form-urlencoded${crlf}`
const malformed: [string, string][] = [
  ['an unknown method', `BREW /auth/login HTTP/1.1${crlf}Host: localhost${crlf}${crlf}`],
  ['no HTTP at all', `hello${crlf}${crlf}`],
  ['TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'.repeat(20)],
  [
    'a header of 100 KB',
    `GET /auth/login HTTP/1.1${crlf}Host: localhost${crlf}X-Big: ${'x'.repeat(100_000)}${crlf}${crlf}`,
  ],
  ['a URL of 100 KB', `GET /auth/login?${'x'.repeat(100_000)} HTTP/1.1${crlf}Host: localhost${crlf}${crlf}`],
  ['two lengths', `${login}Content-Length: 5${crlf}Content-Length: 6${crlf}${crlf}email=`],
  [
    'a length and chunks (smuggling)',
    `${login}Content-Length: 5${crlf}Transfer-Encoding: chunked${crlf}${crlf}0${crlf}${crlf}GET /x`,
  ],
  ['a length below nothing', `${login}Content-Length: -1${crlf}${crlf}`],
  ['a chunk that is no number', `${login}Transfer-Encoding: chunked${crlf}${crlf}zz${crlf}x${crlf}`],
  [
    'a bare line feed in a header',
    `GET /auth/login HTTP/1.1${crlf}Host: localhost${crlf}X: a\nSet-Cookie: b${crlf}${crlf}`,
  ],
  ['a NUL in a header', `GET /auth/login HTTP/1.1${crlf}Host: localhost${crlf}X: a\u0000b${crlf}${crlf}`],
  ['no Host', `GET /auth/login HTTP/1.1${crlf}${crlf}`],
  ['raw bytes in the path', `GET /auth/\u00ff\u0000\u0001 HTTP/1.1${crlf}Host: localhost${crlf}${crlf}`],
]
const served = async (t: TestContext, text: string) => {
  const connection = await connectRaw(service, t)
  connection.write(text)
  return connection.answer(/\r\n\r\n[^]*/)
}
for (const [what, text] of malformed) {
  test(`${what}: a 4xx or a closed connection, and the service keeps serving`, async (t) => {
    const answer = await served(t, text)
    if (answer !== '') assert.match(answer, /^HTTP\/1\.1 4\d\d /)
    assert.equal((await createUserAgent(service).get('/auth/health')).status, 200)
  })
}

test('a URL of another host in the request line is not fetched and not followed', async (t) => {
  const answer = await served(t, `GET http://evil.example/auth/login HTTP/1.1${crlf}Host: evil.example${crlf}${crlf}`)
  assert.match(answer, /^HTTP\/1\.1 (?:200|4\d\d) /)
  // Only the policy contains it, for the assets of the page under the host that it was opened with.
  assert.doesNotMatch(answer.replace(/^content-security-policy: .*$/im, ''), /evil\.example/)
})

test('an upgrade and Expect: 100-continue do no harm', async (t) => {
  const upgrade = `GET /auth/login HTTP/1.1${crlf}Host: x${crlf}Connection: Upgrade${crlf}Upgrade: websocket${crlf}${crlf}`
  assert.doesNotMatch(await served(t, upgrade), /^HTTP\/1\.1 (?:101|5)/)
  const expect = `${login}Expect: 100-continue${crlf}Content-Length: 3${crlf}${crlf}a=b`
  assert.doesNotMatch(await served(t, expect), /^HTTP\/1\.1 5/)
})

test('slow bodies and slow heads: fifty of them wait, and the others are served', async (t) => {
  for (let index = 0; index < 25; index++) {
    const body = await connectRaw(service, t)
    body.write(`${login}Content-Length: 1000${crlf}${crlf}email=`)
    const head = await connectRaw(service, t)
    head.write(`GET /auth/login HTTP/1.1${crlf}Host: lo`)
  }
  await assertUnharmed()
})

test('clients that disconnect in the middle of a request do no harm', async (t) => {
  const body = urlEncoded({ email: person.email, password: person.password })
  for (let index = 0; index < 30; index++) {
    const connection = await connectRaw(service, t)
    connection.write(`${login}Content-Length: ${body.length}${crlf}${crlf}${body}`)
    connection.close()
  }
  await assertUnharmed()
})

test('after all this, no state has changed and the service still serves', async () => {
  await assertUnharmed()
  await assertSignedIn(agent)
  assert.equal((await agent.refresh()).status, 200)
  await signedUp(service, newPerson())
})
