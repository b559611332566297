// Runs on SQLite.
import assert from 'node:assert/strict'
import net from 'node:net'
import { type TestContext, test } from 'node:test'
import { connectRaw, type RawConnection } from '../../support/network/raw-connection.ts'
import { runSvc } from '../../support/service/command.ts'
import { startMeteredProcess } from '../../support/service/metrics.ts'
import { loggedLine } from '../../support/service/request-log.ts'
import { startServiceProcess } from '../../support/service/service-process.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { eventually } from '../../support/wait.ts'

const TWO_LOCALHOSTS = new URL('../../support/network/two-localhosts-tap.ts', import.meta.url).href
const REQUEST = 'GET /auth/health HTTP/1.1\r\nHost: localhost\r\n\r\n'
const LIMIT = 5

/** Connections that were accepted and stay open. */
const fill = async (service: { port: number }, t: TestContext): Promise<RawConnection[]> => {
  const held: RawConnection[] = []
  for (let count = 0; count < LIMIT; count++) {
    const connection = await connectRaw(service, t)
    connection.write(REQUEST)
    assert.match(await connection.answer(/\{"status":"ok"\}/), /^HTTP\/1\.1 200 /)
    held.push(connection)
  }
  return held
}

/** The bytes that a connection receives. */
const ask = async (service: { port: number }, t: TestContext): Promise<string> => {
  const connection = await connectRaw(service, t)
  connection.write(REQUEST)
  return connection.answer(/\}$/)
}

test('a connection above SVC_MAX_CONNECTIONS is closed unread, logged once and counted; one that ends makes room', async (t) => {
  const service = await startMeteredProcess({ t, env: { SVC_MAX_CONNECTIONS: String(LIMIT) } })
  const [first] = await fill(service, t)
  for (let count = 0; count < 3; count++) assert.equal(await ask(service, t), '')
  const line = await loggedLine(service, ({ message }) => message === 'too many connections: new ones are closed')
  assert.deepEqual([line.level, line.limit, line.setting], ['warn', LIMIT, 'SVC_MAX_CONNECTIONS'])
  assert.equal(service.logLines().filter(({ message }) => message === line.message).length, 1)
  // The metrics port has no such limit: its clients are trusted.
  assert.equal((await service.scrape()).value('svc_http_connections_refused_total'), 3)
  first?.close()
  await eventually('there is room again', async () => (await ask(service, t)).endsWith('{"status":"ok"}'))
})

test('SVC_HOST=localhost is one server on each of its addresses', async (t) => {
  const env = { SVC_HOST: 'localhost', NODE_OPTIONS: `--import=${TWO_LOCALHOSTS}` }
  const service = await startServiceProcess({ t, env: { ...env, SVC_MAX_CONNECTIONS: '1' } })
  const tell = (host: string, bytes: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = net.connect(service.port, host, () => socket.write(bytes))
      let text = ''
      socket.setEncoding('latin1').on('data', (chunk: string) => {
        text += chunk
        resolve(text)
      })
      socket.on('error', () => {}).once('close', () => resolve(text))
      t.after(() => socket.destroy())
    })
  for (const host of ['127.0.0.1', '::1']) {
    // Only svc's own handler sends this.
    await eventually(`${host} answers`, async () =>
      /CONNECT is not answered/.test(await tell(host, 'CONNECT a:1 HTTP/1.1\r\n\r\n')),
    )
    await eventually(`${host} lets one in`, async () => /"ok"/.test(await tell(host, REQUEST)))
    assert.equal(await tell(host, REQUEST), '')
  }
  assert.equal(await service.stop(), 0)
})

for (const value of ['0', '-1', 'many', '1000001']) {
  test(`SVC_MAX_CONNECTIONS is a number of connections: ${value}`, async (t) => {
    const env = { SVC_MAX_CONNECTIONS: value }
    const { code, stderr } = await runSvc({ args: ['serve'], cwd: temporaryDirectory(t), env })
    assert.equal(code, 78)
    assert.match(stderr, /^svc: SVC_MAX_CONNECTIONS[^\n]*\n$/)
  })
}

test('metrics are on loopback, wherever the service listens, unless SVC_METRICS_HOST says so', async (t) => {
  const service = await startMeteredProcess({ t, env: { SVC_HOST: '127.0.0.2' } })
  const opens = (host: string) =>
    new Promise((resolve) => {
      const socket = net.connect(service.metricsPort, host, () => resolve(true))
      socket.once('error', () => resolve(false)).once('connect', () => socket.destroy())
    })
  assert.deepEqual([await opens('127.0.0.1'), await opens('127.0.0.2')], [true, false])
  const serving = service.logLines().find(({ message }) => message === 'svc is serving')
  assert.equal(serving?.metrics, `http://127.0.0.1:${service.metricsPort}/auth/metrics`)
  await service.restart({ env: { SVC_METRICS_HOST: '127.0.0.2' } })
  assert.deepEqual([await opens('127.0.0.1'), await opens('127.0.0.2')], [false, true])
})
