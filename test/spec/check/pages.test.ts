// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertErrorPage, assertJsonError, assertRedirect } from '../../support/client/assertions.ts'
import { PAGE_CASES } from '../../support/client/page-cases.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { connectRaw } from '../../support/network/raw-connection.ts'
import { startService } from '../../support/service/service.ts'

const ORIGIN = 'https://members.example'
const service = await startService({ env: { SVC_BASE_URL: ORIGIN } })
const visitor = createUserAgent(service)
const NAVIGATE = { 'sec-fetch-mode': 'navigate' }

const loginFor = (target: string): string => `${ORIGIN}/auth/login?return_to=${encodeURIComponent(target)}`

for (const { method, headers, is } of PAGE_CASES) {
  test(`§4.13 ${method} ${JSON.stringify(headers)} is ${is}`, async () => {
    const sent = { ...headers, 'x-forwarded-method': method, 'x-forwarded-uri': '/a?b=1&c' }
    const plain = await visitor.get('/auth/check', sent)
    assertJsonError(plain, 401, 'unauthorized')
    assert.equal(plain.headers['x-svc-login'], is === 'page' ? loginFor('/a?b=1&c') : undefined)

    for (const path of ['/auth/check?redirect=1', '/auth/check/forward/a?b=1&c']) {
      const answer = await visitor.get(path, sent)
      if (is === 'page') assertRedirect(answer, loginFor('/a?b=1&c'))
      else if (is === 'form') assertErrorPage(answer, 401)
      else assertJsonError(answer, 401, 'unauthorized')
      assert.deepEqual(answer.setCookies, [])
      assert.equal(answer.headers['cache-control'], 'no-store')
    }
  })
}

test('§4.13 the page for a form says what happened, and leads to the login page in another tab', async () => {
  const sent = { ...NAVIGATE, 'x-forwarded-method': 'POST', 'x-forwarded-uri': '/orders?x="><b>&y' }
  const { text, headers } = await visitor.get('/auth/check?redirect=1', sent)
  assert.match(
    text.replaceAll(/(?:<[^>]*>|\s)+/g, ' '),
    /You were logged out before this was sent\. Log in in a new tab, then reload this page to send it\./,
  )
  assert.ok(!text.includes('<b>&'))
  assert.match(
    text,
    /<a class="svc-button first" href="\/auth\/login\?return_to=%2Forders[^"]*" target="_blank" rel="noopener">/,
  )
  assert.match(String(headers['content-security-policy']), /style-src/)
})

/** The original path as a proxy names it, and where the login page leads back to. */
const ORIGINALS: readonly [headers: Record<string, string | string[]>, returnTo: string][] = [
  [{}, '/'],
  [{ 'x-forwarded-uri': '/a?b=1&c=2&d' }, '/a?b=1&c=2&d'],
  [{ 'x-original-uri': '/a%26b%23c?d=%0d%0a' }, '/a%26b%23c?d=%0d%0a'],
  [{ 'x-original-url': 'https://members.example/a/b?c=d' }, '/a/b?c=d'],
  [{ 'x-original-url': 'https://evil.example:8443/a?b' }, '/a?b'],
  [{ 'x-original-url': 'https://members.example' }, '/'],
  [{ 'x-original-url': 'https://members.example?a' }, '/?a'],
  [{ 'x-forwarded-uri': '/1', 'x-original-uri': '/2', 'x-original-url': 'http://h/3' }, '/1'],
  [{ 'x-original-uri': '/2', 'x-original-url': 'http://h/3' }, '/2'],
  [{ 'x-forwarded-uri': '', 'x-original-uri': '/2' }, '/2'],
  [{ 'x-forwarded-uri': '/\u00e6\u0097\u00a5?\u00c3\u00a9' }, '/%E6%97%A5?%C3%A9'],
  [{ 'x-forwarded-uri': '//evil.example' }, '/'],
  [{ 'x-forwarded-uri': '/.//evil.example' }, '/'],
  [{ 'x-forwarded-uri': '/\\evil.example' }, '/'],
  [{ 'x-forwarded-uri': 'https://evil.example/' }, '/'],
  [{ 'x-forwarded-uri': '/a b' }, '/'],
  [{ 'x-forwarded-uri': ['/a', '/b'] }, '/'],
  [{ 'x-forwarded-uri': `/${'a'.repeat(2048)}` }, '/'],
  [{ 'x-forwarded-uri': '*' }, '/'],
  [{ 'x-original-url': 'javascript:alert(1)' }, '/'],
  [{ 'x-original-url': 'https://user@members.example/a' }, '/'],
]

for (const [original, returnTo] of ORIGINALS) {
  const headers = { ...NAVIGATE, ...original }
  test(`§4.13 the original address ${JSON.stringify(original).slice(0, 80)} is ${returnTo}`, async () => {
    const answer = await visitor.get('/auth/check', headers)
    assert.equal(answer.headers['x-svc-login'], loginFor(returnTo))
    assertRedirect(await visitor.get('/auth/check?redirect=1', headers), loginFor(returnTo))
  })
}

/** What follows `/auth/check/forward`, and where the login page leads back to. */
const FORWARDED: readonly [rest: string, returnTo: string][] = [
  ['', '/'],
  ['/', '/'],
  ['/a/b?c=1&d=2', '/a/b?c=1&d=2'],
  ['/?redirect=0&headers=remote', '/?redirect=0&headers=remote'],
  ['/%0d%0aX-Injected:%201?%ff', '/%0d%0aX-Injected:%201?%ff'],
  ['/a%2fb/../c', '/a%2fb/../c'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  [`/${'a'.repeat(2048)}`, '/'],
]

for (const [rest, returnTo] of FORWARDED) {
  test(`§4.13 /auth/check/forward${rest.slice(0, 40)} leads back to ${returnTo}`, async () => {
    const other = { ...NAVIGATE, 'x-forwarded-uri': '/other' }
    const answer = await visitor.get(`/auth/check/forward${rest}`, other)
    assertRedirect(answer, loginFor(returnTo))
    assert.equal(answer.headers['x-injected'], undefined)
  })
}

test('§4.13 other paths and queries are none of it', async () => {
  for (const path of ['/auth/check/', '/auth/check/x', '/auth/check/forwards', '/auth/checks', '/auth//check']) {
    assert.equal((await visitor.get(path, NAVIGATE)).status, 404, path)
  }
  assertJsonError(await visitor.get('/auth/check?redirect=0', NAVIGATE), 401, 'unauthorized')
  assertJsonError(await visitor.get('/auth/check?redirect=1&redirect=1', NAVIGATE), 400, 'invalid_request')
  assertJsonError(await visitor.get('/auth/check?redirect=%ff', NAVIGATE), 400, 'invalid_request')
})

const loginOf = async (method: string, headers: Record<string, string>) =>
  (await visitor.send({ method, path: '/auth/check', headers: { ...NAVIGATE, ...headers } })).headers['x-svc-login']

test('§4.13 the method is that of X-Forwarded-Method, X-Original-Method, or of the request itself', async () => {
  assert.equal(await loginOf('GET', {}), loginFor('/'))
  assert.equal(await loginOf('POST', {}), undefined)
  assert.equal(await loginOf('POST', { 'x-forwarded-method': 'GET' }), loginFor('/'))
  assert.equal(await loginOf('GET', { 'x-original-method': 'POST' }), undefined)
  assert.equal(await loginOf('GET', { 'x-forwarded-method': 'GET', 'x-original-method': 'POST' }), loginFor('/'))
  assert.equal(await loginOf('GET', { 'x-forwarded-method': 'GET, GET' }), undefined)
})

test('§4.13 rare methods are answered, too, and those that HTTP servers do not know are 405', async (t) => {
  const raw = await connectRaw(service, t)
  raw.write(
    'PURGE /auth/check HTTP/1.1\r\nHost: x\r\n\r\nSUBSCRIBE /auth/check HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  )
  assert.equal((await raw.answer()).match(/HTTP\/1\.1 401 /g)?.length, 2)
  const unknown = await connectRaw(service, t)
  unknown.write('MADEUP /auth/check HTTP/1.1\r\nHost: x\r\n\r\n')
  assert.match(await unknown.answer(), /^HTTP\/1\.1 405 /)
})
