// Runs once.
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { newPerson } from '../support/client/accounts.ts'
import { startEchoApplication } from '../support/gateway/echo-application.ts'
import { startGateway } from '../support/gateway/gateway.ts'
import { ALL_GATEWAYS, ASKING_GATEWAYS, PUBLIC_ORIGIN } from '../support/gateway/gateway-configuration.ts'
import { echoOf, headersOf, identityOf, visitorOf } from '../support/gateway/visitor.ts'
import { connectRaw } from '../support/network/raw-connection.ts'
import { startService } from '../support/service/service.ts'

const svc = await startService({ env: { SVC_BASE_URL: PUBLIC_ORIGIN } })
const app = await startEchoApplication()
const gateways = await Promise.all(
  ALL_GATEWAYS.map(async (name) => ({ name, port: await startGateway(name, { svc: svc.port, app }) })),
)
const HOST = `Host: ${new URL(PUBLIC_ORIGIN).host}`

/** The headers that name a user, today or before 0.1.0. */
const IDENTITY = [
  ...['Id', 'Email', 'Username', 'Roles', 'Email-Verified', 'Amr', 'Auth-Time', 'Sid'].map(
    (name) => `X-Svc-User-${name}`,
  ),
  ...['Login', 'Email', 'Username', 'Roles', 'Email-Verified', 'Amr'].map((name) => `X-Svc-${name}`),
  ...['User', 'Email', 'Name', 'Groups'].map((name) => `Remote-${name}`),
]
/** No headers of svc. nginx, which has no pattern for names, lets them through. */
const UNKNOWN = ['X-Svc-User-Anything', 'X-Svc-Anything', 'Remote-Anything']
/** What a name may hold besides letters and digits (RFC 9110 section 5.6.2): an application may take each for a hyphen. */
const SEPARATORS = [..."-_.!#$%&'*+^`|~"]

/** Where clients look for the document about svc. */
const DISCOVERY = ['/.well-known/oauth-authorization-server/auth', '/.well-known/openid-configuration/auth']
/** What takes tokens of clients, and the document about it. */
const TAKE_TOKENS = ['/mcp', '/mcp?a=b', '/mcp/notes/1', '/.well-known/oauth-protected-resource/mcp']

/** Ways to ask for another protocol than a WebSocket. */
const UPGRADES = [
  ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA'],
  ['Connection: upgrade', 'Connection: http2-settings', 'upgrade: H2C', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA'],
  ['Connection: keep-alive, Upgrade', 'Upgrade:h2c'],
  ['Connection: Upgrade', 'Upgrade: \th2c\t'],
  ['Connection: Upgrade', 'Upgrade: h2c, websocket'],
  ['Connection: Upgrade', 'Upgrade: websocket, h2c'],
  ['Connection: Upgrade', 'Upgrade: websocket', 'Upgrade: h2c'],
  ['Connection: Upgrade', 'Upgrade: h2c', 'Upgrade: websocket'],
  ['Connection: Upgrade', 'Upgrade:', 'Upgrade: h2c'],
  ['Connection: Upgrade', 'Upgrade: websocket,', ' h2c'],
  ['Connection: Upgrade', 'Upgrade: websocket/h2c'],
  ['Connection: Upgrade', 'Upgrade: h2c websocket'],
  ['Connection: Upgrade', 'Upgrade: HTTP/2.0'],
  ['Connection: Upgrade', 'Upgrade: TLS/1.2'],
  ['Upgrade: h2c'],
]
const KEY = ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==']
const WEBSOCKET = ['Connection: Upgrade', 'Upgrade: websocket', ...KEY]

/** Sends a request as it is written. `text` is the answer: all of it, or its head where it is not 200. */
const send = async (port: number, lines: string[], t: TestContext, body = '') => {
  const raw = await connectRaw({ port }, t)
  raw.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
  const text = await raw.answer(/"trailers":\[.*\]\}|^HTTP\/1\.[01] (?!200).*?\r\n\r\n/s)
  return { raw, text, status: Number(text.split(' ')[1]) }
}

/** A user who is signed in, as the header of their requests. */
const cookieOf = async (port: number): Promise<string> => {
  const member = visitorOf(port)
  assert.equal((await member.submit('/auth/signup', { ...newPerson() })).status, 303)
  return `Cookie: svc_access=${member.cookies.get('svc_access')}`
}

for (const { name, port } of gateways) {
  describe(name, { concurrency: false }, () => {
    test('the two addresses that password managers ask for are answered by svc, and others beside them are not', async () => {
      const { open } = visitorOf(port)
      const password = await open('/.well-known/change-password?a=b')
      assert.deepEqual([password.status, password.location], [303, '/auth/account#change-password'])
      // There are no passkeys at this origin, so svc answers 404 with its own page.
      const since = svc.logLines().length
      const { status, headers } = await open('/.well-known/passkey-endpoints')
      const [line] = svc.logLines().slice(since)
      assert.deepEqual(
        [status, line?.path, line?.request_id],
        [404, '/auth/.well-known/passkey-endpoints', headers['x-request-id']],
      )
      for (const name of ['security.txt', 'change-passwords', 'change-password/', 'x/passkey-endpoints', 'jwks.json']) {
        const target = `/.well-known/${name}`
        assert.equal(echoOf(await open(target)).target, target)
      }
    })

    test('the two addresses that clients ask for first are answered by svc as they came, and others beside them are not', async () => {
      const { open } = visitorOf(port)
      for (const path of DISCOVERY) {
        const since = svc.logLines().length
        const { headers } = await open(`${path}?a=b`)
        const [line] = svc.logLines().slice(since)
        assert.deepEqual([line?.path, line?.request_id], [path, headers['x-request-id']])
      }
      for (const path of DISCOVERY) {
        for (const target of [path.slice(0, -'/auth'.length), `${path}/`, `${path}s`, `${path}/x`])
          assert.equal(echoOf(await open(target)).target, target)
      }
    })

    test('paths that take tokens get Authorization, and nobody says there who the user is', async (t) => {
      const cookie = await cookieOf(port)
      const forged = IDENTITY.map((header) => `${header}: admin`)
      for (const target of TAKE_TOKENS) {
        const head = [
          `POST ${target} HTTP/1.1`,
          HOST,
          cookie,
          ...forged,
          'Authorization: Bearer a.b.c',
          'Content-Length: 2',
        ]
        const { text, status } = await send(port, head, t, '{}')
        assert.equal(status, 200, text)
        const [json = ''] = /\{"application":true.*\}/s.exec(text) ?? []
        const echo = JSON.parse(json)
        assert.deepEqual([echo.method, echo.target, echo.body], ['POST', target, '{}'])
        assert.deepEqual(identityOf(echo), {})
        assert.deepEqual(headersOf(echo, /^authorization$/), { authorization: 'Bearer a.b.c' })
      }
    })

    test('headers that name a user do not come through from outside, in any spelling', async () => {
      const visitor = visitorOf(port)
      const arrived = async (names: string[], value = 'admin') =>
        identityOf(echoOf(await visitor.open('/elsewhere', Object.fromEntries(names.map((header) => [header, value])))))
      for (const separator of SEPARATORS) {
        const spelled = IDENTITY.map((header) => header.replaceAll('-', separator))
        assert.deepEqual(await arrived(spelled), {}, separator)
        assert.deepEqual(await arrived(spelled.map((header) => header.toUpperCase())), {}, separator)
        assert.deepEqual(await arrived(IDENTITY.map((header) => header.replace('-', separator))), {}, separator)
        const unknown = await arrived(UNKNOWN.map((header) => header.replaceAll('-', separator)))
        const allowed = name === 'nginx' && separator === '-' ? UNKNOWN.map((header) => header.toLowerCase()) : []
        assert.deepEqual(Object.keys(unknown), allowed, separator)
      }
      assert.deepEqual(await arrived(IDENTITY, ''), {})
    })

    test('fields behind a body do not come through', async (t) => {
      const head = ['POST /elsewhere HTTP/1.1', HOST, 'Transfer-Encoding: chunked']
      const { text, status } = await send(port, head, t, '3\r\nabc\r\n0\r\nX-Svc-User-Id: admin\r\n\r\n')
      // Before 3.2, HAProxy cannot take them away, and refuses the request.
      if (name === 'HAProxy' && status === 411) return
      assert.match(text, /"body":"abc","trailers":\[\]/)
    })

    test('no Upgrade but that of a WebSocket reaches the application', async (t) => {
      const cookie = await cookieOf(port)
      for (const lines of UPGRADES) {
        for (const target of ['/elsewhere', '/members/a']) {
          const { raw, text, status } = await send(port, [`GET ${target} HTTP/1.1`, HOST, cookie, ...KEY, ...lines], t)
          raw.close()
          assert.ok([101, 200, 400, 403].includes(status), text)
          // The application repeats what it got: as an upgrade, or in the text of its answer.
          const [json] = /\{"application":true.*\}/s.exec(text) ?? []
          const { upgrade = 'websocket' } = json ? headersOf(JSON.parse(json), /^upgrade$/) : {}
          assert.equal(upgrade, 'websocket', lines.join())
          if (status === 101) assert.match(text, /^Upgrade: websocket\r$/im, lines.join())
        }
      }
    })

    test('a WebSocket goes through, in the protected part for those who are signed in', async (t) => {
      const cookie = await cookieOf(port)
      for (const target of ['/elsewhere', '/members/a']) {
        const { raw, status } = await send(port, [`GET ${target} HTTP/1.1`, HOST, cookie, ...WEBSOCKET], t)
        assert.equal(status, 101)
        raw.write('there and back')
        assert.match(await raw.answer(/there and back/), /\r\n\r\nthere and back$/)
      }
      const stranger = await send(port, ['GET /members/a HTTP/1.1', HOST, ...WEBSOCKET], t)
      assert.equal(stranger.status, ASKING_GATEWAYS.some((asking) => asking === name) ? 401 : 101)
    })
  })
}
