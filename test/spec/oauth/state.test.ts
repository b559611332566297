// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertErrorPage, assertPage, assertRedirect, assertSignedIn } from '../../support/client/assertions.ts'
import { type UserAgent, createUserAgent } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { startGitHubServer } from '../../support/provider/github-server.ts'
import { startMisbehavingProvider } from '../../support/provider/misbehaving-provider.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import {
  allowCallbacks,
  assertNoSession,
  pendingOn,
  providerSettings,
  startServiceWith,
} from '../../support/provider/provider-service.ts'
import {
  assertKeeps,
  parametersOf,
  returnFromProvider,
  signInBy,
  startAt,
  withParameters,
} from '../../support/provider/provider-sign-in.ts'
import { at, startReplicas } from '../../support/service/replicas.ts'

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
      const answer = await returnFromProvider(agent, withParameters(await callbackOf(agent), changes))
      assertNoSession(agent, answer, 400)
      assert.match(answer.text, /This link isn’t valid/)
    })
  }

  test('one with a changed character', async () => {
    const agent = newAgent()
    const callback = await callbackOf(agent)
    const state = parametersOf(callback).get('state') ?? ''
    for (const index of [0, 20, Math.floor(state.length / 2), state.length - 2]) {
      const other = state[index] === 'A' ? 'B' : 'A'
      const spoiled = state.slice(0, index) + other + state.slice(index + 1)
      assertNoSession(agent, await returnFromProvider(agent, withParameters(callback, { state: spoiled })), 400)
    }
    assertRedirect(await returnFromProvider(agent, callback), '/')
  })

  test('of another browser, with a state of its own or none: login CSRF', async () => {
    const attacker = newAgent()
    const callback = await callbackOf(attacker)
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
    const stolen = parametersOf(await callbackOf(victim)).get('code') ?? ''
    const attacker = newAgent()
    const own = await callbackOf(attacker)
    assertNoSession(attacker, await returnFromProvider(attacker, withParameters(own, { code: stolen })), 400)
  })

  test('of another provider: mix-up', async () => {
    const agent = newAgent()
    const { searchParams: atCorp } = new URL((await callbackOf(agent)).url)
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
      const callback = withParameters(await callbackOf(agent), { iss })
      assertNoSession(agent, await returnFromProvider(agent, callback), 401)
    }
    const twice = withParameters(await callbackOf(agent), { iss: [corp.issuer, corp.issuer] })
    assertNoSession(agent, await returnFromProvider(agent, twice), 400)
  })

  test('repeated parameters, and no code', async () => {
    const agent = newAgent()
    const callback = await callbackOf(agent)
    const code = parametersOf(callback).get('code') ?? ''
    const state = parametersOf(callback).get('state') ?? ''
    assertNoSession(agent, await returnFromProvider(agent, withParameters(callback, { code: ['a', code] })), 400)
    assertNoSession(agent, await returnFromProvider(agent, withParameters(callback, { state: [state, state] })), 400)
    assertNoSession(agent, await returnFromProvider(agent, withParameters(callback, { error: ['a', 'b'] })), 400)
    assertNoSession(agent, await returnFromProvider(agent, withParameters(callback, { code: undefined })), 401)
  })

  test('of another installation, with the same cookie', async (t) => {
    const other = await startServiceWith(providers, { t })
    const there = createUserAgent(other)
    const callback = await atCorp()(await startAt(there, 'corp'))
    const here = newAgent()
    here.cookies.set('svc_oauth', there.cookies.get('svc_oauth') ?? '', '/auth/oauth')
    assertNoSession(here, await returnFromProvider(here, callback), 400)
  })

  test('a repeated svc_oauth cookie counts as none', async () => {
    const agent = newAgent()
    const callback = await callbackOf(agent)
    agent.cookies.set('svc_oauth', 'y'.repeat(43), '/auth')
    assertNoSession(agent, await returnFromProvider(agent, callback), 400)
  })

  test('an error without a valid state is not believed', async () => {
    const agent = newAgent()
    for (const query of ['', '?error=access_denied', '?error=access_denied&state=x', '?code=a']) {
      const answer = await agent.get(`/auth/oauth/corp/callback${query}`)
      assertNoSession(agent, answer, 400)
      assert.doesNotMatch(answer.text, /You cancelled/)
    }
  })

  test('the provider’s description of an error is not shown', async () => {
    const agent = newAgent()
    const words = { error: 'login_required', error_description: '<script>alert(1)</script> call 555-0100' }
    const answer = await returnFromProvider(
      agent,
      withParameters(await callbackOf(agent), { code: undefined, ...words }),
    )
    assertNoSession(agent, answer, 400)
    assert.doesNotMatch(answer.text, /alert|555-0100|login_required/)
  })
})

const postCallback = (body: string, headers = {}, agent = newAgent()) =>
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

describe('the callback is a GET: a form post is redirected to it', () => {
  test('and nothing else happens: no session, no cookie, no state consumed, whatever cookies the form post has', async () => {
    const agent = newAgent()
    const callback = await callbackOf(agent)
    const { search, pathname } = new URL(callback.url)
    const answer = await postCallback(search.slice(1), {}, agent)
    assertRedirect(answer, `${pathname}?${new URLSearchParams(inOrder(search)).toString()}`)
    assert.deepEqual(answer.setCookies, [])
    assertRedirect(await returnFromProvider(agent, callback), '/')
  })

  test('hostile fields stay values, or are left out', async () => {
    const fields = { state: '"><script>', code: 'a\r\nSet-Cookie: x=1', user: '//evil.example', return_to: '//evil' }
    const answer = await postCallback(new URLSearchParams({ ...fields, redirect: 'https://evil.example' }).toString())
    const { state, code, user } = fields
    assertRedirect(answer, `/auth/oauth/corp/callback?${new URLSearchParams({ code, state, user }).toString()}`)
    assert.deepEqual(answer.setCookies, [])
    assertRedirect(await postCallback('nothing=of+ours'), '/auth/oauth/corp/callback?')
  })

  test('fields that come twice, too much, and other bodies are refused', async () => {
    assertErrorPage(await postCallback('state=a&state=b'), 400)
    assertErrorPage(await postCallback(`state=${'a'.repeat(9000)}`), 400)
    assertErrorPage(await postCallback(`state=${'a'.repeat(20_000)}`), 413)
    assertErrorPage(await postCallback('state=%ff'), 400)
    assertErrorPage(await postCallback('{"state":"a"}', { 'content-type': 'application/json' }), 415)
  })
})

describe('a provider that is down does not keep svc from starting', () => {
  test('its button shows that it is down, and works when it is back, without a restart', async (t) => {
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

  test('one that goes down before the callback is 503, without a session', async (t) => {
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

test('a locked database is 503, and the same callback can be used afterwards', async (t) => {
  const locked = await startServiceWith(providers, { t, env: { SVC_DATABASE_TIMEOUT: '3s' } })
  const database = await openDatabase(locked, t)
  const agent = createUserAgent(locked)
  const callback = await callbackOf(agent, { return_to: '/kept' })
  const unlock = await database.lock()
  assertErrorPage(await returnFromProvider(agent, callback), 503)
  await unlock()
  assertRedirect(await returnFromProvider(agent, callback), '/kept')
})

test('a flow that begins at one replica ends at another: no process keeps it', async (t) => {
  const [one, other] = await startReplicas({ t, env: providerSettings(providers) })
  allowCallbacks(providers, 'http://svc.example')
  const agent = createUserAgent(one)
  const person = newOpenIdUser()
  const callback = await atCorp(person)(await startAt(agent, 'corp', { return_to: '/x' }))
  const there = at(other, agent)
  assertRedirect(await returnFromProvider(there, callback), '/x')
  await assertSignedIn(agent)
  await agent.post('/auth/logout')
  assertPage(await returnFromProvider(agent, callback), 400)

  const account = { ...newPerson(), email: newOpenIdUser().email ?? '' }
  const { agent: owner } = await signedUp(one, account)
  const { id } = await currentUser(owner)
  const newcomer = createUserAgent(one)
  const back = await atCorp(newOpenIdUser({ email: account.email }))(await startAt(newcomer, 'corp'))
  const page = await returnFromProvider(newcomer, back)
  assertPage(page, 409)
  const { password } = account
  const proven = await at(other, newcomer).post('/auth/oauth/corp/link', { pending: pendingOn(page), password })
  assertRedirect(proven, '/')
  assert.equal((await currentUser(newcomer)).id, id)
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
  assertRedirect(await signInBy(agent, 'corp', atCorp()), '/')
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

test('users can still sign up with a password', async () => {
  assertRedirect(await signUp(newAgent(), newPerson()), '/')
})
