// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signedUp } from '../../support/client/accounts.ts'
import { assertErrorPage, assertJsonError, assertShowsRequestId } from '../../support/client/assertions.ts'
import { type Answer, createUserAgent } from '../../support/client/user-agent.ts'
import { loggedRequest } from '../../support/service/request-log.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()
const anonymous = createUserAgent(service)
const user = '/auth/api/v1/user'
const refresh = '/auth/api/v1/sessions/refresh'
const form = { 'content-type': 'application/x-www-form-urlencoded' }

test('§7 {"error":{"code":"...","message":"..."}}, application/json', async () => {
  const answer = await anonymous.get(user)
  assertJsonError(answer, 401, 'unauthorized')
  assert.deepEqual(Object.keys(answer.json<object>()), ['error'])
})

test('§7 unauthorized 401', async () => {
  assertJsonError(await anonymous.get(user), 401, 'unauthorized')
})

test('§7 forbidden 403 (CSRF)', async () => {
  const { agent } = await signedUp(service)
  assertJsonError(await agent.refresh('audience=app', { 'x-csrf-token': 'x' }), 403, 'forbidden')
})

test('§7 forbidden 403 (cross-origin)', async () => {
  const { agent } = await signedUp(service)
  assertJsonError(await agent.refresh('audience=app', { origin: 'https://evil.example' }), 403, 'forbidden')
})

test('§7 invalid_request 400', async () => {
  const { agent } = await signedUp(service)
  assertJsonError(await agent.refresh('audience=a%20b'), 400, 'invalid_request')
})

for (const path of [
  '/auth/api/v1/nothing',
  '/auth/api/',
  '/auth/api/v1/user/',
  '/auth/api/v1/user/1',
  '/auth/api/v1//user',
]) {
  test(`§7 not_found 404: ${path}`, async () => {
    assertJsonError(await anonymous.get(path), 404, 'not_found')
  })
}

for (const [path, methods, allowed] of [
  [user, ['POST', 'PUT', 'PATCH', 'DELETE'], 'GET'],
  [refresh, ['GET', 'PUT', 'DELETE'], 'POST'],
] as const) {
  for (const method of methods) {
    test(`§7 method_not_allowed 405, with the allowed methods: ${method} ${path}`, async () => {
      const answer = await anonymous.send({ method, path })
      assertJsonError(answer, 405, 'method_not_allowed')
      assert.ok(answer.headers.allow?.split(/, ?/).includes(allowed), answer.headers.allow)
    })
  }
}

test('§7 payload_too_large 413', async () => {
  const { agent } = await signedUp(service)
  const headers = { 'content-type': 'application/json', 'x-csrf-token': agent.cookies.get('svc_csrf') }
  const answer = await agent.send({
    method: 'POST',
    path: `${refresh}?audience=app`,
    headers,
    body: ' '.repeat(1_000_000),
  })
  assertJsonError(answer, 413, 'payload_too_large')
})

test('§7 every JSON error has a different id, which is in the log line of the request', async () => {
  const answers = await Promise.all([1, 2, 3].map(() => anonymous.get(user)))
  const ids = answers.map(({ headers }) => String(headers['x-request-id']))
  assert.equal(new Set(ids).size, 3)
  for (const answer of answers) assert.equal((await loggedRequest(service, answer)).status, 401)
})

const pages: [string, number, () => Promise<Answer>][] = [
  ['unknown page', 404, () => anonymous.get('/auth/nothing')],
  ['wrong method', 405, () => anonymous.send({ method: 'PUT', path: '/auth/login' })],
  ['wrong method of a form action', 405, () => anonymous.send({ method: 'DELETE', path: '/auth/account/delete' })],
  ['return_to of another origin', 400, () => anonymous.get('/auth/login?return_to=//x')],
  ['no CSRF token', 403, () => anonymous.send({ method: 'POST', path: '/auth/login', headers: form, body: 'email=a' })],
  ['too large', 413, () => anonymous.post('/auth/login', { email: 'x'.repeat(20_000) })],
  ['no form', 415, () => anonymous.post('/auth/login', {}, { 'content-type': 'application/json' })],
]
for (const [what, status, ask] of pages) {
  test(`§7 the same failures on browser routes are HTML pages with the same status and the id: ${what} ${status}`, async () => {
    assertErrorPage(await ask(), status)
  })
}

test('§7 a failure on a browser route is HTML even for a program, and one of the API JSON even for a browser', async () => {
  const headers = { accept: 'application/json' }
  assertErrorPage(await anonymous.get('/auth/login?return_to=//x', headers), 400)
  assertErrorPage(await anonymous.send({ method: 'PUT', path: '/auth/login', headers }), 405)
  assertJsonError(await anonymous.get('/auth/api/v1/nothing', { accept: 'text/html' }), 404, 'not_found')
})

for (const path of ['/', '/favicon.ico', '/authentication', '/index.html', '/api/v1/user', '/Auth/login', '/AUTH']) {
  test(`§7 every path outside /auth is 404: ${path}`, async () => {
    const answer = await anonymous.get(path)
    assert.equal(answer.status, 404)
    assert.deepEqual(answer.setCookies, [])
    assertShowsRequestId(answer)
  })
}

test('§7 an error page does not repeat the path or the query', async () => {
  const { text } = await anonymous.get(
    '/auth/<script>alert(1)</script>?<script>alert(2)</script>'.replaceAll('<', '%3C'),
  )
  assert.doesNotMatch(text, /alert\(|%3Cscript/)
})

const everything = ['/auth/login', '/auth/signup', '/auth/account', '/auth', '/auth/health', '/auth/ready', user]
for (const path of [...everything, '/auth/.well-known/jwks.json', '/auth/api/v1/openapi.json', '/nowhere']) {
  test(`§7 every response has X-Request-Id: ${path}`, async () => {
    assert.match(String((await anonymous.get(path)).headers['x-request-id']), /^[\w-]{8,}$/)
  })
}

test('§7 every response has X-Request-Id: the assets of a page', async () => {
  const { text } = await anonymous.get('/auth/login')
  const files = [...text.matchAll(/(?:href|src)="(\/auth\/[^"]*\.(?:css|js|svg)[^"]*)"/g)].map(
    (match) => match[1] ?? '',
  )
  for (const file of files) {
    const answer = await anonymous.get(file)
    assert.equal(answer.status, 200, file)
    assert.ok(answer.headers['x-request-id'], file)
  }
})
