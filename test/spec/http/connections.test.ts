// Runs on SQLite.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { signedUp } from '../../support/client/accounts.ts'
import { assertSignedIn } from '../../support/client/assertions.ts'
import { connectRaw } from '../../support/network/raw-connection.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()

const host = 'Host: localhost\r\n'
const form = 'Content-Type: application/x-www-form-urlencoded\r\n'
const last = `GET /auth/health HTTP/1.1\r\n${host}Connection: close\r\n\r\n`

/** Requests with and without a body, each on its own line of the table, and the status that each gets. */
const REQUESTS: [what: string, bytes: string, status: number][] = [
  ['a GET', `GET /auth/api/v1/user HTTP/1.1\r\n${host}\r\n`, 401],
  ['a GET with a body', `GET /auth/health HTTP/1.1\r\n${host}Content-Length: 5\r\n\r\nhello`, 200],
  [
    'a GET with a chunked body',
    `GET /auth/health HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`,
    200,
  ],
  ['a HEAD', `HEAD /auth/login HTTP/1.1\r\n${host}\r\n`, 200],
  ['a POST that announces no body', `POST /auth/logout HTTP/1.1\r\n${host}\r\n`, 403],
  ['a POST with an empty body', `POST /auth/logout HTTP/1.1\r\n${host}Content-Length: 0\r\n\r\n`, 403],
  ['a POST with a form', `POST /auth/login HTTP/1.1\r\n${host}${form}Content-Length: 7\r\n\r\nemail=a`, 403],
  [
    'a POST with a chunked form',
    `POST /auth/login HTTP/1.1\r\n${host}${form}Transfer-Encoding: chunked\r\n\r\n7\r\nemail=a\r\n0\r\n\r\n`,
    403,
  ],
  [
    'a POST with too large a body',
    `POST /auth/login HTTP/1.1\r\n${host}${form}Content-Length: 20000\r\n\r\n${'a'.repeat(20_000)}`,
    413,
  ],
  ['a POST to what is not there', `POST /auth/nothing HTTP/1.1\r\n${host}Content-Length: 5\r\n\r\nhello`, 404],
]

const statusesOf = (answer: string): number[] =>
  [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))

for (const [what, bytes, status] of REQUESTS) {
  test(`${what} is answered, and so is the request after it on the same connection`, async (t) => {
    const connection = await connectRaw(service, t)
    connection.write(bytes + last)
    assert.deepEqual(statusesOf(await connection.answer()), [status, 200])
  })
}

test('requests that are sent at once are answered in their order', async (t) => {
  const connection = await connectRaw(service, t)
  const twice = [...REQUESTS, ...REQUESTS.toReversed()]
  connection.write(twice.map(([, bytes]) => bytes).join('') + last)
  const answer = await connection.answer()
  assert.deepEqual(statusesOf(answer), [...twice.map(([, , status]) => status), 200])
  const ids = [...answer.matchAll(/^x-request-id: (\w+)\r$/gim)].map(([, id]) => id)
  assert.equal(new Set(ids).size, twice.length + 1)
})

const csrf = 'x'.repeat(43)
const fields = `email=a@example.com&password=some+password&csrf_token=${csrf}`
/** Its response takes a while: a password is checked. */
const slow = `POST /auth/login HTTP/1.1\r\n${host}${form}Cookie: svc_csrf=${csrf}\r\nContent-Length: ${fields.length}\r\n\r\n${fields}`

const UNREADABLE: [what: string, bytes: string, statuses: number[]][] = [
  ['what is no HTTP', 'nonsense\r\n\r\n', [405]],
  ['a CONNECT', `CONNECT x:443 HTTP/1.1\r\n${host}\r\n`, [405]],
  ['an Expect of something else', `GET /auth/health HTTP/1.1\r\n${host}Expect: x\r\n\r\n`, [417]],
  ['chunks that are none', `POST /auth/login HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, [400]],
  [
    'a body that was not waited for',
    `GET /auth/health HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n1\r\n`,
    [200],
  ],
]

for (const [what, bytes, statuses] of UNREADABLE) {
  test(`${what}, after a request that is still under way: that one gets its own response first`, async (t) => {
    const connection = await connectRaw(service, t)
    connection.write(slow + bytes)
    await connection.answer(new RegExp(`HTTP/1.1 ${statuses.at(-1)} `))
    connection.write('zz\r\n')
    assert.deepEqual(statusesOf(await connection.answer()), [401, ...statuses])
  })
}

test('what follows a request whose response closes the connection is not processed', async (t) => {
  const { agent } = await signedUp(service)
  const token = agent.cookies.get('svc_csrf') ?? ''
  const cookie = `Cookie: ${agent.cookies.header('/auth/logout')}\r\n`
  const logout = `POST /auth/logout HTTP/1.1\r\n${host}${cookie}X-CSRF-Token: ${token}\r\nContent-Length: 0\r\n\r\n`
  const closing = [
    `POST /auth/check HTTP/1.1\r\n${host}Content-Length: 2\r\n\r\nab`,
    `GET /auth/health HTTP/1.1\r\n${host}Connection: close\r\n\r\n`,
    'GET /auth/health HTTP/1.0\r\n\r\n',
  ]
  for (const bytes of closing) {
    const connection = await connectRaw(service, t)
    connection.write(bytes + logout)
    assert.equal(statusesOf(await connection.answer()).length, 1)
  }
  await assertSignedIn(agent)
})

test('a client that reads slowly gets every response whole', async (t) => {
  const count = 2000
  const socket = connect(service.port, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.pause()
  socket.write(`GET /auth/login HTTP/1.1\r\n${host}\r\n`.repeat(count - 1) + last)
  await setTimeout(300)
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk)
  const answer = Buffer.concat(chunks).toString()
  assert.deepEqual(
    statusesOf(answer),
    Array.from({ length: count }, () => 200),
  )
  assert.equal(answer.match(/<\/html>\n/g)?.length, count - 1)
})

test('HTTP/1.0 closes the connection after the response, unless the client wants to keep it', async (t) => {
  const one = await connectRaw(service, t)
  one.write('GET /auth/health HTTP/1.0\r\n\r\n')
  assert.deepEqual(statusesOf(await one.answer()), [200])
  const kept = await connectRaw(service, t)
  kept.write(`GET /auth/health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n${last}`)
  assert.deepEqual(statusesOf(await kept.answer()), [200, 200])
})
