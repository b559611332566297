// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { currentUser, signedUp } from '../support/client/accounts.ts'
import { assertCanLogIn } from '../support/client/assertions.ts'
import type { Request } from '../support/client/user-agent.ts'
import { createUserAgent } from '../support/client/user-agent.ts'
import { listUsers } from '../support/service/operator-commands.ts'
import { startService } from '../support/service/service.ts'

const service = await startService()
const { agent, person } = await signedUp(service)
const before = await currentUser(agent)
const access = agent.cookies.get('svc_access') ?? ''
const csrf = agent.cookies.get('svc_csrf') ?? ''

const routes = [
  '/auth',
  '/auth/login',
  '/auth/signup',
  '/auth/logout',
  '/auth/account',
  '/auth/account/username',
  '/auth/account/password',
  '/auth/account/sessions',
  '/auth/account/delete',
  '/auth/health',
  '/auth/ready',
  '/auth/.well-known/jwks.json',
  '/auth/api/v1/user',
  '/auth/api/v1/sessions/refresh',
  '/auth/api/v1/openapi.json',
]

const nasty = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('', '__proto__', '\u0000', '\r\n', '//evil.example', '/\\x', '%', '%ff', '\ud800', '𝕏'.repeat(300)),
  fc.constantFrom('-1', '1e999', 'NaN', 'null', '[]', '{}', "'--", '<script>', '../../x', 'x'.repeat(4000)),
)
const encoded = nasty.map((text) => encodeURIComponent(text.toWellFormed()))
const fieldName = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('email', 'password', 'username', 'return_to', 'csrf_token', 'audience') },
  { weight: 2, arbitrary: fc.constantFrom('current_password', 'new_password', 'session_id', 'all_others', 'done') },
  { weight: 1, arbitrary: encoded },
)
const fields = fc
  .array(fc.tuple(fieldName, fc.oneof(encoded, fc.constantFrom(encodeURIComponent(person.email), csrf, '%2F'))), {
    maxLength: 6,
  })
  .map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join('&'))

const token = fc.oneof(fc.constantFrom(access, csrf, '', 'x', 'a.b.c', `${access}x`, '..'), encoded)
const cookie = fc
  .array(fc.tuple(fc.constantFrom('svc_access', 'svc_refresh', 'svc_csrf', '__proto__', 'other'), token), {
    maxLength: 5,
  })
  .map((pairs) =>
    pairs
      .map(([name, value]) => `${name}=${value}`)
      .join('; ')
      .slice(0, 8000),
  )

const headerValue = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'abz09-_/:;,="<>() é\u00ff'), maxLength: 60 }),
  fc.constantFrom('null', service.url, 'same-origin', 'cross-site', 'application/json', '203.0.113.9', 'chunked'),
)
const headers = fc.dictionary(
  fc.constantFrom(
    'origin',
    'sec-fetch-site',
    'referer',
    'x-forwarded-for',
    'x-forwarded-host',
    'accept',
    'user-agent',
    'host',
    'accept-language',
    'if-none-match',
    'x-request-id',
    'authorization',
    'range',
  ),
  headerValue,
  { maxKeys: 4 },
)
const contentType = fc.constantFrom(
  'application/x-www-form-urlencoded',
  'application/x-www-form-urlencoded; charset=utf-16',
  'application/json',
  'multipart/form-data; boundary=x',
  'text/plain',
  '',
)
const path = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...routes) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...routes), encoded).map(([route, tail]) => `${route}/${tail}`) },
)

const request: fc.Arbitrary<Request> = fc
  .record({
    method: fc.constantFrom('GET', 'GET', 'POST', 'POST', 'POST', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'),
    path,
    query: fields,
    cookie,
    withCsrf: fc.boolean(),
    type: contentType,
    headers,
    body: fc.oneof(fields, nasty),
  })
  .map(({ method, path, query, cookie, withCsrf, type, headers, body }) => ({
    method,
    path: query === '' ? path : `${path}?${query}`.slice(0, 8000),
    headers: {
      ...headers,
      'content-type': type,
      ...(withCsrf ? { cookie: `${cookie}; svc_csrf=${csrf}`, 'x-csrf-token': csrf } : { cookie }),
    },
    ...(method === 'GET' || method === 'HEAD' ? {} : { body: body.toWellFormed() }),
  }))

const seed = 20_261_121

test(`3,000 random requests to all routes (seed ${seed}): no 5xx, no off-site redirect, errors in the documented shape`, async () => {
  const anonymous = createUserAgent(service)
  const look = async (each: Request) => {
    const answer = await anonymous.send(each)
    assert.ok(answer.status >= 200 && answer.status < 500, `${answer.status} ${answer.text}`)
    assert.ok(answer.headers['x-request-id'])
    if (answer.location !== undefined) assert.match(answer.location, /^\/(?![/\\])[\x21-\x7e]*$/)
    const isJson = each.path.startsWith('/auth/api/') && answer.status >= 400 && each.method !== 'HEAD'
    if (isJson) assert.equal(typeof answer.json<{ error: { code: string } }>().error.code, 'string')
  }
  const batch = fc.array(request, { minLength: 10, maxLength: 10 })
  await fc.assert(
    fc.asyncProperty(batch, async (requests) => void (await Promise.all(requests.map(look)))),
    { seed, numRuns: 300 },
  )
})

test('after them the service still serves, and the existing user is unchanged', async () => {
  await assertCanLogIn(service, person)
  const user = (await listUsers(service)).find(({ id }) => id === before.id)
  assert.equal(user?.email, before.email)
  assert.equal(user?.username, before.username)
  await service.stop()
  assert.deepEqual(
    service.logLines().filter(({ level }) => level === 'error' || level === 'fatal'),
    [],
  )
})
