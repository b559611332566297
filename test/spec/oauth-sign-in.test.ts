import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertErrorPage, assertPage, assertRedirect, assertSignedIn, assertSignedOut } from '../support/assertions.ts'
import { openDatabase } from '../support/database.ts'
import { newGitHubPerson, startGitHubServer } from '../support/github-server.ts'
import { startMisbehavingProvider } from '../support/misbehaving-provider.ts'
import { startOpenIdProvider } from '../support/openid-provider.ts'
import { newOpenIdPerson } from '../support/openid-provider-people.ts'
import { currentUser, logIn, newPerson, signedUp, signUp } from '../support/people.ts'
import {
  allowCallbacks,
  assertNoSession,
  pendingOn,
  providerSettings,
  startServiceProcessWith,
  startServiceWith,
  statusesOf,
} from '../support/provider-service.ts'
import { returnFromProvider, signInBy, startAt } from '../support/provider-sign-in.ts'
import { at, startReplicas } from '../support/replicas.ts'
import { turnedProcessClock } from '../support/turned-process-clock.ts'
import type { Answer, UserAgent } from '../support/user-agent.ts'
import { createUserAgent } from '../support/user-agent.ts'
import type { Callback } from '../support/visit-to-provider.ts'

const corp = await startOpenIdProvider()
const github = await startGitHubServer()
const providers = { github, corp }
const service = await startServiceWith(providers)

const MINUTE = 60_000
const newAgent = () => createUserAgent(service)

/** A new user of corp, who signs in there. */
const someone =
  (person = newOpenIdPerson()) =>
  (url: string) =>
    corp.visit(url, { person })

/** A browser that has been to corp, and with what it comes back. */
const backFrom = async (agent: UserAgent, form = {}, person = newOpenIdPerson()) =>
  someone(person)(await startAt(agent, 'corp', form))

const parametersOf = ({ url }: Callback): URLSearchParams => new URL(url).searchParams

/** The same callback with other parameters; a list is sent several times, undefined is left out. */
const changed = (callback: Callback, changes: Record<string, string | string[] | undefined>): Callback => {
  const url = new URL(callback.url)
  for (const [name, values] of Object.entries(changes)) {
    url.searchParams.delete(name)
    for (const value of [values ?? []].flat()) url.searchParams.append(name, value)
  }
  return { method: 'GET', url: url.href }
}

/** The page has `returnTo` in the form or the link that comes next. */
const assertKeeps = ({ text }: Answer, returnTo: string) =>
  assert.ok(
    text.includes(`name="return_to" value="${returnTo}"`) ||
      text.includes(`return_to=${encodeURIComponent(returnTo)}"`),
    text,
  )

describe('the login and signup pages offer configured OAuth providers; svc handles the whole flow', () => {
  for (const path of ['/auth/login', '/auth/signup']) {
    test(`${path} has a button for each, in the order of the settings`, async () => {
      const { text } = await newAgent().get(path)
      const actions = [...text.matchAll(/<form method="post" action="(\/auth\/oauth\/[^"]+)"/g)].map(([, to]) => to)
      assert.deepEqual(actions, ['/auth/oauth/github', '/auth/oauth/corp'])
      assert.match(text, /Continue with GitHub/)
      assert.match(text, /Continue with Corp/)
    })
  }

  const targets = {
    'without return_to': [undefined, '/'],
    'return_to with query and fragment': ['/hello?x=1&y=%2F#there', '/hello?x=1&y=%2F#there'],
    'return_to that is not ASCII': ['/日本?q=ü', '/%E6%97%A5%E6%9C%AC?q=%C3%BC'],
    'the longest return_to': [`/${'a'.repeat(2047)}`, `/${'a'.repeat(2047)}`],
    'return_to under /auth': ['/auth/account', '/auth/account'],
  } as const
  for (const [title, [returnTo, location]] of Object.entries(targets)) {
    test(`the user comes back with a session and lands on return_to: ${title}`, async () => {
      const agent = newAgent()
      const form = returnTo === undefined ? {} : { return_to: returnTo }
      assertRedirect(await signInBy(agent, 'corp', someone(), form), location)
      await assertSignedIn(agent)
    })
  }

  test('also with OAuth 2.0 without OpenID: user and verified-email endpoints', async () => {
    const agent = newAgent()
    const person = newGitHubPerson()
    const answer = await signInBy(agent, 'github', (url) => github.visit(url, { person }), { return_to: '/x' })
    assertRedirect(answer, '/x')
    assert.equal((await currentUser(agent)).email, person.emails[0]?.email)
  })

  test('a provider that answers by a form is sent on to the GET, and the user lands on return_to', async () => {
    const agent = newAgent()
    const { url } = await backFrom(agent, { return_to: '/by-form' })
    const { origin, pathname, searchParams } = new URL(url)
    const posted = { method: 'POST', url: origin + pathname, form: Object.fromEntries(searchParams) } as const
    assertRedirect(await returnFromProvider(agent, posted), '/by-form')
    await assertSignedIn(agent)
  })

  test('an external return_to is refused before anybody is sent anywhere', async () => {
    for (const return_to of ['https://evil.example/', '//evil.example', '/\\evil.example', '/\t/evil.example']) {
      const answer = await newAgent().post('/auth/oauth/corp', { return_to })
      assertErrorPage(answer, 400)
      assert.equal(answer.cookie('svc_oauth'), undefined)
    }
  })

  test('parameters beside the code do not change where the user lands', async () => {
    const agent = newAgent()
    const callback = await backFrom(agent, { return_to: '/mine' })
    const besides = { return_to: 'https://evil.example/', redirect_uri: 'https://evil.example/', target: '/other' }
    assertRedirect(await returnFromProvider(agent, changed(callback, besides)), '/mine')
  })
})

const shapes = (answer: Answer) => answer.setCookies.map(({ name, attributes }) => ({ name, attributes }))

describe('a session from a sign-in with a provider is like any other', () => {
  test('its cookies have the attributes of any login, and the CSRF token changes', async () => {
    const { person } = await signedUp(service)
    const byPassword = await logIn(newAgent(), person)
    const agent = newAgent()
    await agent.get('/auth/login')
    const csrfBefore = agent.cookies.get('svc_csrf')
    const byProvider = await signInBy(agent, 'corp', someone())
    assert.deepEqual(shapes(byProvider), shapes(byPassword))
    assert.notEqual(agent.cookies.get('svc_csrf'), csrfBefore)
    assert.equal((await agent.refresh()).status, 200)
    await assertSignedIn(agent)
    assertRedirect(await agent.post('/auth/logout'), '/')
    await assertSignedOut(agent)
  })

  test('it takes the place of the one that the browser had', async () => {
    const { agent } = await signedUp(service)
    const before = agent.copy()
    const person = newOpenIdPerson()
    assertRedirect(await signInBy(agent, 'corp', someone(person)), '/')
    assert.equal((await currentUser(agent)).email, person.email)
    await assertSignedOut(before)
  })

  test('a second sign-in is the same user, in any browser', async () => {
    const person = newOpenIdPerson()
    const [one, other] = [newAgent(), newAgent()]
    assertRedirect(await signInBy(one, 'corp', someone(person)), '/')
    assertRedirect(await signInBy(other, 'corp', someone(person)), '/')
    assert.deepEqual(await currentUser(one), await currentUser(other))
    await assertSignedIn(one)
  })
})

describe('authorization code, PKCE S256, `state` and `nonce` bound to this browser by a short-lived HttpOnly cookie', () => {
  test('the provider is asked with all of them, and for the exact redirect URI', async () => {
    const agent = newAgent()
    const url = new URL(await startAt(agent, 'corp', { return_to: '/secret-place' }))
    const { state, nonce, code_challenge, ...rest } = Object.fromEntries(url.searchParams)
    assert.deepEqual(rest, {
      client_id: corp.clientId,
      response_type: 'code',
      redirect_uri: `${service.url}/auth/oauth/corp/callback`,
      scope: 'openid email profile',
      code_challenge_method: 'S256',
    })
    for (const value of [nonce, code_challenge]) assert.match(value ?? '', /^[\w-]{43}$/)
    const sealed = Buffer.from(state ?? '', 'base64url').toString('latin1')
    assert.doesNotMatch(sealed, /secret-place|corp|sign_in/)
    assert.ok(!url.href.includes(agent.cookies.get('svc_oauth') ?? 'none'))
  })

  test('the cookie is HttpOnly, of the provider routes alone, and lasts for ten minutes; with https, __Host- and Secure', async (t) => {
    const plain = (await newAgent().post('/auth/oauth/corp')).cookie('svc_oauth')
    assert.deepEqual(plain?.attributes, { path: '/auth/oauth', 'max-age': '600', httponly: '', samesite: 'Lax' })
    assert.match(plain?.value ?? '', /^[\w-]{43}$/)
    const secure = await startServiceWith(providers, { t, env: { SVC_BASE_URL: 'https://app.example' } })
    const answer = await createUserAgent(secure).post('/auth/oauth/corp', {}, { host: 'app.example' })
    const { name, attributes } = answer.cookie('__Host-svc_oauth') ?? {}
    assert.equal(name, '__Host-svc_oauth', 'no other host of the domain can set it')
    assert.deepEqual(attributes, { path: '/', 'max-age': '600', httponly: '', secure: '', samesite: 'Lax' })
    assert.equal(answer.cookie('svc_oauth'), undefined)
    const { searchParams } = new URL(answer.location ?? '')
    assert.equal(searchParams.get('redirect_uri'), 'https://app.example/auth/oauth/corp/callback')
  })

  test('no two sign-ins have the same state, nonce or challenge', async () => {
    const agent = newAgent()
    const urls = [await startAt(agent, 'corp'), await startAt(agent, 'corp'), await startAt(newAgent(), 'corp')]
    for (const name of ['state', 'nonce', 'code_challenge']) {
      assert.equal(new Set(urls.map((url) => new URL(url).searchParams.get(name))).size, 3, name)
    }
  })

  test('starting is a POST with the CSRF token, from our own pages', async () => {
    const agent = newAgent()
    await agent.get('/auth/login')
    for (const path of ['/auth/oauth/corp', '/auth/oauth/corp/link', '/auth/oauth/corp/claim']) {
      assertErrorPage(await agent.post(path, { csrf_token: 'x'.repeat(43) }), 403)
      assertErrorPage(await agent.post(path, { csrf_token: [] }), 403)
      assertErrorPage(await agent.post(path, {}, { origin: 'https://evil.example' }), 403)
      assertErrorPage(await agent.post(path, {}, { 'sec-fetch-site': 'cross-site' }), 403)
      assertRedirect(await agent.get(path), '/auth/login')
    }
    assert.equal(agent.cookies.get('svc_oauth'), undefined)
  })

  test('an unknown provider is 404, an unknown intent 400', async () => {
    const agent = newAgent()
    for (const name of ['nobody', 'constructor', '__proto__', 'CORP', 'google', 'corp/', 'corp/callback/x']) {
      assertErrorPage(await agent.post(`/auth/oauth/${name}`), 404)
      assertErrorPage(await agent.get(`/auth/oauth/${name}`), 404)
    }
    assertErrorPage(await agent.get('/auth/oauth/nobody/callback?code=a&state=b'), 404)
    for (const intent of ['', 'sign_in', 'LINK', 'delete']) {
      assertErrorPage(await agent.post('/auth/oauth/corp', { intent }), 400)
    }
    assertErrorPage(await agent.post('/auth/oauth/corp', { intent: ['link', 'link'] }), 400)
  })
})

describe('the user may open two tabs, press back, cancel, deny, wait ten minutes', () => {
  test('two tabs at once: both end well, each on its own return_to', async () => {
    const agent = newAgent()
    const person = newOpenIdPerson()
    const one = await backFrom(agent, { return_to: '/one' }, person)
    const two = await backFrom(agent, { return_to: '/two' }, person)
    assertRedirect(await returnFromProvider(agent, one), '/one')
    assertRedirect(await returnFromProvider(agent, two), '/two')
    await assertSignedIn(agent)
  })

  test('pressing back after it: a signed-in user is redirected', async () => {
    const agent = newAgent()
    const callback = await backFrom(agent, { return_to: '/there' })
    assertRedirect(await returnFromProvider(agent, callback), '/there')
    const before = agent.cookies.get('svc_refresh')
    assertRedirect(await returnFromProvider(agent, callback), '/there')
    assert.equal(agent.cookies.get('svc_refresh'), before, 'no other session')
  })

  test('a state is used once: a user who has logged out since gets a page', async () => {
    const agent = newAgent()
    const callback = await backFrom(agent, { return_to: '/there' })
    assertRedirect(await returnFromProvider(agent, callback), '/there')
    await agent.post('/auth/logout')
    const again = await returnFromProvider(agent, callback)
    assertNoSession(agent, again, 400)
    assertKeeps(again, '/there')
  })

  test('of many simultaneous callbacks with the same answer, one gets a session', async () => {
    const agent = newAgent()
    const callback = await backFrom(agent, { return_to: '/once' })
    const answers = await Promise.all(Array.from({ length: 10 }, () => returnFromProvider(agent.copy(), callback)))
    const statuses = statusesOf(answers)
    assert.deepEqual(statuses, [303, ...Array.from({ length: 9 }, () => 400)])
    assert.equal(answers.filter((answer) => answer.cookie('svc_refresh')).length, 1)
  })

  for (const name of ['corp', 'github'] as const) {
    test(`cancelling at ${name} ends in a page that says so and offers to try again, return_to kept`, async () => {
      const agent = newAgent()
      const visit = (url: string) => providers[name].visit(url, { answer: 'cancel' })
      const answer = await signInBy(agent, name, visit, { return_to: '/wanted' })
      assertNoSession(agent, answer, 403)
      assertKeeps(answer, '/wanted')
      assert.match(answer.text, /You cancelled/)
      assert.match(answer.text, new RegExp(`<form method="post" action="/auth/oauth/${name}">`))
      await assertSignedOut(agent)
    })
  }

  test('a signed-in user who cancels stays signed in', async () => {
    const { agent } = await signedUp(service)
    const answer = await signInBy(agent, 'corp', (url) => corp.visit(url, { answer: 'cancel' }))
    assertPage(answer, 403)
    await assertSignedIn(agent)
  })

  test('after ten minutes it is too late, with the cookie and without; a signing key is looked up again', async (t) => {
    const provider = await startMisbehavingProvider({ t })
    const clock = turnedProcessClock(t)
    const late = await startServiceProcessWith({ corp: provider }, { t, env: clock.env })
    const agent = createUserAgent(late)
    const away = async (form = {}) => provider.visit(await startAt(agent, 'corp', form))
    const [inTime, tooLate, withoutCookie] = [await away(), await away({ return_to: '/kept' }), await away()]
    await clock.turnTo(10 * MINUTE - 5000)
    assertRedirect(await returnFromProvider(agent, inTime), '/')
    await agent.post('/auth/logout')
    await clock.turnTo(10 * MINUTE + 5000)
    const answer = await returnFromProvider(agent, tooLate)
    assertNoSession(agent, answer, 400)
    assertKeeps(answer, '/kept')
    assert.match(answer.text, /took too long/)
    agent.cookies.delete('svc_oauth')
    assert.match((await returnFromProvider(agent, withoutCookie)).text, /took too long/)

    await provider.rotateKey()
    await clock.turnTo(12 * MINUTE)
    assertRedirect(await returnFromProvider(agent, await away()), '/')

    // The discovery document is read again after an hour, even if the wall clock was set back since.
    const asked = provider.requestsFor('discovery').length
    await clock.turnTo(75 * MINUTE)
    clock.setWallClockTo(-24 * 60 * MINUTE)
    await startAt(agent, 'corp')
    assert.equal(provider.requestsFor('discovery').length, asked + 1)
  })
})

describe('no session from a state that this browser did not get for this provider', () => {
  const foreign = { state: 'x'.repeat(200) }
  const bad = {
    missing: { state: undefined },
    empty: { state: '' },
    short: { state: 'abc' },
    garbage: foreign,
    'not base64': { state: '%$§&' },
    huge: { state: 'A'.repeat(10_000) },
  }
  for (const [title, changes] of Object.entries(bad)) {
    test(title, async () => {
      const agent = newAgent()
      const answer = await returnFromProvider(agent, changed(await backFrom(agent), changes))
      assertNoSession(agent, answer, 400)
      assert.match(answer.text, /This address leads nowhere/)
    })
  }

  test('one with a changed character', async () => {
    const agent = newAgent()
    const callback = await backFrom(agent)
    const state = parametersOf(callback).get('state') ?? ''
    for (const index of [0, 20, Math.floor(state.length / 2), state.length - 2]) {
      const other = state[index] === 'A' ? 'B' : 'A'
      const spoiled = state.slice(0, index) + other + state.slice(index + 1)
      assertNoSession(agent, await returnFromProvider(agent, changed(callback, { state: spoiled })), 400)
    }
    assertRedirect(await returnFromProvider(agent, callback), '/')
  })

  test('of another browser, with a state of its own or none: login CSRF', async () => {
    const attacker = newAgent()
    const callback = await backFrom(attacker)
    const victim = newAgent()
    assertNoSession(victim, await returnFromProvider(victim, callback), 400)
    await startAt(victim, 'corp')
    assertNoSession(victim, await returnFromProvider(victim, callback), 400)
    const { agent: signedIn, person } = await signedUp(service)
    assertPage(await returnFromProvider(signedIn, callback), 400)
    assert.equal((await currentUser(signedIn)).email, person.email)
    assertRedirect(await returnFromProvider(attacker, callback), '/')
  })

  test('the code of another user under the attacker’s own state: code injection', async () => {
    const victim = newAgent()
    const stolen = parametersOf(await backFrom(victim)).get('code') ?? ''
    const attacker = newAgent()
    const own = await backFrom(attacker)
    assertNoSession(attacker, await returnFromProvider(attacker, changed(own, { code: stolen })), 400)
  })

  test('of another provider: mix-up', async () => {
    const agent = newAgent()
    const { searchParams: atCorp } = new URL((await backFrom(agent)).url)
    const toGithub = { method: 'GET', url: `${service.url}/auth/oauth/github/callback?${atCorp.toString()}` } as const
    const { length: asked } = github.requests
    assertNoSession(agent, await returnFromProvider(agent, toGithub), 400)
    assert.equal(github.requests.length, asked, 'nothing is sent to the wrong one')
    const atGithub = await github.visit(await startAt(agent, 'github'))
    const toCorp = { method: 'GET', url: atGithub.url.replace('/github/', '/corp/') } as const
    assertNoSession(agent, await returnFromProvider(agent, toCorp), 400)
  })

  test('a foreign, missing or repeated issuer (RFC 9207)', async () => {
    const agent = newAgent()
    for (const iss of ['https://evil.example', `${corp.issuer}/`, undefined]) {
      const callback = changed(await backFrom(agent), { iss })
      assertNoSession(agent, await returnFromProvider(agent, callback), 401)
    }
    const twice = changed(await backFrom(agent), { iss: [corp.issuer, corp.issuer] })
    assertNoSession(agent, await returnFromProvider(agent, twice), 400)
  })

  test('parameters that come twice, and no code', async () => {
    const agent = newAgent()
    const callback = await backFrom(agent)
    const code = parametersOf(callback).get('code') ?? ''
    const state = parametersOf(callback).get('state') ?? ''
    assertNoSession(agent, await returnFromProvider(agent, changed(callback, { code: ['a', code] })), 400)
    assertNoSession(agent, await returnFromProvider(agent, changed(callback, { state: [state, state] })), 400)
    assertNoSession(agent, await returnFromProvider(agent, changed(callback, { error: ['a', 'b'] })), 400)
    assertNoSession(agent, await returnFromProvider(agent, changed(callback, { code: undefined })), 401)
  })

  test('of another installation, with the same cookie', async (t) => {
    const other = await startServiceWith(providers, { t })
    const there = createUserAgent(other)
    const callback = await someone()(await startAt(there, 'corp'))
    const here = newAgent()
    here.cookies.set('svc_oauth', there.cookies.get('svc_oauth') ?? '', '/auth/oauth')
    assertNoSession(here, await returnFromProvider(here, callback), 400)
  })

  test('a cookie svc_oauth that came twice counts as none', async () => {
    const agent = newAgent()
    const callback = await backFrom(agent)
    agent.cookies.set('svc_oauth', 'y'.repeat(43), '/auth')
    assertNoSession(agent, await returnFromProvider(agent, callback), 400)
  })

  test('an error without a good state is nothing to believe', async () => {
    const agent = newAgent()
    for (const query of ['', '?error=access_denied', '?error=access_denied&state=x', '?code=a']) {
      const answer = await agent.get(`/auth/oauth/corp/callback${query}`)
      assertNoSession(agent, answer, 400)
      assert.doesNotMatch(answer.text, /You cancelled/)
    }
  })

  test('the provider’s error message is not shown', async () => {
    const agent = newAgent()
    const words = { error: 'login_required', error_description: '<script>alert(1)</script> call 555-0100' }
    const answer = await returnFromProvider(agent, changed(await backFrom(agent), { code: undefined, ...words }))
    assertNoSession(agent, answer, 400)
    assert.doesNotMatch(answer.text, /alert|555-0100|login_required/)
  })
})

const postAnswer = (body: string, headers = {}, agent = newAgent()) =>
  agent.send({
    method: 'POST',
    path: '/auth/oauth/corp/callback',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'cross-site', ...headers },
    body,
  })

/** In the order in which the service writes them. */
const inOrder = (search: string): [string, string][] => {
  const given = new URLSearchParams(search)
  return ['code', 'state', 'iss'].flatMap((name): [string, string][] => {
    const value = given.get(name)
    return value === null ? [] : [[name, value]]
  })
}

describe('the return is a GET: a form answer is sent on to it', () => {
  test('and nothing else: no session, no cookie, no state used, whatever cookies come with it', async () => {
    const agent = newAgent()
    const callback = await backFrom(agent)
    const { search, pathname } = new URL(callback.url)
    const answer = await postAnswer(search.slice(1), {}, agent)
    assertRedirect(answer, `${pathname}?${new URLSearchParams(inOrder(search)).toString()}`)
    assert.deepEqual(answer.setCookies, [])
    assertRedirect(await returnFromProvider(agent, callback), '/')
  })

  test('hostile fields stay values, or stay behind', async () => {
    const fields = { state: '"><script>', code: 'a\r\nSet-Cookie: x=1', user: '//evil.example', return_to: '//evil' }
    const answer = await postAnswer(new URLSearchParams({ ...fields, redirect: 'https://evil.example' }).toString())
    const { state, code, user } = fields
    assertRedirect(answer, `/auth/oauth/corp/callback?${new URLSearchParams({ code, state, user }).toString()}`)
    assert.deepEqual(answer.setCookies, [])
    assertRedirect(await postAnswer('nothing=of+ours'), '/auth/oauth/corp/callback?')
  })

  test('fields that come twice, too much, and other bodies are refused', async () => {
    assertErrorPage(await postAnswer('state=a&state=b'), 400)
    assertErrorPage(await postAnswer(`state=${'a'.repeat(9000)}`), 400)
    assertErrorPage(await postAnswer(`state=${'a'.repeat(20_000)}`), 413)
    assertErrorPage(await postAnswer('state=%ff'), 400)
    assertErrorPage(await postAnswer('{"state":"a"}', { 'content-type': 'application/json' }), 415)
  })
})

describe('a provider that is down at start does not keep svc from starting', () => {
  test('its button says so when pressed, and works when it is back, without a restart', async (t) => {
    const provider = await startOpenIdProvider({ t })
    await provider.stop()
    const late = await startServiceWith({ corp: provider, github }, { t })
    const agent = createUserAgent(late)
    assert.equal((await agent.get('/auth/ready')).status, 200)
    for (const attempt of [1, 2]) {
      const answer = await agent.post('/auth/oauth/corp', { return_to: '/kept' })
      assertErrorPage(answer, 503)
      assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/, `attempt ${attempt}`)
      assertKeeps(answer, '/kept')
    }
    await provider.start()
    assertRedirect(await signInBy(agent, 'corp', provider.visit, { return_to: '/kept' }), '/kept')

    await provider.stop()
    assert.equal((await agent.post('/auth/oauth/corp')).status, 303, 'what it said of itself still holds')
  })

  test('an outage in between is 503, without a session', async (t) => {
    const provider = await startMisbehavingProvider({ t })
    const late = await startServiceWith({ corp: provider }, { t })
    const agent = createUserAgent(late)
    const callback = await provider.visit(await startAt(agent, 'corp', { return_to: '/kept' }))
    await provider.stop()
    const answer = await returnFromProvider(agent, callback)
    assertNoSession(agent, answer, 503)
    assertKeeps(answer, '/kept')
    await provider.start()
    assertRedirect(await signInBy(agent, 'corp', provider.visit), '/')
  })
})

test('a database that is locked is 503, and the same answer of the provider is good afterwards', async (t) => {
  const database = await openDatabase(service, t)
  const agent = newAgent()
  const callback = await backFrom(agent, { return_to: '/kept' })
  const unlock = await database.lock()
  assertErrorPage(await returnFromProvider(agent, callback), 503)
  await unlock()
  assertRedirect(await returnFromProvider(agent, callback), '/kept')
})

test('begun at one replica, ended at the other: a sign-in is in no process', async (t) => {
  const [one, other] = await startReplicas({ t, env: providerSettings(providers) })
  allowCallbacks(providers, 'http://svc.example')
  const agent = createUserAgent(one)
  const person = newOpenIdPerson()
  const callback = await someone(person)(await startAt(agent, 'corp', { return_to: '/x' }))
  const there = at(other, agent)
  assertRedirect(await returnFromProvider(there, callback), '/x')
  await assertSignedIn(agent)
  await agent.post('/auth/logout')
  assertPage(await returnFromProvider(agent, callback), 400)

  const account = { ...newPerson(), email: newOpenIdPerson().email ?? '' }
  const { agent: owner } = await signedUp(one, account)
  const newcomer = createUserAgent(one)
  const back = await someone(newOpenIdPerson({ email: account.email }))(await startAt(newcomer, 'corp'))
  const page = await returnFromProvider(newcomer, back)
  assertPage(page, 409)
  const { password } = account
  const proven = await at(other, newcomer).post('/auth/oauth/corp/link', { pending: pendingOn(page), password })
  assertRedirect(proven, '/')
  assert.equal((await currentUser(newcomer)).id, (await currentUser(owner)).id)
})

test('tokens of the provider are not stored; logs have no code, state, token or secret', async (t) => {
  const gitlab = await startMisbehavingProvider({ t, profile: 'gitlab' })
  const watched = await startServiceWith({ gitlab, corp }, { t, env: { SVC_LOG_LEVEL: 'debug' } })
  const agent = createUserAgent(watched)
  const secrets = new Set<string>([gitlab.clientSecret, corp.clientSecret])
  const keep = (values: Iterable<[string, string]>) => {
    for (const [name, value] of values)
      if (/^(?:state|nonce|code|code_verifier|code_challenge|client_secret)$/.test(name)) secrets.add(value)
  }
  const tryOnce = async () => {
    const url = await startAt(agent, 'gitlab')
    const callback = await gitlab.visit(url)
    keep(new URL(url).searchParams)
    keep(parametersOf(callback))
    return returnFromProvider(agent, callback)
  }
  gitlab.fault = { jwks: 'status-500' }
  assertPage(await tryOnce(), 503)
  gitlab.fault = {}
  assertRedirect(await tryOnce(), '/')
  assertRedirect(await signInBy(agent, 'corp', someone()), '/')
  const faults = [
    { token: 'invalid-grant' },
    { token: 'html-as-json' },
    { token: 'array' },
    { token: 'no-id-token' },
    { idToken: 'signature-broken' },
    { idToken: 'wrong-nonce' },
    { idToken: 'not-a-token' },
    { userinfo: 'other-sub' },
    { userinfo: 'status-500' },
    { error: { code: 'server_error' } },
    { state: 'foreign' },
    { code: 'foreign' },
  ] as const
  for (const fault of faults) {
    gitlab.fault = fault
    const answer = await tryOnce()
    assert.ok(answer.status >= 400, `${JSON.stringify(fault)}: ${answer.status}`)
  }
  for (const { form } of gitlab.requestsFor('token')) keep(form)
  for (const { headers } of gitlab.requestsFor('userinfo'))
    secrets.add(/^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? 'none')
  const cookies = ['svc_oauth', 'svc_access', 'svc_refresh', 'svc_csrf'].map((name) => agent.cookies.get(name) ?? '')
  secrets.delete('a-code-of-another-provider')
  assert.ok(secrets.size > 40, `${secrets.size} secrets`)
  const stored = (await (await openDatabase(watched, t)).contents()).toString('latin1')
  const logs = watched.logs()
  for (const secret of [...secrets, ...cookies]) {
    assert.ok(!stored.includes(secret), `the database has ${secret}`)
    assert.ok(!logs.includes(secret), `the log has ${secret}`)
  }
  assert.doesNotMatch(stored, /eyJ[\w-]+\.eyJ/)
  assert.doesNotMatch(logs, /eyJ[\w-]{10}|\?code=|[?&]state=/)
  const failures = watched.logLines().filter(({ message }) => message === 'sign-in by a provider failed')
  assert.equal(failures.length, faults.length + 1)
  for (const { request_id, provider, problem } of failures) assert.ok(request_id && provider && problem)
})

test('signing up by password is as before beside providers', async () => {
  assertRedirect(await signUp(newAgent(), newPerson()), '/')
})
