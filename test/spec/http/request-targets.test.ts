// Runs on SQLite.
import assert from 'node:assert/strict'
import http from 'node:http'
import { type TestContext, describe, test } from 'node:test'
import { newAgent, newPerson, signedUp } from '../../support/client/accounts.ts'
import { assertJsonError, assertRedirect, assertSignedIn } from '../../support/client/assertions.ts'
import { createUserAgent, urlEncoded } from '../../support/client/user-agent.ts'
import { connectRaw } from '../../support/network/raw-connection.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { allowCallbacks, providerSettings } from '../../support/provider/provider-service.ts'
import { returnFromProvider, startAt } from '../../support/provider/provider-sign-in.ts'
import { startMeteredService } from '../../support/service/metrics.ts'
import { loggedLine, loggedRequest } from '../../support/service/request-log.ts'

const corp = await startOpenIdProvider()
const service = await startMeteredService({ env: providerSettings({ corp }) })
allowCallbacks({ corp }, service.url)
const anonymous = createUserAgent(service)

/** Sends unchanged bytes on a connection that is closed afterwards. */
const exchange = async (t: TestContext, bytes: string, port = service.port) => {
  const connection = await connectRaw({ port }, t)
  connection.write(bytes)
  const [head = '', body = ''] = (await connection.answer()).split('\r\n\r\n')
  const requestId = /^x-request-id: (\w+)$/im.exec(head)?.[1]
  return { status: Number(head.split(' ')[1]), head, body, allow: /^allow: (.*)$/im.exec(head)?.[1], requestId }
}

const ask = (t: TestContext, requestLine: string, headers = 'Host: localhost\r\n') =>
  exchange(t, `${requestLine} HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`)

describe('§4.7 the absolute form of a request target (RFC 9112 section 3.2.2)', () => {
  for (const target of [
    'http://localhost',
    'HTTP://svc.example:8080',
    'https://app.example.com',
    'http://[::1]:8080',
  ]) {
    test(`is answered like its path: ${target}`, async (t) => {
      assert.equal((await ask(t, `GET ${target}/auth/login`)).status, 200)
      assert.equal((await ask(t, `GET ${target}/auth/login?return_to=//x`)).status, 400)
      assert.match((await ask(t, `GET ${target}/auth/api/v1/user`)).body, /"code":"unauthorized"/)
      for (const path of ['', '/', '?x=1', '//auth/login', '/auth/login/', '/auth/%6cogin'])
        assert.equal((await ask(t, `GET ${target}${path}`)).status, 404, path)
    })
  }

  test('contains the host that counts, in place of the header Host', async (t) => {
    const signUp = (authority: string, header: string, origin: string) => {
      const token = 'x'.repeat(43)
      const form = urlEncoded({ ...newPerson(), csrf_token: token })
      const head =
        `POST http://${authority}/auth/signup HTTP/1.1\r\nHost: ${header}\r\nOrigin: http://${origin}\r\n` +
        `Cookie: svc_csrf=${token}\r\nContent-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n`
      return exchange(t, `${head}Content-Length: ${form.length}\r\n\r\n${form}`)
    }
    assert.equal((await signUp('app.example', 'localhost', 'app.example')).status, 303)
    assert.equal((await signUp('localhost', 'evil.example', 'evil.example')).status, 403)
  })

  test('still requires exactly one header Host', async (t) => {
    assert.equal((await ask(t, 'GET http://localhost/auth/login', '')).status, 400)
    assert.equal((await ask(t, 'GET http://localhost/auth/login', 'Host: a\r\nHost: b\r\n')).status, 400)
  })

  for (const target of ['http://user@localhost/auth/login', 'http:///auth/login', 'ftp://localhost/auth/login']) {
    test(`is refused if it is no http or https URL without a user: ${target}`, async (t) => {
      assert.equal((await ask(t, `GET ${target}`)).status, 400)
    })
  }

  test('is answered on the metrics port too', async (t) => {
    const target = `GET http://localhost/auth/metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`
    const { status, body } = await exchange(t, target, service.metricsPort)
    assert.equal(status, 200)
    assert.match(body, /svc_processes/)
  })
})

describe('§4.7 HEAD changes nothing', () => {
  test('on the callback of a provider it is 405, signs nobody in and consumes no state', async () => {
    const agent = newAgent(service)
    const callback = await corp.visit(await startAt(agent, 'corp', { return_to: '/shop' }), {
      person: newOpenIdUser(),
    })
    const { pathname, search } = new URL(callback.url)
    const answer = await agent.send({ method: 'HEAD', path: pathname + search })
    assert.deepEqual([answer.status, answer.headers.allow, answer.setCookies], [405, 'GET, POST', []])
    assertRedirect(await returnFromProvider(agent, callback), '/shop')
    await assertSignedIn(agent)
  })

  test('it renews no session, and GET does', async () => {
    for (const path of ['/auth', '/auth/login', '/auth/signup', '/auth/account', '/auth/account/confirm']) {
      const { agent } = await signedUp(service)
      agent.cookies.delete('svc_access')
      const before = agent.cookies.get('svc_refresh')
      const head = await agent.send({ method: 'HEAD', path })
      assert.ok(head.status < 400, path)
      assert.equal(head.cookie('svc_refresh'), undefined, path)
      assert.equal(agent.cookies.get('svc_refresh'), before)
      assert.ok((await agent.get(path)).cookie('svc_refresh'), path)
      await assertSignedIn(agent)
    }
  })
})

describe('§4.7 any unknown method is 405, with the methods that the path has', () => {
  // CONNECT requests a tunnel and has a separate test.
  const unknown = http.METHODS.filter((method) => !['GET', 'HEAD', 'POST', 'CONNECT'].includes(method))
  const bodies = ['', 'Content-Length: 3\r\n\r\nabc']
  for (const method of ['QUERY', 'FETCH', ...unknown.filter((each) => each !== 'QUERY')]) {
    test(method, async (t) => {
      for (const body of bodies) {
        const send = (path: string) =>
          exchange(t, `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${body || '\r\n'}`)
        const login = await send('/auth/login?x=1')
        assert.deepEqual([login.status, login.allow], [405, 'GET, HEAD, POST'], login.head)
        const health = await send('/auth/health')
        assert.deepEqual([health.status, health.allow], [405, 'GET, HEAD'])
        assert.match(health.head, /^content-type: application\/json\r$/im)
        const nothing = await send('/auth/nothing')
        assert.deepEqual([nothing.status, nothing.allow], [404, undefined])
      }
    })
  }

  test('CONNECT, even with a target that is no path', async (t) => {
    const path = await ask(t, 'CONNECT /auth/login')
    assert.deepEqual([path.status, path.allow], [405, 'GET, HEAD, POST'])
    const authority = await ask(t, 'CONNECT example.com:443')
    assert.deepEqual([authority.status, authority.allow], [405, undefined])
  })

  test('a body that is too large is not read if the route takes none', async () => {
    const answer = await anonymous.send({ method: 'PUT', path: '/auth/health', body: 'x'.repeat(20_000) })
    assert.equal(answer.headers.allow, 'GET, HEAD')
    assertJsonError(answer, 405, 'method_not_allowed')
  })
})

test('§4.7 every path that the OpenAPI document names answers errors as JSON, wrong methods included', async () => {
  const { paths } = (await anonymous.get('/auth/api/v1/openapi.json')).json<{ paths: Record<string, object> }>()
  assert.ok(Object.keys(paths).length >= 6)
  for (const [path, operations] of Object.entries(paths)) {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'QUERY']) {
      if (method.toLowerCase() in operations) continue
      assertJsonError(await anonymous.send({ method, path }), 405, 'method_not_allowed')
    }
  }
})

const lineOf = async (path: string) => loggedRequest(service, await anonymous.get(path))

describe('§4.7 the log line of a 404', () => {
  test('contains the path without its query', async () => {
    const line = await lineOf('/auth/nothing/here?token=secret')
    assert.deepEqual([line.status, line.path, line.hint, line.route], [404, '/auth/nothing/here', undefined, undefined])
    assert.ok(!JSON.stringify(line).includes('secret'))
  })

  test('contains no part of the path that could be a token, and at most 200 characters', async () => {
    assert.equal((await lineOf(`/auth/reset/${'a1'.repeat(20)}/now`)).path, '/auth/reset/…/now')
    assert.equal(String((await lineOf('/a'.repeat(500))).path).length, 200)
  })

  const hints: [sent: string, meant: string | undefined][] = [
    ['/login', '/auth/login'],
    ['/api/v1/user', '/auth/api/v1/user'],
    ['/auth/auth/login', '/auth/login'],
    ['/auth/auth', '/auth'],
    ['/auth/auth/auth/login', undefined],
    ['/auth/nothing', undefined],
    ['/', undefined],
  ]
  for (const [sent, meant] of hints) {
    test(`suggests ${meant ?? 'nothing'} for ${sent}`, async () => {
      const { hint } = await lineOf(sent)
      if (meant === undefined) assert.equal(hint, undefined)
      else assert.ok(String(hint).startsWith(`Was ${meant} meant? The proxy `), String(hint))
    })
  }

  test('of an unknown method does so too', async (t) => {
    const { requestId } = await ask(t, 'FETCH /login?x=1')
    const line = await loggedLine(service, ({ request_id }) => request_id === requestId)
    assert.deepEqual([line.status, line.path, line.client], [404, '/login', '127.0.0.1'])
    assert.match(String(line.hint), /^Was \/auth\/login meant\?/)
  })
})

const request = 'GET /auth/login HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
const otherProtocols: [what: string, bytes: string, named: RegExp][] = [
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', /^TLS came, .*http:\/\//],
  [
    'version 1 of the PROXY protocol',
    `PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n${request}`,
    /^The PROXY protocol .*send-proxy/,
  ],
  ['version 1 without addresses', `PROXY UNKNOWN\r\n${request}`, /^The PROXY protocol .*send-proxy/],
  [
    'version 2 of the PROXY protocol',
    `\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c${'\x01'.repeat(12)}${request}`,
    /^The PROXY protocol .*X-Forwarded-For/,
  ],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', /^HTTP\/2 came, .*HTTP\/1\.1/],
]
for (const [what, bytes, named] of otherProtocols) {
  test(`§4.7 another protocol in place of HTTP/1.1 is named in the response and in the log, with what to change: ${what}`, async (t) => {
    const { status, body, requestId } = await exchange(t, bytes)
    assert.equal(status, 400)
    const { error } = JSON.parse(body) as { error: { code: string; message: string; request_id: string } }
    assert.deepEqual([error.code, error.request_id], ['invalid_request', requestId])
    assert.match(error.message, named)
    const line = await loggedLine(service, ({ request_id }) => request_id === requestId)
    assert.deepEqual([line.problem, line.client], [error.message, '127.0.0.1'])
  })
}

test('§4.7 request ids are random: one reveals nothing about another', async () => {
  const ids: string[] = []
  for (let count = 0; count < 300; count++)
    ids.push(String((await anonymous.get('/auth/health')).headers['x-request-id']))
  assert.equal(new Set(ids).size, ids.length)
  for (const id of ids) assert.match(id, /^[\da-f]{20}$/)
  for (const start of [0, 5, 10, 15]) {
    const parts = new Set(ids.map((id) => id.slice(start, start + 5)))
    assert.ok(parts.size > 290, `${parts.size} of ${ids.length} differ from ${start} on`)
  }
})
