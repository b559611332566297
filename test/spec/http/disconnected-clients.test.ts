// Runs on SQLite.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { logIn, newAgent, signedUp } from '../../support/client/accounts.ts'
import { createUserAgent, urlEncoded } from '../../support/client/user-agent.ts'
import { holdHashQueue } from '../../support/service/held-hash-queue.ts'
import { startMeteredService } from '../../support/service/metrics.ts'
import { loggedLine, loggedRequest } from '../../support/service/request-log.ts'
import type { LogLine } from '../../support/service/service.ts'

const service = await startMeteredService({ env: { SVC_HASHES_AT_ONCE: '1' } })
const { person } = await signedUp(service)

const token = 'x'.repeat(43)
const form = urlEncoded({ email: person.email, password: person.password, csrf_token: token })
const loginAs = (client: string, length = form.length) =>
  `POST /auth/login HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${client}\r\nCookie: svc_csrf=${token}\r\n` +
  `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${length}\r\n\r\n${form}`

/** Sends bytes, and resolves to a function that resets the connection. */
const send = (bytes: string): Promise<() => Promise<void>> =>
  new Promise((resolve) => {
    const socket = connect(service.port, '127.0.0.1')
    const closed = new Promise<void>((done) => socket.once('close', () => done()))
    socket.on('error', () => {})
    const leave = async () => {
      socket.resetAndDestroy()
      await closed
    }
    socket.once('connect', () => socket.write(bytes, 'latin1', () => resolve(leave)))
  })

const assertLeft = async (client: string): Promise<LogLine> => {
  const line = await loggedLine(
    service,
    (each) => each.message === 'request' && each.client === client && each.status !== 303,
  )
  assert.deepEqual([line.status, line.level, line.method, line.route], [499, 'info', 'POST', '/auth/login'])
  assert.equal(line.err, undefined)
  return line
}

describe('a request whose sender has disconnected', () => {
  test('while it waits for a hash is logged at info as 499 with its address, and counted so', async (t) => {
    const client = '203.0.113.9'
    const queue = await holdHashQueue(service, t)
    const leave = await send(loginAs(client))
    await queue.isFollowedBy(1)
    await leave()
    const { problem } = await assertLeft(client)
    assert.equal(problem, 'The request was given up by its sender.')
    await queue.released()
    const metrics = await service.scrape()
    const count = (status: string) =>
      metrics.value('svc_http_request_duration_seconds_count', { route: '/auth/login', status })
    assert.deepEqual([count('499'), count('503')], [1, undefined])
    assert.equal(metrics.value('svc_logins_total', { outcome: 'given_up' }), 1)
  })

  test('before its body was complete is logged in the same way', async () => {
    const leave = await send(loginAs('203.0.113.10', form.length + 10))
    // A request that is not routed leaves no line.
    await createUserAgent(service).get('/auth/login')
    await leave()
    await assertLeft('203.0.113.10')
  })

  test('at once has an address in the log, or is not handled', async () => {
    const request = 'GET /auth/login HTTP/1.1\r\nHost: localhost\r\n\r\n'
    for (let sent = 0; sent < 300; sent += 30) {
      const leaving = Array.from({ length: 30 }, async () => (await send(request))())
      await Promise.all(leaving)
    }
    await loggedRequest(service, await createUserAgent(service).get('/auth/login'))
    const lines = service.logLines().filter(({ message }) => message === 'request')
    const clients = new Set(lines.map(({ client }) => client))
    assert.deepEqual(clients, new Set(['127.0.0.1', '203.0.113.9', '203.0.113.10']))
    assert.deepEqual(
      lines.filter(({ level }) => level !== 'info'),
      [],
    )
  })
})

test('the service still answers, and logs people in', async () => {
  assert.equal((await logIn(newAgent(service), person)).status, 303)
})
