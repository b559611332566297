// Runs on SQLite.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { loggedIn, logIn, logOut, newAgent, newPerson, signedUp } from '../../support/client/accounts.ts'
import {
  assertErrorPage,
  assertJsonError,
  assertPage,
  assertRedirect,
  assertSignedIn,
} from '../../support/client/assertions.ts'
import { type Answer, type UserAgent, createUserAgent } from '../../support/client/user-agent.ts'
import { startService } from '../../support/service/service.ts'

const ONE = randomBytes(32).toString('hex')
const TWO = randomBytes(32).toString('hex')
const service = await startService({ env: { SVC_SECRET: ONE } })
const rotating = await startService({ env: { SVC_SECRET: ONE } })
const { agent: signedIn, person } = await signedUp(service)
const otherUser = await signedUp(service)

const newName = () => ({ username: newPerson().username })
const tokenOf = (agent: UserAgent): string => agent.cookies.get('svc_csrf') ?? 'none'

/** A copy of the agent with another CSRF token, in the cookie and therefore in each form and header. */
const withToken = (agent: UserAgent, token: string): UserAgent => {
  const copy = agent.copy()
  copy.cookies.set('svc_csrf', token)
  return copy
}

/** The forms that change a session, and the refresh of a script. */
const sendEach = (agent: UserAgent): [string, () => Promise<Answer>][] => [
  ['refresh', () => agent.refresh()],
  ['username', () => agent.post('/auth/account/username', newName())],
  ['logout', () => logOut(agent)],
]

const foreign: [string, () => Promise<string> | string][] = [
  ['of another session of the same user', async () => tokenOf(await loggedIn(service, person))],
  ['of another user', () => tokenOf(otherUser.agent)],
  [
    'of a visitor who was not signed in',
    async () => (await createUserAgent(service).get('/auth/login')).cookie('svc_csrf')?.value ?? '',
  ],
  ['of an earlier version, all random', () => randomBytes(32).toString('base64url')],
  ['made by hand', () => 'x'.repeat(43)],
  ['of this session with another random part', () => `x${tokenOf(signedIn).slice(1)}`],
  [
    'of this session with another last character',
    () => `${tokenOf(signedIn).slice(0, -1)}${tokenOf(signedIn).endsWith('_') ? '-' : '_'}`,
  ],
]

describe('§5.2 with a session, the token is bound to it', () => {
  for (const [what, make] of foreign) {
    test(`a token ${what} is 403, even in cookie and form alike, and changes nothing`, async () => {
      const visitor = withToken(signedIn, await make())
      for (const [form, send] of sendEach(visitor)) {
        const before = tokenOf(visitor)
        const answer = await send()
        assert.equal(answer.status, 403, form)
        assert.match(answer.text, /CSRF token is not one of this session/, form)
        const fresh = answer.cookie('svc_csrf')
        assert.ok(fresh && fresh.value !== before, 'a good token comes with the refusal')
        assert.deepEqual(answer.cleared, [])
        visitor.cookies.set('svc_csrf', before)
      }
      await assertSignedIn(signedIn)
    })
  }

  test('after the refusal the next request works, also for a script', async () => {
    const visitor = withToken(await loggedIn(service, person), 'x'.repeat(43))
    assertJsonError(await visitor.refresh(), 403, 'forbidden')
    assert.equal((await visitor.refresh()).status, 200)
    visitor.cookies.set('svc_csrf', 'x'.repeat(43))
    assertErrorPage(await logOut(visitor), 403)
    assertRedirect(await logOut(visitor), '/')
  })

  test('a page replaces a token of another session, also in its own form', async () => {
    for (const path of ['/auth/account', '/auth/logout', '/auth/account/confirm', '/auth/nothing']) {
      const visitor = withToken(signedIn, 'x'.repeat(43))
      const page = await visitor.get(path)
      assert.notEqual(tokenOf(visitor), 'x'.repeat(43), path)
      if (page.status === 200) assert.ok(page.text.includes(`name="csrf_token" value="${tokenOf(visitor)}"`), path)
      assert.equal((await visitor.get(path)).cookie('svc_csrf'), undefined, 'and lets a good one be')
      assert.equal((await visitor.refresh()).status, 200)
    }
  })

  test('a page that refreshes the session sets a token that is bound to it', async () => {
    const visitor = withToken(await loggedIn(service, person), 'x'.repeat(43))
    visitor.cookies.delete('svc_access')
    const page = await visitor.get('/auth/account')
    assertPage(page)
    assert.ok(page.cookie('svc_refresh')?.value)
    assert.ok(page.text.includes(`name="csrf_token" value="${tokenOf(visitor)}"`))
    assert.equal((await visitor.refresh()).status, 200)
  })

  test('without a refresh token, the access token names the session', async () => {
    const visitor = signedIn.copy()
    visitor.cookies.delete('svc_refresh')
    const other = withToken(visitor, tokenOf(otherUser.agent))
    assertErrorPage(await other.post('/auth/account/username', newName()), 403)
    assertRedirect(await visitor.post('/auth/account/username', newName()), '/auth/account?done=username')
  })

  test('with a doubled access cookie, the refresh token still names the session', async () => {
    const cookies = `svc_refresh=${signedIn.cookies.get('svc_refresh')}; svc_access=a; svc_access=b`
    const token = tokenOf(otherUser.agent)
    const headers = { cookie: `${cookies}; svc_csrf=${token}`, 'x-csrf-token': token }
    assertJsonError(await signedIn.copy().refresh('audience=app', headers), 403, 'forbidden')
  })

  test('the checks stay in their order: no refresh token 401, CSRF 403, audience 400', async () => {
    const visitor = withToken(signedIn, 'x'.repeat(43))
    assertJsonError(await visitor.copy().refresh(''), 403, 'forbidden')
    visitor.cookies.delete('svc_refresh')
    assertJsonError(await visitor.refresh(''), 401, 'unauthorized')
    assertJsonError(await signedIn.refresh(''), 400, 'invalid_request')
  })

  test('header and cookie must be equal: two different valid tokens of one session are refused', async () => {
    const visitor = signedIn.copy()
    visitor.cookies.delete('svc_csrf')
    await visitor.get('/auth/account')
    assert.notEqual(tokenOf(visitor), tokenOf(signedIn))
    const answer = await visitor.refresh('audience=app', { 'x-csrf-token': tokenOf(signedIn) })
    assert.match(assertJsonError(answer, 403, 'forbidden'), /does not match the cookie/)
    assert.equal(answer.cookie('svc_csrf'), undefined, 'the cookie is good')
    for (const agent of [visitor, signedIn]) assert.equal((await agent.refresh()).status, 200)
  })
})

describe('§5.2 the token during a session', () => {
  test('it stays the same after refreshes, so that open pages and other tabs keep working', async () => {
    const tab = await loggedIn(service, person)
    const token = tokenOf(tab)
    for (let round = 0; round < 3; round += 1) {
      assert.equal((await tab.refresh()).cookie('svc_csrf')?.value, token)
    }
    assertRedirect(await tab.post('/auth/logout', { csrf_token: token }), '/')
  })

  test('after logout it is not valid in the next session of the same browser', async () => {
    const visitor = await loggedIn(service, person)
    const former = tokenOf(visitor)
    assertRedirect(await logOut(visitor), '/')
    assert.notEqual(tokenOf(visitor), former)
    assertRedirect(await logIn(visitor, person), '/')
    assert.equal((await withToken(visitor, former).refresh()).status, 403)
    assert.equal((await visitor.refresh()).status, 200)
  })

  test('a token from before the login is refused after it, also one that another host chose', async () => {
    const visitor = newAgent(service)
    assertRedirect(await logIn(visitor, person), '/')
    assert.equal((await withToken(visitor, 'x'.repeat(43)).refresh()).status, 403)
  })

  test('a session that has ended leaves cookies with which the login form works', async () => {
    const { agent: visitor, person: owner } = await signedUp(service)
    await (await loggedIn(service, owner)).post('/auth/account/sessions', { all_others: '1' })
    const page = await visitor.get('/auth/login')
    assertPage(page)
    assert.deepEqual(page.cleared.sort(), ['svc_access', 'svc_fresh', 'svc_refresh', 'svc_session'])
    assert.ok(page.text.includes(`name="csrf_token" value="${tokenOf(visitor)}"`))
    assertRedirect(await logIn(visitor, owner), '/')
  })

  test('the login form of a page that was open while its session ended works as well', async () => {
    const { agent: visitor, person: owner } = await signedUp(service)
    await (await loggedIn(service, owner)).post('/auth/account/sessions', { all_others: '1' })
    assertRedirect(await logIn(visitor, owner), '/')
    await assertSignedIn(visitor)
  })

  test('two tabs: after a login in one, the form of the other ends on a page with a link to continue', async () => {
    const tab = newAgent(service)
    const old = tab.copy()
    assertRedirect(await logIn(tab, person), '/')
    const late = { email: person.email, password: person.password, return_to: '/kept' }
    const answer = await tab.post('/auth/login', { ...late, csrf_token: tokenOf(old) })
    assertErrorPage(answer, 403)
    assert.match(answer.text, /href="\/auth\/login\?return_to=%2Fkept"/)
    assert.equal(answer.cookie('svc_csrf'), undefined, 'the token of the new session stays')
    assertRedirect(await tab.get('/auth/login?return_to=%2Fkept'), '/kept')
    assert.equal((await tab.refresh()).status, 200)
  })

  test('a response to a request from before a login in another tab sets no token', async () => {
    const tab = await loggedIn(service, person)
    const late = tab.copy()
    assertRedirect(await logIn(tab, person), '/')
    for (const path of ['/auth/login', '/auth/logout', '/auth/account', '/auth/nothing']) {
      assert.equal((await late.copy().get(path)).cookie('svc_csrf'), undefined, path)
    }
  })

  test('a signed-in user is answered without another check of the token', async () => {
    const visitor = withToken(signedIn, 'x'.repeat(43))
    const answer = await visitor.get('/auth/api/v1/user')
    assert.equal(answer.status, 200)
    assert.deepEqual(answer.setCookies, [])
  })

  test('a request from another site replaces no token: it has no cookies, and reveals nothing about them', async () => {
    for (const path of ['/auth/login', '/auth/nothing']) {
      const headers = { cookie: [], origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
      const answer = await signedIn.copy().send({ method: 'POST', path, headers })
      assert.deepEqual(answer.setCookies, [], path)
    }
    const withoutMetadata = { cookie: [], origin: 'https://evil.example' }
    assert.deepEqual(
      (await signedIn.copy().send({ method: 'POST', path: '/auth/login', headers: withoutMetadata })).setCookies,
      [],
    )
  })
})

test('§5.2 when the root secret is rotated, tokens of the previous secret stay valid and are renewed', async () => {
  const { agent } = await signedUp(rotating)
  const token = tokenOf(agent)
  await rotating.restart({ env: { SVC_SECRET: TWO, SVC_SECRET_PREVIOUS: ONE } })
  const renewed = (await agent.refresh()).cookie('svc_csrf')?.value ?? ''
  assert.notEqual(renewed, token, 'it moves on to the new secret')
  assert.equal(renewed.slice(0, 21), token.slice(0, 21), 'and is the same token')
  assert.equal((await withToken(agent, renewed).refresh()).status, 200)
  const newer = await signedUp(rotating)
  assert.equal((await newer.agent.refresh()).status, 200)
  assert.equal((await withToken(newer.agent, token).refresh()).status, 403)
})
