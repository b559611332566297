// Runs on SQLite.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, test } from 'node:test'
import { createDevRoutes } from '../../../src/dev/routes.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { startDevHere } from '../../support/dev/dev.ts'
import { connectRaw } from '../../support/network/raw-connection.ts'

let asked = 0
const app = createServer((_, response) => {
  asked += 1
  response.end('the application')
}).listen(0, '127.0.0.1')
after(() => app.close().closeAllConnections())
await once(app, 'listening')
const dev = await startDevHere({
  options: { app: `http://127.0.0.1:${(app.address() as AddressInfo).port}`, name: 'shop' },
})

const { host } = new URL(dev.url)
const JSON_TYPE = { 'content-type': 'application/json' }

/** Every route below /auth/dev, with a body that it would take. */
const ROUTES = createDevRoutes({} as never).map(({ method, path }) => ({ method, path: path.replace('{id}', '1') }))
const ADA = '{"email":"ada@example.com"}'

const isReading = (method: string): boolean => method === 'GET'

/** What pages of other origins make a browser send; the last ones are of older browsers. */
const FOREIGN: Record<string, Record<string, string>> = {
  'a page of another site': { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
  'a page at another port of localhost': { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' },
  'a page at another port, without Origin': { 'sec-fetch-site': 'same-site' },
  'an image or a frame on another site': { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'iframe' },
  'a page in a sandboxed frame, or a file': { origin: 'null' },
  'a page of another project of svc dev': { origin: `http://other.localhost:${dev.port}` },
  'a page by https': { origin: `https://${host}` },
  'a page whose host begins alike': { origin: `${dev.url}.evil.example` },
}

test('every route refuses what pages of other origins send, and changes nothing', async () => {
  assert.ok(ROUTES.length > 12)
  const agent = createUserAgent(dev)
  for (const { method, path } of ROUTES) {
    for (const [what, headers] of Object.entries(FOREIGN)) {
      const body = isReading(method) ? {} : { body: ADA, headers: JSON_TYPE }
      const answer = await agent.send({ method, path, ...body, headers: { ...body.headers, ...headers } })
      assert.equal(answer.status, 403, `${method} ${path}: ${what}`)
      assert.deepEqual(answer.setCookies, [])
      assert.match(answer.text, /The header (?:Origin|Sec-Fetch-Site) says/)
      assert.equal(answer.headers['access-control-allow-origin'], undefined)
    }
  }
})

test('every route that changes something refuses forms, and what a link or the address bar sends', async () => {
  const own = { origin: dev.url, 'sec-fetch-site': 'same-origin' }
  const agent = createUserAgent(dev)
  for (const { method, path } of ROUTES.filter((route) => !isReading(route.method))) {
    const bodies = ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/plain', 'text/json']
    for (const type of bodies) {
      const headers = { 'content-type': type }
      for (const from of [headers, { ...headers, ...own }]) {
        const answer = await agent.send({ method, path, body: ADA, headers: from })
        assert.equal(answer.status, 403, `${path}: ${type}`)
        assert.match(answer.text, /Content-Type/)
      }
    }
    assert.equal((await agent.send({ method, path, body: ADA })).status, 403, 'a body without a type')
    const typed = await agent.send({ method, path, body: ADA, headers: { ...JSON_TYPE, 'sec-fetch-site': 'none' } })
    assert.equal(typed.status, 403, path)
  }
})

test('a name of a website that leads to this machine reaches neither svc nor the application', async () => {
  const before = asked
  const agent = createUserAgent(dev)
  const hosts = [
    'evil.example',
    `evil.example:${dev.port}`,
    `localhost.evil.example:${dev.port}`,
    `other.localhost:${dev.port}`,
    'localhost',
    'localhost:1',
    `127.0.0.2:${dev.port}`,
    `10.0.0.1:${dev.port}`,
    `host.docker.internal:${dev.port}`,
    `localhost:${dev.port}@evil.example`,
  ]
  for (const path of ['/', '/auth/login', '/auth/dev', '/auth/dev/mail.json', '/auth/api/v1/user']) {
    for (const name of hosts) {
      const answer = await agent.get(path, { host: name })
      assert.equal(answer.status, 403, `${path} of ${name}`)
    }
  }
  assert.equal(asked, before)
})

test('a request that names another host in its target is refused', async (t) => {
  const connection = await connectRaw(dev, t)
  connection.write(`GET http://evil.example/auth/dev HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  assert.match(await connection.answer(), /^HTTP\/1\.1 403 /)
})

test('a WebSocket to svc or svc dev is refused, and one of another host to the application', async (t) => {
  const upgrade =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'
  const refused = [
    ['/auth/dev', host],
    ['/auth/dev/events', host],
    ['/auth/login', host],
    ['/socket', 'evil.example'],
  ]
  for (const [path, name] of refused) {
    const connection = await connectRaw(dev, t)
    connection.write(`GET ${path} HTTP/1.1\r\nHost: ${name}\r\nOrigin: http://evil.example\r\n${upgrade}`)
    assert.match(await connection.answer(), /^HTTP\/1\.1 403 /, path)
  }
})

describe('what is allowed', () => {
  test('its own pages, the address bar, and programs that send none of the headers', async () => {
    const agent = createUserAgent(dev)
    const own = [
      {},
      { origin: dev.url, 'sec-fetch-site': 'same-origin' },
      { origin: `http://localhost:${dev.port}`, host: `localhost:${dev.port}` },
    ]
    for (const headers of own) {
      const signedIn = await agent.send({
        method: 'POST',
        path: '/auth/dev/sign-in',
        body: ADA,
        headers: { ...JSON_TYPE, ...headers },
      })
      assert.equal(signedIn.status, 200, signedIn.text)
    }
    const read = [{ 'sec-fetch-site': 'none' }, { 'sec-fetch-site': 'same-origin' }, {}]
    for (const headers of read) assert.equal((await agent.get('/auth/dev/mail', headers)).status, 200)
  })

  test('the names of this machine alone', async () => {
    const agent = createUserAgent(dev)
    for (const name of [
      `shop.localhost:${dev.port}`,
      `localhost:${dev.port}`,
      `127.0.0.1:${dev.port}`,
      `[::1]:${dev.port}`,
      `LOCALHOST:${dev.port}`,
    ])
      assert.equal((await agent.get('/auth/health', { host: name })).status, 200, name)
  })

  test('a browser that has opened another name of the machine is sent to the one that cookies are for', async () => {
    const agent = createUserAgent(dev)
    const other = { host: `127.0.0.1:${dev.port}`, 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'none' }
    const answer = await agent.get('/auth/login?return_to=%2Fa', other)
    assert.deepEqual([answer.status, answer.location], [307, `${dev.url}/auth/login?return_to=%2Fa`])
  })
})

test('no page can be shown in a frame', async () => {
  for (const path of ['/auth/dev', '/auth/dev/mail', '/auth/dev/webhooks', '/auth/dev/nothing']) {
    const { headers } = await dev.get(path, { accept: 'text/html' })
    assert.equal(headers['x-frame-options'], 'DENY')
    assert.match(
      String(headers['content-security-policy']),
      /default-src 'none'.*form-action 'none'; frame-ancestors 'none'/,
    )
    assert.equal(headers['cross-origin-resource-policy'], 'same-origin')
  }
})

test('with --listen, containers reach it by the names that they know, and websites by none', async (t) => {
  const open = await startDevHere({ options: { listen: '127.0.0.3' }, t })
  const statusAt = async (name: string) =>
    (await createUserAgent(open).get('/auth/health', { host: `${name}:${open.port}` })).status
  for (const name of ['localhost', '127.0.0.3', 'host.docker.internal', 'host.containers.internal'])
    assert.equal(await statusAt(name), 200, name)
  for (const name of ['evil.example', '127.0.0.4', 'docker.internal']) assert.equal(await statusAt(name), 403, name)
  const response = await fetch(`http://127.0.0.3:${open.port}/auth/health`)
  assert.equal(response.status, 200)
})
