// Runs on SQLite.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { describe, test } from 'node:test'
import { homePath } from '../../../src/config/mail-parsers.ts'
import { logIn, newAgent, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import {
  assertErrorPage,
  assertPage,
  assertRedirect,
  assertShowsRequestId,
  assertSignedIn,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import { startService } from '../../support/service/service.ts'

const local = await startService()
const homed = await startService({ env: { SVC_HOME_URL: '/café?a=1#b' } })
const HOME = '/caf%C3%A9?a=1#b'

describe('§4.5 SVC_HOME_URL is where login without return_to and logout end', () => {
  test('signup, login, a visit while signed in, and logout', async () => {
    const person = newPerson()
    assertRedirect(await signUp(newAgent(homed), person), HOME)
    const agent = newAgent(homed)
    assertRedirect(await logIn(agent, person), HOME)
    assertRedirect(await agent.get('/auth/login'), HOME)
    assertRedirect(await agent.post('/auth/logout'), HOME)
  })

  test('return_to counts more, the path / included', async () => {
    const { person } = await signedUp(homed)
    const agent = newAgent(homed)
    const page = await agent.get('/auth/login?return_to=%2F')
    assert.match(page.text, /<input type="hidden" name="return_to" value="\/">/)
    assert.match(page.text, /href="\/auth\/signup\?return_to=%2F"/)
    assertRedirect(await logIn(agent, person, { return_to: '/' }), '/')
    assert.doesNotMatch((await newAgent(homed).get('/auth/login')).text, /return_to/)
  })

  test('the setting accepts a path on the same origin alone', () => {
    const bad = ['start', '//evil.example', '/\\evil.example', '/.//evil.example', '/a b', 'https://app.example.com/']
    assert.deepEqual(
      bad.map((text) => homePath.parse(text)),
      bad.map(() => undefined),
    )
    assert.equal(homePath.parse('/a/../b?c=ü#d'), '/b?c=%C3%BC#d')
  })

  test('the logo and the error pages lead there', async () => {
    const { text } = await newAgent(homed).get('/auth/nothing')
    assert.equal(text.split(`href="${HOME}"`).length, 3)
    assert.doesNotMatch(text, /href="\/"/)
  })
})

describe('§4.2 a logout form may bring return_to', () => {
  test('as a field or in the query; the page keeps it in its form', async () => {
    for (const [path, form] of [
      ['/auth/logout', { return_to: '/bye?x=1' }],
      ['/auth/logout?return_to=%2Fbye%3Fx%3D1', {}],
      ['/auth/logout?return_to=%2Fquery', { return_to: '/bye?x=1' }],
    ] as const) {
      const { agent } = await signedUp(local)
      const before = agent.copy()
      assertRedirect(await agent.post(path, form), '/bye?x=1')
      await assertSignedOut(before)
    }
    const { agent } = await signedUp(local)
    const { text } = await agent.get('/auth/logout?return_to=%2Fbye%3Fx%3D1')
    assert.match(text, /name="return_to" value="\/bye\?x=1"/)
  })

  test('one that is not accepted is 400 before anything changes', async () => {
    const { agent } = await signedUp(local)
    for (const returnTo of ['https://evil.example/', '//evil.example', '/\\evil.example', '', ' /', ['/a', '/b']]) {
      assertErrorPage(await agent.post('/auth/logout', { return_to: returnTo }), 400)
      await assertSignedIn(agent)
    }
    assertErrorPage(await agent.get('/auth/logout?return_to=%2F%2Fevil.example'), 400)
    const outside = '/auth/logout?return_to=https%3A%2F%2Fevil.example'
    assertErrorPage(await agent.post(outside), 400)
    await assertSignedIn(agent)
  })
})

describe('§4.8 / of a base URL on this machine, where no application answers', () => {
  test('after the signup it is a page that says what to do next', async () => {
    const agent = newAgent(local)
    const person = newPerson()
    const signup = await signUp(agent, person)
    assertRedirect(signup, '/')
    const answer = await agent.get('/')
    assertPage(answer)
    assert.ok(answer.text.includes(person.email))
    assert.match(answer.text, /href="\/auth\/account"/)
    assert.ok(answer.text.includes(`<code>${new URL(local.url).host}</code>`))
    const named = [...answer.text.matchAll(/<code>((?:deploy|docs)\/[^<]*)/g)].map(([, path = '']) => path)
    assert.deepEqual(named.slice(0, 2), ['deploy/', 'docs/integrate.md'])
    for (const path of named) assert.ok(existsSync(new URL(`../../../${path}`, import.meta.url)), path)
    const [, proxies = ''] = /from a configuration in <code>deploy\/<\/code> \(([^)]+)\)/.exec(answer.text) ?? []
    for (const proxy of proxies.split(', '))
      assert.ok(existsSync(new URL(`../../../deploy/${proxy.toLowerCase()}/README.md`, import.meta.url)), proxy)
    assert.doesNotMatch(answer.text, /proxy_pass/, 'no lines that the doctor would refuse')
    const [, args = ''] = /<code>svc (doctor [^<]+)/.exec(answer.text) ?? []
    const help = await local.cli([...args.split(' '), '--help'])
    assert.match(help.stdout, /the proxy in front/)
    const head = await agent.send({ method: 'HEAD', path: '/' })
    assert.deepEqual([head.status, head.text], [200, ''])
  })

  test('for a visitor who is not signed in it is a 404 that says the same, and sets no cookie', async () => {
    const answer = await newAgent(local).get('/')
    assertPage(answer, 404)
    assert.deepEqual(answer.setCookies, [])
    assertShowsRequestId(answer)
    assert.match(answer.text, /href="\/auth\/signup"/)
    assertErrorPage(await newAgent(local).get('/index.html'), 404)
  })

  test('the host that the request names is shown as text', async () => {
    const { text } = await newAgent(local).get('/', { host: '<b>x</b>' })
    assert.ok(!text.includes('<b>x</b>') && text.includes('&lt;b&gt;x&lt;/b&gt;'))
  })

  test('with another base URL, / is 404 as any path outside /auth', async () => {
    const named = await startService({ env: { SVC_BASE_URL: 'https://app.example.com' } })
    const { agent } = await signedUp(named)
    const answer = await agent.get('/')
    assertErrorPage(answer, 404)
    assert.doesNotMatch(answer.text, /svc doctor/)
  })
})
