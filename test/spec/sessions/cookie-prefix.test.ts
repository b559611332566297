// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createCookieTable } from '../../../src/http/cookies.ts'
import { currentUser, logIn, logOut, newPerson, signUp } from '../../support/client/accounts.ts'
import { assertErrorPage, assertJsonError, assertRedirect, assertSignedIn } from '../../support/client/assertions.ts'
import type { SetCookie } from '../../support/client/cookie-jar.ts'
import { type Answer, type UserAgent, createUserAgent } from '../../support/client/user-agent.ts'
import { startMisbehavingProvider } from '../../support/provider/misbehaving-provider.ts'
import { assertNoSession, startServiceWith } from '../../support/provider/provider-service.ts'
import { returnFromProvider, signInBy, startAt } from '../../support/provider/provider-sign-in.ts'

const HTTPS = 'https://app.example.com'
const corp = await startMisbehavingProvider()
const service = await startServiceWith({ corp }, { env: { SVC_BASE_URL: HTTPS, SVC_COOKIE_PREFIX: 'on' } })
const unprefixed = await startServiceWith({ corp }, { env: { SVC_BASE_URL: HTTPS } })

const ACCESS = '__Host-svc_access'
const REFRESH = '__Secure-svc_refresh'
const CSRF = '__Host-svc_csrf'
const OAUTH = '__Host-svc_oauth'

const signedUp = async (at = service) => {
  const [agent, person] = [createUserAgent(at), newPerson()]
  const answer = await signUp(agent, person)
  assert.equal(answer.status, 303, answer.text)
  return { agent, person, answer }
}
const { agent } = await signedUp()

const headerOf = (names: Record<string, string | undefined>): { cookie: string } => ({
  cookie: Object.entries(names)
    .map(([name, value]) => `${name}=${value}`)
    .join('; '),
})
const held = (of: UserAgent, name: string): string => of.cookies.get(name) ?? 'none'

/** Whether a browser accepts a cookie with a prefix (RFC 6265bis section 5.7). */
const isTaken = ({ name, attributes }: SetCookie): boolean => {
  const isSecure = attributes.secure !== undefined
  if (/^__host-/i.test(name)) return isSecure && attributes.path === '/' && attributes.domain === undefined
  return !/^__secure-/i.test(name) || isSecure
}

const assertTaken = ({ setCookies }: Answer): void => {
  for (const cookie of setCookies) assert.ok(isTaken(cookie), cookie.line)
}

describe('§5.1 SVC_COOKIE_PREFIX=on', () => {
  test('the cookies have prefixes, and attributes with which browsers accept them', async () => {
    const { agent: visitor, answer } = await signedUp()
    assert.deepEqual(
      answer.setCookies.map(({ name }) => name),
      [ACCESS, REFRESH, CSRF, '__Host-svc_session', '__Host-svc_fresh', '__Secure-svc_device', '__Secure-svc_last_way'],
    )
    assert.deepEqual(
      answer.setCookies.map(({ attributes: { path, httponly } }) => [path, httponly]),
      [
        ['/', ''],
        ['/auth', ''],
        ['/', undefined],
        ['/', undefined],
        ['/', undefined],
        ['/auth', ''],
        ['/auth', ''],
      ],
    )
    for (const next of [answer, await visitor.refresh(), await logOut(visitor)]) assertTaken(next)
  })

  test('no cookie of svc is without a prefix, and none can be set for every path but by this host', () => {
    for (const { name, path } of Object.values(createCookieTable({ baseUrl: HTTPS, cookiePrefix: true })))
      assert.match(name, path === '/' ? /^__Host-svc_/ : /^__Secure-svc_/)
  })

  test('a session works with the prefixed names: user, refresh, account, logout, login', async () => {
    const { agent: visitor, person: owner } = await signedUp()
    await assertSignedIn(visitor)
    assert.equal((await visitor.refresh()).status, 200)
    assertRedirect(
      await visitor.post('/auth/account/username', { username: newPerson().username }),
      '/auth/account?done=username',
    )
    const logout = await logOut(visitor)
    assert.deepEqual(logout.cleared.toSorted(), [ACCESS, '__Host-svc_fresh', '__Host-svc_session', REFRESH])
    assertJsonError(await visitor.get('/auth/api/v1/user'), 401, 'unauthorized')
    assertRedirect(await logIn(visitor, owner), '/')
  })

  test('cookies without a prefix are not read', async () => {
    const access = held(agent, ACCESS)
    const [refresh, csrf] = [held(agent, REFRESH), held(agent, CSRF)]
    const user = (cookies: Record<string, string>) => agent.copy().get('/auth/api/v1/user', headerOf(cookies))
    assertJsonError(await user({ svc_access: access }), 401, 'unauthorized')
    assert.equal((await user({ [ACCESS]: access, svc_access: 'evil', svc_refresh: 'evil' })).status, 200)
    const tryRefresh = (cookies: Record<string, string>) =>
      agent.copy().refresh('audience=app', { ...headerOf(cookies), 'x-csrf-token': csrf })
    assertJsonError(await tryRefresh({ svc_refresh: refresh, [CSRF]: csrf }), 401, 'unauthorized')
    assertJsonError(await tryRefresh({ [REFRESH]: refresh, svc_csrf: csrf }), 403, 'forbidden')
    assert.equal((await tryRefresh({ [REFRESH]: refresh, [CSRF]: csrf, svc_csrf: 'evil' })).status, 200)
  })

  for (const name of [
    '__host-svc_access',
    '__HOST-SVC_ACCESS',
    '__Secure-svc_access',
    ' __Host-svc_accesS',
    '\u00a0__Host-svc_access',
    '__Host-svc_access\u00a0',
    '\u0085__Host-svc_access',
    '"__Host-svc_access"',
  ]) {
    test(`a similar name is another cookie: ${JSON.stringify(name)}`, async () => {
      const cookies = headerOf({ [name]: held(agent, ACCESS) })
      assertJsonError(await agent.copy().get('/auth/api/v1/user', cookies), 401, 'unauthorized')
      const beside = headerOf({ [ACCESS]: held(agent, ACCESS), [name]: 'evil' })
      assert.equal((await agent.copy().get('/auth/api/v1/user', beside)).status, 200)
    })
  }

  test('a cookie that arrives twice counts as none, and is expired if a browser can store it', async () => {
    for (const [name, mayHaveDomain] of [
      [ACCESS, false],
      [REFRESH, true],
      [CSRF, false],
      [OAUTH, false],
    ] as const) {
      const cookie = `${ACCESS}=${held(agent, ACCESS)}; ${name}=a; ${name}=b`
      const answer = await agent.copy().get('/auth/api/v1/user', { cookie })
      assertJsonError(answer, 401, 'unauthorized')
      assertTaken(answer)
      const ended = answer.setCookies.filter((it) => it.name === name)
      assert.ok(
        ended.some(({ attributes }) => attributes.path === '/' && attributes['max-age'] === '0'),
        name,
      )
      assert.equal(
        ended.some(({ attributes }) => attributes.domain === 'example.com'),
        mayHaveDomain,
        name,
      )
    }
    await assertSignedIn(agent)
  })

  test('error messages and the challenge name the prefixed cookie', async () => {
    const anonymous = createUserAgent(service)
    const answer = await anonymous.get('/auth/api/v1/user')
    assert.match(String(answer.headers['www-authenticate']), /cookie-name=__Host-svc_access$/)
    assert.match(assertJsonError(await anonymous.refresh(), 401, 'unauthorized'), / __Secure-svc_refresh /)
    const session = { [REFRESH]: held(agent, REFRESH) }
    const messages = [
      await anonymous.refresh('audience=app', headerOf(session)),
      await anonymous.refresh('audience=app', headerOf({ ...session, [CSRF]: 'x' })),
      await anonymous.refresh('audience=app', {
        ...headerOf({ ...session, [CSRF]: 'x'.repeat(43) }),
        'x-csrf-token': 'y',
      }),
      await anonymous.refresh('audience=app', { cookie: `${headerOf(session).cookie}; ${CSRF}=a; ${CSRF}=b` }),
    ].map((refused) => assertJsonError(refused, 403, 'forbidden'))
    for (const message of messages) assert.match(message, / __Host-svc_csrf[ .]/)
    assertErrorPage(await anonymous.post('/auth/logout', { csrf_token: [] }), 403)
  })

  test('the OpenAPI document has the prefixed names', async () => {
    const { text } = await createUserAgent(service).get('/auth/api/v1/openapi.json')
    for (const name of [ACCESS, REFRESH, CSRF]) assert.ok(text.includes(`"name":"${name}"`), name)
    assert.doesNotMatch(text, /"name":"svc_/)
  })

  test('a page refreshes a session whose access token has expired', async () => {
    const { agent: visitor } = await signedUp()
    visitor.cookies.delete(ACCESS)
    const answer = await visitor.get('/auth/login?return_to=%2Fkept')
    assertRedirect(answer, '/kept')
    assertTaken(answer)
    await assertSignedIn(visitor)
  })

  test('a refresh cookie that another host of the domain has set neither signs a user in nor prevents it', async () => {
    const victim = createUserAgent(service)
    await victim.get('/auth/login')
    victim.cookies.set(REFRESH, held(agent, REFRESH), '/auth')
    const unbound = held(victim, CSRF)
    for (const path of ['/auth/login', '/auth/logout', '/auth/nothing', '/auth/login']) {
      const page = await victim.get(path)
      assert.deepEqual(page.setCookies, [], path)
      assert.ok(page.status === 200 || page.status === 404)
    }
    assertRedirect(await victim.get('/auth/account'), '/auth/login?return_to=%2Fauth%2Faccount')
    assertJsonError(await victim.refresh(), 401, 'unauthorized')
    assertJsonError(await victim.refresh('audience=app', { 'x-csrf-token': 'x' }), 403, 'forbidden')
    assert.equal(held(victim, CSRF), unbound, 'no token of the session that is not theirs')
    const { person: owner } = await signedUp()
    assertRedirect(await logIn(victim, owner), '/')
    assert.equal((await currentUser(victim)).email, owner.email)
    assert.equal((await agent.refresh()).status, 200, 'the session that was planted was not touched')
  })

  test('a sign-in with a provider ends in a session with the prefixed names', async () => {
    const visitor = createUserAgent(service)
    const answer = await signInBy(visitor, 'corp', (url) => corp.visit(url))
    assertRedirect(answer, '/')
    assertTaken(answer)
    await assertSignedIn(visitor)
  })
})

describe('§5.1 svc_oauth with an https base URL, for any value of the setting', () => {
  test('is __Host-svc_oauth for every path, and the callback ends in a session', async () => {
    const visitor = createUserAgent(unprefixed)
    const start = await visitor.post('/auth/oauth/corp')
    const { attributes } = start.cookie(OAUTH) ?? {}
    assert.deepEqual(attributes, { path: '/', 'max-age': '600', httponly: '', secure: '', samesite: 'Lax' })
    assertTaken(start)
    assertRedirect(await returnFromProvider(visitor, await corp.visit(start.location ?? '')), '/')
    assert.ok(visitor.cookies.get('svc_access'), 'the others keep the names of the specification')
  })

  test('is not read without the prefix: another host of the domain could have set it', async () => {
    const attacker = createUserAgent(unprefixed)
    const callback = await corp.visit(await startAt(attacker, 'corp'))
    const victim = createUserAgent(unprefixed)
    victim.cookies.set('svc_oauth', held(attacker, OAUTH))
    assertNoSession(victim, await returnFromProvider(victim, callback), 400)
  })
})

describe('§5.1 prefixes require https', () => {
  for (const url of ['', 'http://app.example.com', 'http://localhost:8080']) {
    test(`SVC_COOKIE_PREFIX=on with ${url || 'no SVC_BASE_URL'} is a configuration error`, async () => {
      const { code, stderr } = await service.cli(['config'], { env: { SVC_BASE_URL: url } })
      assert.equal(code, 78)
      assert.match(stderr, /SVC_COOKIE_PREFIX=on needs a SVC_BASE_URL with https/)
    })
  }
})

test('§5.1 with SVC_COOKIE_PREFIX=off the names of the specification are read, and those with a prefix are not', async () => {
  const { agent: visitor } = await signedUp(unprefixed)
  await assertSignedIn(visitor)
  const cookies = headerOf({ [ACCESS]: held(visitor, 'svc_access') })
  assertJsonError(await visitor.copy().get('/auth/api/v1/user', cookies), 401, 'unauthorized')
  assertRedirect(await logOut(visitor), '/')
})
