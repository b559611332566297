// Runs once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createGuard } from '../../sdk/src/guard/guard.ts'
import { userOf } from '../../sdk/src/express.ts'
import { createAuth, SvcUnavailableError } from '../../sdk/src/server.ts'
import { PAGE_CASES } from '../support/client/page-cases.ts'

const guard = createGuard({ url: 'http://127.0.0.1:1' })

describe('a visitor who is not signed in', () => {
  for (const { method, headers, is } of PAGE_CASES) {
    test(`${method} ${JSON.stringify(headers)} is answered as ${is}`, async () => {
      const { refusal } = await guard.requireUser({ method, headers, url: '/a?b=1&c' })
      assert.equal(refusal?.status, is === 'page' ? 303 : 401)
      const { location, 'content-type': type } = refusal.headers
      assert.equal(location, is === 'page' ? '/auth/login?return_to=%2Fa%3Fb%3D1%26c' : undefined)
      if (is !== 'page') assert.equal(type, is === 'form' ? 'text/html; charset=utf-8' : 'application/json')
      assert.equal(refusal.headers['cache-control'], 'no-store')
    })
  }

  test('reads what happened where a form was sent, with nothing of the address in the page unescaped', async () => {
    const request = { method: 'POST', headers: { accept: 'text/html' }, url: '/orders?x="><b>&y=\'' }
    const { refusal } = await guard.requireUser(request)
    assert.match(refusal?.body ?? '', /Log in in a new tab<\/a>, then reload this page to send it\./)
    assert.match(refusal?.body ?? '', /href="\/auth\/login\?return_to=%2Forders%3Fx%3D%22%3E%3Cb%3E%26y%3D'"/)
  })
})

describe('an outage', () => {
  const cookie = { headers: { cookie: 'svc_access=a' } }

  test('is printed once in ten seconds, with the address and the cause', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_000 })
    const print = t.mock.method(console, 'error', () => {})
    for (let request = 0; request < 3; request++) await guard.loadUser({ ...cookie })
    assert.equal(print.mock.callCount(), 1)
    assert.match(
      String(print.mock.calls[0]?.arguments[0]),
      /^@svc\/sdk: svc at http:\/\/127\.0\.0\.1:1 cannot be asked who the user is: fetch failed: \S/,
    )
    t.mock.timers.tick(10_000)
    await guard.requireUser({ ...cookie })
    assert.equal(print.mock.callCount(), 2)
  })

  test('is told to the application each time, and not printed then', async (t) => {
    const print = t.mock.method(console, 'error', () => {})
    const told: SvcUnavailableError[] = []
    const { loadUser } = createGuard({ url: 'http://127.0.0.1:1', onUnavailable: (error) => void told.push(error) })
    await loadUser({ ...cookie })
    await loadUser({ ...cookie })
    assert.equal(told.length, 2)
    assert.ok(told.every((error) => error instanceof SvcUnavailableError))
    assert.equal(print.mock.callCount(), 0)
  })
})

test('userOf throws where no middleware found the user', () => {
  assert.throws(() => userOf({}), { name: 'TypeError', message: /put requireUser\(\) in front/ })
})

describe('loginUrl', () => {
  const { loginUrl } = createAuth({ url: 'http://127.0.0.1:1' })
  const returnToOf = (url: string | undefined, originalUrl?: string): string => {
    const { pathname, searchParams } = new URL(loginUrl({ headers: {}, url, originalUrl }), 'http://localhost')
    assert.equal(pathname, '/auth/login')
    return searchParams.get('return_to') ?? ''
  }

  test('keeps the path and the query as they were sent', () => {
    assert.equal(returnToOf('/a?b=1&c=%0d%0a#d'), '/a?b=1&c=%0d%0a#d')
    assert.equal(returnToOf('/%2f/../x?y=%ff'), '/%2f/../x?y=%ff')
    assert.equal(returnToOf('/caf\u00c3\u00a9'), '/caf%C3%A9', 'Node gives bytes')
    assert.equal(returnToOf('https://user:secret@example.com:8443/a/b?c=d'), '/a/b?c=d')
    assert.equal(
      new URL(loginUrl(new Request('https://example.com/é?ü')), 'http://x').searchParams.get('return_to'),
      '/%C3%A9?%C3%BC',
    )
  })

  test('takes the address from before a framework cut off where it is mounted', () => {
    assert.equal(returnToOf('/me?x', '/members/me?x'), '/members/me?x')
  })

  test('leads to / where the address is missing or svc would not accept it', () => {
    assert.equal(new URL(loginUrl(new Headers()), 'http://x').search, '?return_to=%2F')
    const refused = [
      '//evil.example',
      '/\\evil',
      '/.//evil.example',
      '/a\tb',
      '/a b',
      '*',
      '',
      'a',
      '/\ud800',
      `/${'a'.repeat(2048)}`,
    ]
    for (const url of [undefined, ...refused]) assert.equal(returnToOf(url), '/', String(url))
  })
})
