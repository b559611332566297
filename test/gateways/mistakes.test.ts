// Runs once.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { newPerson } from '../support/client/accounts.ts'
import { startEchoApplication } from '../support/gateway/echo-application.ts'
import { startGateway } from '../support/gateway/gateway.ts'
import { PUBLIC_ORIGIN, readDocument, replaced } from '../support/gateway/gateway-configuration.ts'
import { pathOf, type Visitor, visitorOf } from '../support/gateway/visitor.ts'
import { connectRaw } from '../support/network/raw-connection.ts'
import { type Service, startService } from '../support/service/service.ts'

const app = await startEchoApplication()
const documented = readDocument('integrate.md')

const AUTH = 'location ~ ^/auth(/|$) {\n    proxy_pass http://svc;'
const HOST = 'proxy_set_header Host $http_host;'
const LAST_OF_CHECK = 'proxy_set_header Content-Length "";'

interface Mistake {
  title: string
  /** What docs/integrate.md says that the log has. */
  line: string
  env?: Record<string, string>
  /** What is wrong with the configuration of nginx. */
  change?: [from: string, to: string]
  act: (visitor: Visitor, service: Service, t: TestContext) => Promise<unknown>
}

const openLogin = (visitor: Visitor) => visitor.open('/auth/login')

const MISTAKES: readonly Mistake[] = [
  {
    title: 'a proxy that takes /auth away',
    line: 'Was /auth/login meant? The proxy takes /auth away: it must pass the path as it came.',
    change: [AUTH, 'location /auth/ {\n    proxy_pass http://svc/;'],
    act: openLogin,
  },
  {
    title: 'a proxy that adds a second /auth',
    line: 'Was /auth/login meant? The proxy adds a second /auth: it must pass the path as it came.',
    change: [AUTH, 'location /auth/ {\n    proxy_pass http://svc/auth/auth/;'],
    act: openLogin,
  },
  {
    title: 'a base URL with another scheme',
    line: 'The header Origin says "https://example.com"; expected "http://example.com".',
    env: { SVC_BASE_URL: 'http://example.com' },
    act: (visitor) => visitor.post('/auth/login', {}, { origin: 'https://example.com' }),
  },
  {
    title: 'a form without cookies',
    line: 'The cookie svc_csrf is missing. Load the page again, and allow cookies for this site.',
    act: (visitor) => visitor.post('/auth/login', {}, { cookie: [] }),
  },
  {
    title: 'no base URL, and a proxy that replaces Host',
    line: 'requests come for another origin than SVC_BASE_URL, which was not set: set it to the public origin of the site',
    env: { SVC_BASE_URL: '' },
    change: [HOST, ''],
    act: openLogin,
  },
  {
    title: 'a proxy that is not trusted',
    line: 'X-Forwarded-For came from an address that is not trusted, and is ignored: if it is your proxy, name it in SVC_TRUST_PROXY, else all visitors share one address',
    env: { SVC_TRUST_PROXY: 'none' },
    act: openLogin,
  },
  {
    title: 'TLS towards svc',
    line: 'TLS came, and this port speaks plain HTTP.',
    change: [AUTH, AUTH.replace('http://svc', 'https://svc')],
    act: openLogin,
  },
  {
    title: 'the PROXY protocol',
    line: 'The PROXY protocol came before the request, and svc does not read it.',
    act: async (_, service, t) => {
      const raw = await connectRaw(service, t)
      raw.write('PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\nGET /auth/login HTTP/1.1\r\nHost: x\r\n\r\n')
      return raw.answer()
    },
  },
  {
    title: 'a check without cookies',
    line: 'redirect loop: the application does not accept the session and redirects to the login page',
    change: [LAST_OF_CHECK, `${LAST_OF_CHECK}\n    proxy_set_header Cookie "";`],
    act: async (visitor) => {
      await visitor.submit('/auth/signup', { ...newPerson() })
      for (let times = 0; times < 6; times += 1) {
        await visitor.open(pathOf((await visitor.open('/members/a')).location))
      }
    },
  },
]

for (const { title, line, env, change, act } of MISTAKES) {
  test(`docs/integrate.md has the line of the log that shows ${title}`, async (t) => {
    const service = await startService({ t, env: { SVC_BASE_URL: PUBLIC_ORIGIN, ...env } })
    const port = await startGateway('nginx', {
      svc: service.port,
      app,
      t,
      ...(change && { change: (text: string) => replaced(text, ...change) }),
    })
    await act(visitorOf(port), service, t)
    const { logs } = service
    assert.ok(documented.includes(line), 'docs/integrate.md')
    assert.ok(logs().replaceAll(String.raw`\"`, '"').includes(line), logs())
  })
}
