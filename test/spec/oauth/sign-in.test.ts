// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, logIn, signedUp } from '../../support/client/accounts.ts'
import {
  assertErrorPage,
  assertPage,
  assertRedirect,
  assertSignedIn,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import { type Answer, type UserAgent, createUserAgent } from '../../support/client/user-agent.ts'
import { turnedProcessClock } from '../../support/clock/turned-process-clock.ts'
import { newGitHubPerson, startGitHubServer } from '../../support/provider/github-server.ts'
import { startMisbehavingProvider } from '../../support/provider/misbehaving-provider.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import {
  assertNoSession,
  startServiceProcessWith,
  startServiceWith,
  statusesOf,
} from '../../support/provider/provider-service.ts'
import {
  assertKeeps,
  returnFromProvider,
  signInBy,
  startAt,
  withParameters,
} from '../../support/provider/provider-sign-in.ts'

const MINUTE = 60_000

const corp = await startOpenIdProvider()
const github = await startGitHubServer()
const providers = { github, corp }
const service = await startServiceWith(providers)

const newAgent = () => createUserAgent(service)

/** A person signs in at corp. */
const atCorp =
  (person = newOpenIdUser()) =>
  (url: string) =>
    corp.visit(url, { person })

/** The callback of a browser that has been to corp. */
const callbackOf = async (agent: UserAgent, form = {}, person = newOpenIdUser()) =>
  atCorp(person)(await startAt(agent, 'corp', form))

describe('§4.3 the login and signup pages offer configured OAuth providers; svc handles the whole flow', () => {
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
      assertRedirect(await signInBy(agent, 'corp', atCorp(), form), location)
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

  test('a form post from a provider is redirected to the GET, and the user lands on return_to', async () => {
    const agent = newAgent()
    const { url } = await callbackOf(agent, { return_to: '/by-form' })
    const { origin, pathname, searchParams } = new URL(url)
    const posted = { method: 'POST', url: origin + pathname, form: Object.fromEntries(searchParams) } as const
    assertRedirect(await returnFromProvider(agent, posted), '/by-form')
    await assertSignedIn(agent)
  })

  test('an external return_to is refused before the redirect to the provider', async () => {
    for (const return_to of ['https://evil.example/', '//evil.example', '/\\evil.example', '/\t/evil.example']) {
      const answer = await newAgent().post('/auth/oauth/corp', { return_to })
      assertErrorPage(answer, 400)
      assert.equal(answer.cookie('svc_oauth'), undefined)
    }
  })

  test('parameters beside the code do not change where the user lands', async () => {
    const agent = newAgent()
    const callback = await callbackOf(agent, { return_to: '/mine' })
    const besides = { return_to: 'https://evil.example/', redirect_uri: 'https://evil.example/', target: '/other' }
    assertRedirect(await returnFromProvider(agent, withParameters(callback, besides)), '/mine')
  })
})

const shapes = (answer: Answer) => answer.setCookies.map(({ name, attributes }) => ({ name, attributes }))

describe('§4.3 a session from a provider is like any other', () => {
  test('its cookies have the attributes of any login, and the CSRF token changes', async () => {
    const { person } = await signedUp(service)
    const byPassword = await logIn(newAgent(), person)
    const agent = newAgent()
    await agent.get('/auth/login')
    const csrfBefore = agent.cookies.get('svc_csrf')
    const byProvider = await signInBy(agent, 'corp', atCorp())
    assert.deepEqual(shapes(byProvider), shapes(byPassword))
    assert.notEqual(agent.cookies.get('svc_csrf'), csrfBefore)
    assert.equal((await agent.refresh()).status, 200)
    await assertSignedIn(agent)
    assertRedirect(await agent.post('/auth/logout'), '/')
    await assertSignedOut(agent)
  })

  test('it replaces the session that the browser had', async () => {
    const { agent } = await signedUp(service)
    const before = agent.copy()
    const person = newOpenIdUser()
    assertRedirect(await signInBy(agent, 'corp', atCorp(person)), '/')
    assert.equal((await currentUser(agent)).email, person.email)
    await assertSignedOut(before)
  })

  test('a second sign-in is the same user, in any browser', async () => {
    const person = newOpenIdUser()
    const [one, other] = [newAgent(), newAgent()]
    assertRedirect(await signInBy(one, 'corp', atCorp(person)), '/')
    assertRedirect(await signInBy(other, 'corp', atCorp(person)), '/')
    assert.deepEqual(await currentUser(one), await currentUser(other))
    await assertSignedIn(one)
  })
})

describe('§4.3 authorization code, PKCE S256, `state` and `nonce` bound to this browser by a short-lived HttpOnly cookie', () => {
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

  test('no two flows have the same state, nonce or challenge', async () => {
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
    const connect = await agent.post('/auth/oauth/corp', { intent: 'link', csrf_token: 'x'.repeat(43) })
    assertErrorPage(connect, 403)
    assert.match(connect.text, /<h1>You were logged out<\/h1>[^]*href="\/auth\/login\?return_to=%2Fauth%2Faccount"/)
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

describe('§4.3 the user may open two tabs, press back, cancel, deny, wait ten minutes', () => {
  test('two tabs at once: both sign in, each with its own return_to', async () => {
    const agent = newAgent()
    const person = newOpenIdUser()
    const one = await callbackOf(agent, { return_to: '/one' }, person)
    const two = await callbackOf(agent, { return_to: '/two' }, person)
    assertRedirect(await returnFromProvider(agent, one), '/one')
    assertRedirect(await returnFromProvider(agent, two), '/two')
    await assertSignedIn(agent)
  })

  test('pressing back afterwards: a user who is signed in is redirected to return_to', async () => {
    const agent = newAgent()
    const callback = await callbackOf(agent, { return_to: '/there' })
    assertRedirect(await returnFromProvider(agent, callback), '/there')
    const before = agent.cookies.get('svc_refresh')
    assertRedirect(await returnFromProvider(agent, callback), '/there')
    assert.equal(agent.cookies.get('svc_refresh'), before, 'no other session')
  })

  test('a state is used once: a user who has logged out since gets a page', async () => {
    const agent = newAgent()
    const callback = await callbackOf(agent, { return_to: '/there' })
    assertRedirect(await returnFromProvider(agent, callback), '/there')
    await agent.post('/auth/logout')
    const again = await returnFromProvider(agent, callback)
    assertNoSession(agent, again, 400)
    assertKeeps(again, '/there')
  })

  test('of ten browsers that return with the same callback at once, one gets a session', async () => {
    const agent = newAgent()
    const callback = await callbackOf(agent, { return_to: '/once' })
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
