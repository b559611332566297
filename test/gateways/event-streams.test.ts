// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logOut, signedUp } from '../support/client/accounts.ts'
import { createBackend } from '../support/client/backend.ts'
import { startEchoApplication } from '../support/gateway/echo-application.ts'
import { startGateway } from '../support/gateway/gateway.ts'
import { ALL_GATEWAYS, type GatewayName, PUBLIC_ORIGIN, replaced } from '../support/gateway/gateway-configuration.ts'
import { openStream, read, type Revocation } from '../support/revocations/feed.ts'
import { startService } from '../support/service/service.ts'
import { within } from '../support/wait.ts'

const svc = await startService({ env: { SVC_BASE_URL: PUBLIC_ORIGIN } })
const app = await startEchoApplication()
const backend = await createBackend(svc, ['revocations:read'])

/** What keeps the server API away from the outside, and what opens it. */
const CLOSED: Record<GatewayName, [closed: string, open: string]> = {
  nginx: ['    return 404;\n', '    proxy_pass http://svc;\n'],
  Caddy: ['respond @closed 404', ''],
  HAProxy: ['{ path /auth/check /auth/api/v2 } or { path_beg /auth/check/ /auth/api/v2/ }', '{ path /nowhere }'],
  Traefik: ['^/auth/(check|api/v2)(/|$)', '^/nowhere$'],
  Envoy: ['/auth/(check|api/v2)(/.*)?', '/nowhere'],
  Apache: [String.raw`^/+auth/(check|api/v2)(/|$)`, '^/nowhere$'],
  'Caddy of compose': ['respond @inside 404', ''],
}

const anEnding = async (): Promise<string> => {
  const { agent } = await signedUp(svc)
  const id = agent.cookies.get('svc_refresh')?.split('.')[0] ?? ''
  await logOut(agent)
  return id
}

const idsIn = (data: unknown): string[] => (data as Revocation).session_ids ?? []

for (const name of ALL_GATEWAYS)
  test(`${name} passes on each event, and comments, as they come, and a wait until it ends`, async (t) => {
    const port = await startGateway(name, { svc: svc.port, app, t, change: (text) => replaced(text, ...CLOSED[name]) })
    const { host } = new URL(PUBLIC_ORIGIN)
    const { next_cursor: cursor } = await read(backend)
    const query = `?cursor=${cursor}`
    const headers = { host, 'accept-encoding': 'gzip' }
    const stream = await openStream({ url: `http://127.0.0.1:${port}`, key: backend.key, query, headers })
    assert.equal(stream.status, 200)
    assert.equal(stream.headers['content-encoding'], undefined)
    assert.ok((await within(10, 'the first comment', stream.next()))?.isComment)
    for (let count = 0; count < 2; count += 1) {
      const id = await anEnding()
      assert.deepEqual(idsIn((await within(10, 'the event', stream.event()))?.data), [id])
    }
    stream.close()
    const behind = backend.at({ url: `http://localhost:${port}` })
    const { next_cursor: now } = await read(backend)
    const waits = behind.call('GET', `/revocations?cursor=${now}&wait=30`, undefined, { host })
    const id = await anEnding()
    const answer = await within(10, 'the answer', waits)
    assert.deepEqual(answer.json<{ events: Revocation[] }>().events.flatMap(idsIn), [id])
    const quiet = await read(backend)
    const nothing = await behind.call('GET', `/revocations?cursor=${quiet.next_cursor}&wait=2`, undefined, { host })
    assert.deepEqual([nothing.status, nothing.json<{ events: Revocation[] }>().events], [200, []])
  })
