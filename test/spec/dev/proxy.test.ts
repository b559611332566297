// Runs on SQLite.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { logIn, newAgent } from '../../support/client/accounts.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { startDevHere } from '../../support/dev/dev.ts'
import { freePort } from '../../support/network/free-port.ts'
import { connectRaw } from '../../support/network/raw-connection.ts'
import { within } from '../../support/wait.ts'

/** What the application answers; a test takes its turn. */
let answer: (request: IncomingMessage, response: ServerResponse) => unknown = (_, response) => response.end('hello')
const app = createServer((request, response) => void answer(request, response))
after(() => app.close().closeAllConnections())
// On one of the addresses of localhost, as servers for development do.
await once(app.listen(0, 'localhost'), 'listening')
const dev = await startDevHere({ options: { app: `http://localhost:${(app.address() as AddressInfo).port}` } })

const echo = async (request: IncomingMessage, response: ServerResponse) =>
  response.end(
    JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body: await text(request) }),
  )

type Echo = { method: string; url: string; headers: IncomingHttpHeaders; body: string }

test('svc and the application have one origin, and the application sees the host of the browser', async () => {
  answer = echo
  const agent = newAgent(dev)
  const visit = await agent.send({
    method: 'PUT',
    path: '/a%2Fb//c?d=%20e',
    headers: { 'x-forwarded-for': '9.9.9.9', 'x-forwarded-host': 'evil.example' },
    body: 'body',
  })
  const seen = visit.json<Echo>()
  assert.deepEqual([seen.method, seen.url, seen.body], ['PUT', '/a%2Fb//c?d=%20e', 'body'])
  const {
    host,
    'x-forwarded-host': forwardedHost,
    'x-forwarded-proto': proto,
    'x-forwarded-for': client,
  } = seen.headers
  assert.deepEqual([host, forwardedHost, proto], [`localhost:${dev.port}`, `localhost:${dev.port}`, 'http'])
  assert.match(String(client), /127\.0\.0\.1$/)
  const person = { email: 'ada@example.com', password: 'ada likes numbers', username: 'ada' }
  assert.equal((await logIn(agent, person, { return_to: '/notes' })).location, '/notes')
  const cookie = String((await agent.get('/notes')).json<Echo>().headers.cookie)
  const user = await createUserAgent(dev).get('/auth/api/v1/user', { cookie })
  assert.equal(user.json<{ username: string }>().username, 'ada')
})

test('the response arrives as it is: status, cookies, and an open connection', async () => {
  answer = (_, response) => response.writeHead(418, { 'set-cookie': ['a=1', 'b=2'], connection: 'close' }).end('tea')
  const { status, setCookies, headers, text: body } = await createUserAgent(dev).get('/tea')
  assert.deepEqual([status, setCookies.map(({ name }) => name), body], [418, ['a', 'b'], 'tea'])
  assert.equal(headers.connection, 'keep-alive')
})

test('streams pass in both directions, piece by piece', async () => {
  answer = (request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    request.on('data', (chunk: Buffer) => response.write(`data: ${String(chunk)}\n\n`))
    request.on('end', () => response.end())
  }
  const outgoing = request({
    port: dev.port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/stream',
    headers: { host: `localhost:${dev.port}` },
  })
  const arrived = once(outgoing, 'response')
  for (const piece of ['one', 'two']) {
    outgoing.write(piece)
    const [response]: IncomingMessage[] = await arrived
    const [chunk]: Buffer[] = await within(60, piece, once(response ?? assert.fail(), 'data'))
    assert.equal(String(chunk), `data: ${piece}\n\n`)
  }
  outgoing.end()
})

test('a request that the browser gives up ends at the application too', async () => {
  const ended = Promise.withResolvers<void>()
  answer = (_, response) => {
    response.write('first')
    response.once('close', ended.resolve)
  }
  const gone = new AbortController()
  await fetch(`http://127.0.0.1:${dev.port}/slow`, { signal: gone.signal })
  gone.abort()
  await within(60, 'the end', ended.promise)
})

test('WebSockets pass, as reloading on change needs, and an answer in place of one', async (t) => {
  app.removeAllListeners('upgrade').once('upgrade', ({ headers }, socket: Duplex) => {
    const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
    const accept = createHash('sha1').update(key).digest('base64')
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    )
    socket.once('data', (chunk) => socket.end(`${headers.origin} ${chunk}`))
  })
  const connection = await connectRaw(dev, t)
  const head = `Host: localhost:${dev.port}\r\nOrigin: ${dev.url}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n`
  connection.write(`GET /socket HTTP/1.1\r\n${head}Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`)
  await connection.answer(/s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n\r\n/)
  connection.write('hi')
  assert.match(await connection.answer(), new RegExp(`${dev.url} hi$`))
  app.once('upgrade', (_, socket: Duplex) =>
    socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno'),
  )
  const refused = await connectRaw(dev, t)
  refused.write(`GET /socket HTTP/1.1\r\n${head}Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`)
  assert.match(await refused.answer(), /^HTTP\/1\.1 400 [^]*no$/)
})

test('what browsers and clients look for beside /auth leads to svc, as behind a proxy', async (t) => {
  const withClients = await startDevHere({
    options: { app: 'http://127.0.0.1:1' },
    env: { SVC_CLIENTS: 'on', SVC_CLIENT_RESOURCES: 'http://localhost:3000/mcp' },
    t,
  })
  const statusOf = async (path: string) => (await createUserAgent(withClients).get(path)).status
  assert.equal(await statusOf('/.well-known/change-password'), 303)
  assert.equal(await statusOf('/.well-known/passkey-endpoints'), 200)
  assert.equal(await statusOf('/.well-known/oauth-authorization-server/auth'), 200)
  assert.equal(await statusOf('/.well-known/openid-configuration/auth'), 200)
  for (const path of ['/.well-known/other', '/authors', '/']) assert.equal(await statusOf(path), 502, path)
})

test('an application that does not run is a page that says so and loads again', async (t) => {
  const port = await freePort()
  const waiting = await startDevHere({ options: { app: `http://localhost:${port}` }, t })
  const page = await waiting.get('/', { accept: 'text/html' })
  assert.deepEqual([page.status, page.headers.refresh], [502, '2'])
  assert.match(page.text, new RegExp(`does not answer at http://localhost:${port}`))
  assert.match((await waiting.get('/api')).text, /^The application does not answer .*ECONNREFUSED/)
  const socket = await connectRaw(waiting, t)
  socket.write(
    `GET / HTTP/1.1\r\nHost: localhost:${waiting.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  )
  assert.equal(await socket.answer(), '')
})

test('without an application, its own page shows the signed-in user and leads to everything', async (t) => {
  const alone = await startDevHere({ t })
  const agent = newAgent(alone)
  assert.match((await agent.get('/')).text, /<b>Nobody<\/b>/)
  await logIn(agent, { email: 'grace@example.com', password: 'grace finds bugs', username: '' })
  const { text: page } = await agent.get('/')
  assert.match(page, /<b>grace@example\.com<\/b>[^]*admin/)
  for (const address of [
    '/auth/dev/mail',
    '/auth/dev/webhooks',
    '/auth/signup',
    '/auth/login',
    '/auth/account',
    '/auth/logout',
  ])
    assert.ok(page.includes(`href="${address}"`), address)
  assert.ok(page.includes(alone.apiKey) && page.includes(alone.webhookSecret))
  assert.equal((await agent.get('/notes')).status, 404)
})
