// Runs once.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { newPerson } from '../support/client/accounts.ts'
import { startEchoApplication } from '../support/gateway/echo-application.ts'
import { startGateway } from '../support/gateway/gateway.ts'
import { GATEWAYS, PUBLIC_ORIGIN } from '../support/gateway/gateway-configuration.ts'
import { asPassedBy, assertInjectsNothing, echoOf, visitorOf } from '../support/gateway/visitor.ts'
import { startService } from '../support/service/service.ts'

const svc = await startService({ env: { SVC_BASE_URL: PUBLIC_ORIGIN } })
const app = await startEchoApplication()
const gateways = await Promise.all(
  GATEWAYS.map(async (name) => ({ name, port: await startGateway(name, { svc: svc.port, app }) })),
)

/** Each must reach the application exactly as it was sent. */
const TARGETS = [
  '/',
  '/a?b=1&c=2&d',
  '/authx',
  '/authx/login',
  '/a?b=/auth/login',
  '/x/auth/login',
  '/%0d%0aSet-Cookie:%20stolen=1?q=%0d%0aX-Injected:%201',
  '/%26a%3b?b=%26',
  '/%23a/%3fb?c=%23&d=%3f',
  '/%E6%97%A5%e6%9c%ac?caf%C3%A9=%c3%a9',
  '/%25?a=%2525+b%20c',
  '/a;b=c,d?e;f=g,h',
]

for (const { name, port } of gateways) {
  describe(name, { concurrency: false }, () => {
    test('/auth and what is below it go to svc, everything else to the application as it was sent', async () => {
      const { open } = visitorOf(port)
      const entry = await open('/auth')
      assert.deepEqual([entry.status, entry.location], [303, '/auth/login'])
      assert.ok((await open('/auth/login')).text.includes('name="password"'))
      assert.equal((await open('/auth/login/')).status, 404)
      for (const target of TARGETS) {
        const answer = await open(target)
        assert.equal(echoOf(answer).target, asPassedBy(name, target))
        assertInjectsNothing(answer)
      }
      for (const target of ['//auth/login', '//auth', '/auth%2flogin', '/auth//login', '/%61uth/login']) {
        const answer = await open(target)
        // Envoy takes each of them for protected, since an application could.
        if (name === 'Traefik') continue // It puts the path in order first.
        assert.ok([303, 400, 404].includes(answer.status) || echoOf(answer).target === target, target)
      }
    })

    test('a user signs up and logs in, with the headers that browsers send', async () => {
      const visitor = visitorOf(port)
      const person = newPerson()
      assert.equal((await visitor.submit('/auth/signup?return_to=%2Fwelcome', { ...person })).location, '/welcome')
      assert.equal((await visitor.open('/auth/api/v1/user')).status, 200)
      visitor.cookies.clear()
      const { email, password } = person
      const answer = await visitor.submit('/auth/login?return_to=%2Felsewhere%2Fa', { email, password })
      assert.equal(answer.location, '/elsewhere/a', answer.text)
      assert.equal(echoOf(await visitor.open('/elsewhere/a')).target, '/elsewhere/a')
    })

    test('the check and the server API are closed to the outside, in any spelling and by any method', async () => {
      const { open, post, fetch } = visitorOf(port)
      for (const path of ['/auth/check', '/auth/check/forward/a?b', '/auth/api/v2', '/auth/api/v2/users?limit=1']) {
        for (const answer of [await open(path), await fetch(path), await post(path, {})]) {
          assert.equal(answer.status, 404, path)
          // Traefik can answer nothing itself: svc answers there, at another address.
          if (name !== 'Traefik') assert.equal(answer.headers['x-request-id'], undefined, 'svc did not answer')
        }
      }
      for (const path of [
        '//auth/check',
        '/auth//check',
        '/auth/./check',
        '/auth/x/../check',
        '/%61uth/check',
        '/auth/%63heck',
        '/auth/api/v2%2fusers',
        '/auth/CHECK',
      ]) {
        const answer = await open(path)
        assert.ok(
          [301, 303, 307, 308, 400, 404].includes(answer.status) || echoOf(answer).application,
          `${path} ${answer.status}`,
        )
      }
    })

    test('the address of a client is that of its connection, whatever it says itself', async () => {
      const since = svc.logLines().length
      await visitorOf(port).open('/auth/forged', { 'x-forwarded-for': '203.0.113.9', 'x-real-ip': '203.0.113.9' })
      const line = svc
        .logLines()
        .slice(since)
        .find(({ path }) => path === '/auth/forged')
      // Envoy names the machine where a connection comes from loopback.
      if (name === 'Envoy') assert.notEqual(line?.client, '203.0.113.9')
      else assert.match(String(line?.client), /^127\.0\.0\.1$|^::1$/)
    })
  })
}

describe('while svc is down', () => {
  before(() => svc.stop())

  for (const { name, port } of gateways) {
    test(`${name} answers 503 for svc itself, and serves the application`, async () => {
      const { open } = visitorOf(port)
      for (const target of ['/auth/login', '/auth/api/v1/user']) {
        const answer = await open(target)
        assert.deepEqual([answer.status, answer.location], [503, undefined])
      }
      assert.equal(echoOf(await open('/elsewhere')).target, '/elsewhere')
    })
  }
})
