// Runs on SQLite.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { createUserAgent } from '../support/client/user-agent.ts'
import { connectRaw } from '../support/network/raw-connection.ts'
import { startMeteredProcess } from '../support/service/metrics.ts'
import { loggedRequest } from '../support/service/request-log.ts'
import { startServiceProcess } from '../support/service/service-process.ts'
import { eventually } from '../support/wait.ts'

const TWO_LOCALHOSTS = new URL('../support/network/two-localhosts-tap.ts', import.meta.url).href
const RESETS = 120
const AT_ONCE = 30

const host = 'Host: localhost\r\n'
const form = 'Content-Type: application/x-www-form-urlencoded\r\n'

/** The bytes that a client sends before it resets the connection. */
const KINDS: Record<string, string> = {
  'CONNECT with an authority': `CONNECT x:443 HTTP/1.1\r\n${host}\r\n`,
  'CONNECT with a path': `CONNECT /auth/login HTTP/1.1\r\n${host}\r\n`,
  'an Upgrade': `GET /auth/login HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'an Expect: 100-continue': `POST /auth/login HTTP/1.1\r\n${host}${form}Content-Length: 9\r\nExpect: 100-continue\r\n\r\n`,
  'an Expect of something else': `POST /auth/login HTTP/1.1\r\n${host}${form}Content-Length: 9\r\nExpect: 200-ok\r\n\r\n`,
  'bytes of TLS': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'two lengths': `POST /auth/login HTTP/1.1\r\n${host}Content-Length: 5\r\nContent-Length: 6\r\n\r\nemail`,
  'too large a body': `POST /auth/login HTTP/1.1\r\n${host}${form}Content-Length: 90000\r\n\r\n${'x'.repeat(90_000)}`,
  'too large a head': `GET /auth/login HTTP/1.1\r\n${host}X: ${'x'.repeat(40_000)}\r\n\r\n`,
  'pipelined requests': `GET /auth/login HTTP/1.1\r\n${host}\r\n`.repeat(20),
}

/** Sends bytes and resets the connection after a few milliseconds. */
const sendAndReset = (port: number, bytes: string, afterMs: number, address: string): Promise<void> =>
  new Promise((resolve) => {
    const socket = connect(port, address, () => {
      socket.write(bytes, 'latin1')
      if (afterMs === 0) socket.resetAndDestroy()
      else setTimeout(() => socket.resetAndDestroy(), afterMs)
    })
    socket.on('error', () => {})
    socket.once('close', () => resolve())
  })

const resetMany = async (port: number, bytes: string, address = '127.0.0.1'): Promise<void> => {
  for (let sent = 0; sent < RESETS; sent += AT_ONCE) {
    const some = Array.from({ length: AT_ONCE }, (_, index) => sendAndReset(port, bytes, index % 4, address))
    await Promise.all(some)
  }
}

const assertAnswers = async (service: { url: string }): Promise<void> => {
  assert.equal((await createUserAgent(service).get('/auth/login')).status, 200)
}

describe('an error of one client’s connection never reaches the process', () => {
  test('one process', async (t) => {
    const service = await startMeteredProcess({ t })
    let hasEnded = false
    void service.ended().then(() => (hasEnded = true))
    for (const [what, bytes] of Object.entries(KINDS)) {
      await resetMany(service.port, bytes)
      assert.equal(hasEnded, false, `${what}: ${service.logs().slice(-2000)}`)
      await resetMany(service.metricsPort, bytes)
      assert.equal(hasEnded, false, `${what}, on the port of the metrics: ${service.logs().slice(-2000)}`)
    }
    await assertAnswers(service)
    assert.equal((await service.scrape()).value('svc_processes'), 1)
    assert.equal(await service.stop(), 0)
  })

  test('both addresses of SVC_HOST=localhost', async (t) => {
    const env = { SVC_HOST: 'localhost', NODE_OPTIONS: `--import=${TWO_LOCALHOSTS}` }
    const service = await startServiceProcess({ t, env })
    let hasEnded = false
    void service.ended().then(() => (hasEnded = true))
    for (const address of ['127.0.0.1', '::1'])
      for (const what of ['CONNECT with an authority', 'an Upgrade'])
        await resetMany(service.port, KINDS[what] ?? '', address)
    await assertAnswers(service)
    assert.equal(hasEnded, false, service.logs().slice(-2000))
    assert.equal(await service.stop(), 0)
  })
})

describe('a refused connection', () => {
  test('is closed even if the client keeps it open', async (t) => {
    const service = await startServiceProcess({ t })
    for (const bytes of [`CONNECT x:443 HTTP/1.1\r\n${host}\r\n`, 'nonsense\r\n\r\n']) {
      const socket = connect({ port: service.port, host: '127.0.0.1', allowHalfOpen: true })
      let answer = ''
      socket.on('error', () => {}).setEncoding('latin1')
      socket.on('data', (text: string) => (answer += text))
      t.after(() => socket.destroy())
      socket.write(bytes, 'latin1')
      await eventually('the connection is closed', async () => {
        // A peer that has closed the connection answers this with a reset.
        if (answer !== '') socket.write('x')
        return socket.destroyed
      })
      assert.match(answer, /^HTTP\/1\.1 40[05] /)
    }
  })

  test('leaves one line in the log, even if its bytes arrive in many parts', async (t) => {
    const service = await startServiceProcess({ t })
    const connection = await connectRaw(service, t)
    for (let part = 0; part < 5; part++) {
      connection.write(`nonsense ${part}\r\n\r\n`)
      await connection.answer(/"code"/)
    }
    await connection.answer()
    const later = await createUserAgent(service).get('/auth/login')
    await loggedRequest(service, later)
    const refused = service.logLines().filter(({ message, status }) => message === 'request' && status === 400)
    assert.equal(refused.length, 1)
  })
})
