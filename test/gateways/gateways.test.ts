// Runs once.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { newPerson } from '../support/client/accounts.ts'
import { type Answer, createUserAgent } from '../support/client/user-agent.ts'
import { type Echo, startEchoApplication } from '../support/gateway/echo-application.ts'
import { startGateway } from '../support/gateway/gateway.ts'
import { GATEWAYS, type GatewayName, PUBLIC_ORIGIN } from '../support/gateway/gateway-configuration.ts'
import { startService } from '../support/service/service.ts'

const svc = await startService({ env: { SVC_BASE_URL: PUBLIC_ORIGIN } })
const app = await startEchoApplication()
const ports = Object.fromEntries(
  await Promise.all(GATEWAYS.map(async (name) => [name, await startGateway(name, { svc: svc.port, app })] as const)),
)

const host = new URL(PUBLIC_ORIGIN).host
/** The headers of a browser with a form of the same origin. */
const ownForm = { host, origin: PUBLIC_ORIGIN, 'sec-fetch-site': 'same-origin' }

/** A browser that sees the gateway as the public origin. */
const visitorOf = (gateway: GatewayName) => {
  const agent = createUserAgent({ url: `http://localhost:${ports[gateway]}` })
  const open = (target: string) => agent.get(target, { host })
  return {
    open,
    cookies: agent.cookies,
    async submit(page: string, form: Record<string, string>): Promise<Answer> {
      const { text } = await open(page)
      const hidden = [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)]
      const fields = Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, unescaped(value)]))
      return agent.post(page.replace(/\?.*/, ''), { ...fields, ...form }, ownForm)
    },
  }
}

const unescaped = (value: string): string =>
  value.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')

const echoOf = ({ status, text }: Answer): Echo => {
  assert.equal(status, 200, text)
  const echo: Echo = JSON.parse(text)
  return echo
}

/** A visitor without a session: only the cookie that svc's pages set, and no header from a link. */
const assertInjectsNothing = ({ setCookies, headers }: Answer): void => {
  assert.deepEqual(
    setCookies.filter(({ name, value }) => name !== 'svc_csrf' || !/^[\w-]{43,}$/.test(value)),
    [],
  )
  assert.equal(headers['x-injected'], undefined)
}

/** Each must come back from the login page exactly as it was sent. */
const TARGETS = [
  '/members',
  '/members/',
  '/members/a?b=1&c=2&d',
  '/members/%0d%0aSet-Cookie:%20stolen=1%0d%0aX-Injected:%201',
  '/members/?q=%0d%0aSet-Cookie:%20stolen=1',
  '/members/%0aX-Injected:%201?q=%0aX-Injected:%201',
  '/members/a%26b?c=%26d&e=f%26g',
  '/members/%23a?b=%23c',
  '/members/%3fa=b?c=%3fd',
  '/members/%2f%2fevil.example?to=%2f%2fevil.example',
  '/members/a?to=//evil.example&return_to=/elsewhere&return_to=%2Felsewhere',
  '/members/%E6%97%A5%e6%9c%ac?caf%C3%A9=%c3%a9',
  '/members/%25?a=%2525+b%20c',
  '/members/a;b=c,d?e;f=g,h',
]

/** The redirect to the login page, whose only parameter leads back to `target`. */
const assertLeadsBack = (answer: Answer, target: string): void => {
  assert.equal(answer.status, 303, answer.text)
  assertInjectsNothing(answer)
  const login = new URL(answer.location ?? '', PUBLIC_ORIGIN)
  assert.equal(login.origin + login.pathname + login.hash, `${PUBLIC_ORIGIN}/auth/login`)
  assert.deepEqual([...login.searchParams], [['return_to', target]])
}

const pathOf = (location = ''): string => location.replace(PUBLIC_ORIGIN, '')

for (const gateway of GATEWAYS) {
  describe(gateway, { concurrency: false }, () => {
    test('/auth and what is below it go to svc, everything else to the application', async () => {
      const { open } = visitorOf(gateway)
      const entry = await open('/auth')
      assert.deepEqual([entry.status, entry.location], [303, '/auth/login'])
      assert.ok((await open('/auth/login')).text.includes('name="password"'))
      assert.equal((await open('/auth/login/')).status, 404)
      for (const target of ['/', '/authx', '/authx/login', '/a?b=/auth/login', '/x/auth/login', '/%2f%2fa%26?b=%26'])
        assert.equal(echoOf(await open(target)).target, target)
      for (const target of ['//auth/login', '//auth', '/auth%2flogin', '/auth//login', '/%61uth/login']) {
        const answer = await open(target)
        assert.ok(answer.status === 404 || echoOf(answer).target === target, target)
      }
    })

    test('a user signs up and logs in, with the headers that browsers send', async () => {
      const visitor = visitorOf(gateway)
      const person = newPerson()
      assert.equal((await visitor.submit('/auth/signup?return_to=%2Fwelcome', { ...person })).location, '/welcome')
      assert.equal((await visitor.open('/auth/api/v1/user')).status, 200)
      visitor.cookies.clear()
      const { email, password } = person
      const answer = await visitor.submit('/auth/login?return_to=%2Fmembers%2Fa', { email, password })
      assert.equal(answer.location, '/members/a', answer.text)
      assert.equal(echoOf(await visitor.open('/members/a')).target, '/members/a')
    })

    test('a visitor who is not logged in returns to exactly the requested address', async () => {
      const member = visitorOf(gateway)
      assert.equal((await member.submit('/auth/signup', { ...newPerson() })).status, 303)
      for (const target of TARGETS) {
        const stranger = visitorOf(gateway)
        const answer = await stranger.open(target)
        assertLeadsBack(answer, target)
        const login = pathOf(answer.location)
        assert.equal((await stranger.open(login)).status, 200, login)
        assert.equal((await member.open(login)).location, target)
        const arrived = await member.open(target)
        assert.equal(echoOf(arrived).target, target)
        assertInjectsNothing(arrived)
      }
    })

    test('bytes that are not percent-encoded are returned unchanged, or refused', async () => {
      const target = '/members/日本?é=è'
      const answer = await visitorOf(gateway).open(Buffer.from(target).toString('latin1'))
      assertInjectsNothing(answer)
      if (answer.status === 400) return
      const login = new URL(answer.location ?? '', PUBLIC_ORIGIN)
      assert.equal(decodeURI(login.searchParams.get('return_to') ?? ''), target)
    })

    test('every spelling of the address of a member page leads a visitor without a session to the login page', async () => {
      for (const target of [
        '//members/a',
        '/members//evil.example',
        '/members/../members/a',
        '/members/a#b',
        '/members\\a',
      ]) {
        const answer = await visitorOf(gateway).open(target)
        assertInjectsNothing(answer)
        assert.ok([200, 303, 400, 404].includes(answer.status), `${target}: ${answer.status}`)
        if (answer.status === 303) assert.match(pathOf(answer.location), /^\/auth\/login\?return_to=[^&#]+$/)
      }
    })

    test('a form that a visitor without a session sends to a member page leads to the login page, too', async () => {
      const agent = createUserAgent({ url: `http://localhost:${ports[gateway]}` })
      assertLeadsBack(await agent.post('/members/form?a=1&b=2', { c: 'd' }, ownForm), '/members/form?a=1&b=2')
    })
  })
}

for (const gateway of ['nginx', 'Caddy'] as const) {
  test(`${gateway} shows no member page to a session that has ended, or a forged one`, async () => {
    const member = visitorOf(gateway)
    await member.submit('/auth/signup', { ...newPerson() })
    const access = member.cookies.get('svc_access') ?? ''
    assert.equal(echoOf(await member.open('/members/a')).target, '/members/a')
    assert.equal((await member.submit('/auth/logout', {})).status, 303)
    for (const token of [access, 'x', '']) {
      member.cookies.set('svc_access', token)
      assertLeadsBack(await member.open('/members/a?b&c'), '/members/a?b&c')
    }
    for (const target of ['//members/a', '/members//a', '/%6dembers/a', '/x/../members/a', '/members/./a']) {
      assert.ok(![200, 201].includes((await visitorOf(gateway).open(target)).status), target)
    }
  })
}

describe('while svc is down', () => {
  before(() => svc.stop())

  for (const gateway of ['nginx', 'Caddy'] as const) {
    test(`${gateway} answers 503 for member pages, and neither shows them nor asks for a login`, async () => {
      for (const cookie of [[], 'svc_access=x']) {
        const answer = await createUserAgent({ url: `http://localhost:${ports[gateway]}` }).get('/members/a', {
          host,
          cookie,
        })
        assert.deepEqual([answer.status, answer.location], [503, undefined])
        assert.equal(answer.headers['retry-after'], '2')
        assert.doesNotMatch(answer.text, /application/)
      }
    })
  }

  for (const gateway of GATEWAYS) {
    test(`${gateway} answers 503 for svc itself, and serves the application`, async () => {
      const { open } = visitorOf(gateway)
      for (const target of ['/auth/login', '/auth/api/v1/user'])
        assert.deepEqual([(await open(target)).status, (await open(target)).location], [503, undefined])
      assert.equal(echoOf(await open('/elsewhere')).target, '/elsewhere')
    })
  }
})
