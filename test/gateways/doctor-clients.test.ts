// Runs once.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { describe, type TestContext, test } from 'node:test'
import { afterwards } from '../support/cleanup.ts'
import { startEchoApplication } from '../support/gateway/echo-application.ts'
import { startGateway } from '../support/gateway/gateway.ts'
import { ALL_GATEWAYS, replaced } from '../support/gateway/gateway-configuration.ts'
import { freePort } from '../support/network/free-port.ts'
import { startService } from '../support/service/service.ts'

const gateway = await freePort()
const BASE_URL = `http://localhost:${gateway}`
const svc = await startService({ env: { SVC_BASE_URL: BASE_URL, SVC_CLIENTS: 'on' } })
const app = await startEchoApplication()

type Finding = { code: string; message: string; cure: string }

const examine = async (env: Record<string, string> = {}): Promise<Finding[]> => {
  const { stdout, stderr } = await svc.cli(['doctor', '--json'], { env })
  assert.ok(stdout.startsWith('{'), stderr)
  return (JSON.parse(stdout) as { findings: Finding[] }).findings
}
const codesOf = async (env?: Record<string, string>) => (await examine(env)).map(({ code }) => code)

const document = (issuer: string) => JSON.stringify({ issuer, token_endpoint: `${issuer}/oauth2/token` })

/** An application that answers the two addresses of the site itself. */
const startApplication = async (status: number, body: string, headers: Record<string, string> = {}) => {
  const server = createServer((_, response) => void response.writeHead(status, headers).end(body)).listen(
    0,
    '127.0.0.1',
  )
  await once(server, 'listening')
  afterwards(undefined, () => server.close())
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : assert.fail()
}

const withoutRule = (text: string): string =>
  ['oauth-authorization-server', 'openid-configuration'].reduce(
    (rest, name) => replaced(rest, `location = /.well-known/${name}/auth`, `location = /nowhere/${name}`),
    text,
  )
const startNginx = (t: TestContext, change: (text: string) => string, application = app) =>
  startGateway('nginx', { svc: svc.port, app: application, gateway, t, change })

describe('svc doctor, with clients', { concurrency: false }, () => {
  for (const name of ALL_GATEWAYS) {
    test(`finds nothing with the documented configuration of ${name}`, async (t) => {
      const port = await startGateway(name, { svc: svc.port, app, gateway, t })
      assert.deepEqual(await examine(), [])
      for (const path of ['oauth-authorization-server', 'openid-configuration']) {
        const response = await fetch(`http://localhost:${port}/.well-known/${path}/auth`)
        assert.equal(((await response.json()) as { issuer: string }).issuer, `${BASE_URL}/auth`)
      }
    })
  }

  const answers: [what: string, expected: boolean, answer: Parameters<typeof startApplication>][] = [
    ['a page', true, [200, '<!doctype html>']],
    ['a redirect', true, [302, '', { location: '/' }]],
    ['an error', true, [500, '']],
    ['the document of another issuer', true, [200, document('https://evil.example')]],
    ['404', false, [404, '']],
    ['the right document', false, [200, document(`${BASE_URL}/auth`)]],
  ]
  for (const [what, expected, answer] of answers)
    test(`discovery_hidden: ${expected ? '' : 'not where '}the application answers with ${what}`, async (t) => {
      await startNginx(t, withoutRule, await startApplication(...answer))
      assert.deepEqual(await codesOf(), expected ? ['discovery_hidden', 'discovery_hidden'] : [])
    })

  test('authorization_lost: the header is taken away', async (t) => {
    const host = 'proxy_set_header Host $http_host;\n  proxy_set_header X-Forwarded-For'
    const change = (text: string) => replaced(text, host, `proxy_set_header Authorization "";\n  ${host}`)
    await startNginx(t, change)
    assert.deepEqual(await codesOf(), ['authorization_lost'])
  })

  test('issuer_differs: the document below /auth is of another issuer', async (t) => {
    const at = 'location = /auth/.well-known/openid-configuration'
    const rule = `${at} { return 200 '${document('https://other.example/auth')}'; }`
    await startNginx(t, (text) => replaced(text, 'location ~ ^/auth(/|$) {', `${rule}\n  location ~ ^/auth(/|$) {`))
    const [finding] = await examine()
    assert.equal(finding?.code, 'issuer_differs')
    assert.match(finding?.message ?? '', /https:\/\/other\.example\/auth/)
  })

  test('nothing of it is looked at while SVC_CLIENTS is off', async (t) => {
    await startNginx(t, withoutRule, await startApplication(500, ''))
    assert.deepEqual(await codesOf({ SVC_CLIENTS: 'off' }), [])
  })

  test('discovery_missing: the service runs without clients', async (t) => {
    await svc.restart({ env: { SVC_CLIENTS: 'off' } })
    await startNginx(t, (text) => text)
    assert.deepEqual(await codesOf({ SVC_CLIENTS: 'on' }), ['discovery_missing'])
  })
})
