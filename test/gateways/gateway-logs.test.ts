// Runs once.
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { createUserAgent } from '../support/client/user-agent.ts'
import { startEchoApplication } from '../support/gateway/echo-application.ts'
import { startGateway } from '../support/gateway/gateway.ts'
import { GATEWAYS, PUBLIC_ORIGIN, replaced } from '../support/gateway/gateway-configuration.ts'
import { freePort } from '../support/network/free-port.ts'
import { startService } from '../support/service/service.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { eventually } from '../support/wait.ts'

const svc = await startService({ env: { SVC_BASE_URL: PUBLIC_ORIGIN } })
const app = await startEchoApplication()
const { host } = new URL(PUBLIC_ORIGIN)
const TOKEN = 'q3Zr0yJm4wUo8sXb1TnVd6KfGhLaPcEiRz5x2tYkMvA'

/** A log that HAProxy writes to over UDP, since it writes no files. */
const startLogReceiver = async (t: TestContext) => {
  const socket = createSocket('udp4')
  t.after(() => socket.close())
  let text = ''
  socket.on('message', (line) => (text += line.toString()))
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return { port: socket.address().port, read: () => text }
}

// Traefik and Envoy write to their output, and leave out more.
for (const gateway of GATEWAYS.filter((name) => name !== 'Traefik' && name !== 'Envoy')) {
  test(`${gateway} logs no token of a link, and every other query`, async (t) => {
    const folder = temporaryDirectory(t)
    const receiver = await startLogReceiver(t)
    const file = path.join(folder, 'access.log')
    const read = () => (gateway === 'HAProxy' ? receiver.read() : existsSync(file) ? readFileSync(file, 'utf8') : '')
    const change = (text: string) =>
      gateway === 'HAProxy'
        ? replaced(text, 'log stdout format raw', `log 127.0.0.1:${receiver.port} format raw`)
        : text
    const port = await startGateway(gateway, { svc: svc.port, app, folder, change, t })
    const agent = createUserAgent({ url: `http://localhost:${port}` })

    assert.equal((await agent.get(`/auth/password/reset?token=${TOKEN}`, { host })).status, 410)
    assert.equal((await agent.get(`/auth/email/verify?a=1&token=${TOKEN}`, { host })).status >= 400, true)
    assert.equal((await agent.get('/elsewhere?kept=1', { host })).status, 200)
    await eventually('all of it is logged', () => /kept=1/.test(read()))
    assert.match(read(), /\/auth\/password\/reset\b/)
    assert.match(read(), /\/auth\/email\/verify\b/)
    assert.ok(!read().includes(TOKEN.slice(0, 10)), read())
  })
}

/** To the file `errors`, at once, and without the page that Caddy 2.6 shows in place of a line of the log. */
const logErrors = (text: string, folder: string): string =>
  replaced(text, 'log default {', `log default {\noutput file ${folder}/errors`)
    .replace(/^\thandle_errors \{.*?^\t\}/ms, '')
    .replace('lb_try_duration 5s', '')

// nginx writes the whole line of the request there, which no setting changes.
for (const gateway of ['Caddy', 'Caddy of compose', 'Apache'] as const) {
  test(`${gateway} writes no token of a link to its log of errors while svc is away`, async (t) => {
    const folder = temporaryDirectory(t)
    const file = path.join(folder, 'errors')
    const change = (text: string) => (gateway === 'Apache' ? text : logErrors(text, folder))
    const port = await startGateway(gateway, { svc: await freePort(), app, folder, change, t })
    const agent = createUserAgent({ url: `http://localhost:${port}` })

    const answer = await agent.get(`/auth/password/reset?token=${TOKEN}`, { host })
    assert.ok([502, 503].includes(answer.status))
    const read = () => (existsSync(file) ? readFileSync(file, 'utf8') : '')
    await eventually('the error is logged', () => /refused/.test(read()))
    assert.ok(!read().includes(TOKEN.slice(0, 10)), read())
  })
}
