// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertErrorPage, assertRedirect } from '../../support/client/assertions.ts'
import { type Answer, createUserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { startMisbehavingProvider } from '../../support/provider/misbehaving-provider.ts'
import { failureOf, KEPT_FIELD, KEPT_LINK, RETURN_TO } from '../../support/provider/provider-failure-page.ts'
import { newClaims, startFaultyProviders, withQuery } from '../../support/provider/provider-faults.ts'
import { assertNoSession, startServiceWith, statusesOf } from '../../support/provider/provider-service.ts'
import { parametersOf, returnFromProvider, signInBy, startAt } from '../../support/provider/provider-sign-in.ts'
import { eventually } from '../../support/wait.ts'

const { corp, rival, service, newAgent, countRows, callbackFor, assertNoSecretsLogged } = await startFaultyProviders()

describe('§4.4 a hostile callback', () => {
  const repeated = ['code', 'iss', 'error', 'error_description'] as const
  for (const name of repeated) {
    test(`${name} twice: unreadable, return_to kept; the callback itself can still be used`, async () => {
      const agent = newAgent()
      const callback = await callbackFor(agent)
      const twice = withQuery(callback, (query) => {
        for (const value of ['a', 'b']) query.append(name, value)
      })
      const answer = await returnFromProvider(agent, twice)
      assertNoSession(agent, answer, 400)
      assert.ok(answer.text.includes(KEPT_FIELD), answer.text)
      assert.equal((await failureOf(service, answer)).problem, 'unreadable')
      assertRedirect(await returnFromProvider(agent, callback), RETURN_TO)
    })
  }

  test('state twice: unreadable, and return_to is lost', async () => {
    const agent = newAgent()
    const callback = await callbackFor(agent)
    const twice = withQuery(callback, (query) => query.append('state', query.get('state') ?? ''))
    const answer = await returnFromProvider(agent, twice)
    assertNoSession(agent, answer, 400)
    assert.ok(!answer.text.includes(KEPT_FIELD) && !answer.text.includes(KEPT_LINK), answer.text)
    assert.equal((await failureOf(service, answer)).problem, 'unreadable')
  })

  const besides = {
    'a token': { access_token: 'stolen', token_type: 'Bearer', id_token: 'eyJhbGciOiJub25lIn0.e30.' },
    'names of objects': { __proto__x: '1', constructor: '2', 'state[]': 'x', 'code[a]': 'y', toString: 'z' },
    'a place to go': { return_to: 'https://evil.example/', redirect_uri: 'https://evil.example/', intent: 'link' },
    'a response in another form': { session_state: 'x', scope: 'admin', hd: 'example.org', authuser: '0' },
  }
  for (const [title, parameters] of Object.entries(besides)) {
    test(`${title} beside the code changes nothing`, async () => {
      const agent = newAgent()
      const callback = withQuery(await callbackFor(agent), (query) => {
        for (const [name, value] of Object.entries(parameters)) query.append(name, value)
      })
      assertRedirect(await returnFromProvider(agent, callback), RETURN_TO)
    })
  }

  const spoiled = {
    'code of 8 kB': ['code', 'c'.repeat(8000)],
    'code with line breaks': ['code', 'a\r\nhost: evil.example\r\n\r\n'],
    'code with a null byte': ['code', 'a\0b'],
    'code that adds a parameter': ['code', 'a&client_id=other&redirect_uri=https://evil.example/'],
    'no code in it': ['code', ''],
    'issuer of the other provider (mix-up)': ['iss', rival.issuer],
    'issuer without its last character': ['iss', corp.issuer.slice(0, -1)],
    'issuer with a slash more': ['iss', `${corp.issuer}/`],
  } as const
  for (const [title, [name, value]] of Object.entries(spoiled)) {
    test(`${title}: a page, no session`, async () => {
      const agent = newAgent()
      const callback = withQuery(await callbackFor(agent), (query) => query.set(name, value))
      const before = await countRows()
      const { length: asked } = rival.requests
      const answer = await returnFromProvider(agent, callback)
      assert.ok(answer.status === 400 || answer.status === 401, `${answer.status}`)
      assertErrorPage(answer, answer.status)
      assertNoSession(agent, answer, answer.status)
      assert.ok(answer.text.includes(KEPT_FIELD), answer.text)
      assert.deepEqual(await countRows(), before)
      assert.equal(rival.requests.length, asked, 'the other provider receives nothing')
      if (name === 'iss')
        assert.doesNotMatch(
          JSON.stringify(corp.requestsFor('token').at(-1)?.form.get('code')),
          new RegExp(parametersOf(callback).get('code') ?? '-'),
        )
    })
  }

  const raw = {
    'no UTF-8': '?code=%ff%fe&state=%c3%28',
    'half a percent escape': '?code=%&state=%zz',
    'overlong slash': '?state=%c0%af',
    'state of 100 kB': `?state=${'A'.repeat(100_000)}`,
    'state of 15 kB': `?state=${'A'.repeat(15_000)}`,
    'a thousand parameters': `?${'state=a&'.repeat(1000)}`,
    'ten thousand names': `?${Array.from({ length: 2500 }, (_, index) => `a${index}`).join('&')}`,
    'error alone': '?error=access_denied&error_description=%3Cscript%3Ealert(1)%3C/script%3E',
    'lone surrogate': '?state=%ed%a0%80&code=a',
    nothing: '',
  }
  for (const [title, query] of Object.entries(raw)) {
    test(`${title}: refused, and the service goes on`, async () => {
      const agent = newAgent()
      await startAt(agent, 'corp')
      const answer = await agent.get(`/auth/oauth/corp/callback${query}`)
      assert.ok(answer.status >= 400 && answer.status < 500, `${answer.status}`)
      assert.doesNotMatch(answer.text, /<script>alert/)
      assert.ok(!agent.cookies.get('svc_refresh'))
      assert.equal((await newAgent().get('/auth/health')).status, 200)
    })
  }
})

describe('§4.4 one callback starts one session, whatever the provider allows', () => {
  test('a code that the provider accepts ten times at once, and again later', async () => {
    const agent = newAgent()
    const person = newClaims()
    const callback = await callbackFor(agent, person)
    const { sessions: before } = await countRows()
    corp.fault = { token: 'lenient' }
    const answers = await Promise.all(Array.from({ length: 10 }, () => returnFromProvider(agent.copy(), callback)))
    assert.deepEqual(statusesOf(answers), [303, ...Array.from({ length: 9 }, () => 400)])
    const later = await returnFromProvider(agent, callback)
    corp.fault = {}
    assertNoSession(agent, later, 400)
    assert.equal((await countRows()).sessions, Number(before) + 1)
  })

  test('the code of another user, which the provider accepts without its verifier: the nonce is wrong', async () => {
    const stolen = parametersOf(await callbackFor(newAgent())).get('code') ?? ''
    const attacker = newAgent()
    const callback = withQuery(await callbackFor(attacker), (query) => query.set('code', stolen))
    corp.fault = { token: 'lenient' }
    const answer = await returnFromProvider(attacker, callback)
    corp.fault = {}
    assertNoSession(attacker, answer, 401)
  })

  test('another subject with the same email: no session, but the "link account" page', async () => {
    const first = newClaims()
    const agent = newAgent()
    assertRedirect(await returnFromProvider(agent, await callbackFor(agent, first)), RETURN_TO)
    const before = await countRows()
    const other = newAgent()
    const answer = await returnFromProvider(other, await callbackFor(other, newClaims({ email: first.email })))
    assertNoSession(other, answer, 409)
    assert.doesNotMatch(answer.text, /onerror|subject-/)
    assert.deepEqual(await countRows(), before)
  })

  test('the provider signs with a new key: the next try signs in', async () => {
    const person = newClaims()
    const agent = newAgent()
    assertRedirect(await returnFromProvider(agent, await callbackFor(agent, person)), RETURN_TO)
    await corp.rotateKey()
    const first = await returnFromProvider(newAgent(), await callbackFor(newAgent(), person))
    assert.equal(first.status, 400, 'of another browser: refused before the token is read')
    const [one, two] = [newAgent(), newAgent()]
    const tried = await returnFromProvider(one, await callbackFor(one, person))
    if (tried.status !== 303) assertErrorPage(tried, 401)
    assertRedirect(await returnFromProvider(two, await callbackFor(two, person)), RETURN_TO)
  })
})

const relay = (body: string | Buffer, headers = {}) =>
  newAgent().send({
    method: 'POST',
    path: '/auth/oauth/corp/callback',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'cross-site', ...headers },
    body,
  })

const assertSentOn = (answer: Answer) => {
  assert.equal(answer.status, 303, answer.text)
  assert.match(answer.location ?? '', /^\/auth\/oauth\/corp\/callback\?[\x21-\x7e]*$/)
  assert.deepEqual(answer.setCookies, [])
}

describe('§4.4 a form post with hostile content', () => {
  const sentOn = {
    'line breaks': 'state=a%0d%0aSet-Cookie:%20x=1&code=b%0aLocation:%20//evil.example',
    'no fields': '',
    'fields that nobody knows': 'a=1&b=2&return_to=//evil.example&csrf_token=x',
    'a value that looks like an address': 'state=//evil.example/&code=https://evil.example/&iss=javascript:alert(1)',
    'names of objects': '__proto__=a&constructor=b&state=c',
    'a fragment': 'state=a%23b&code=%3F%26c',
    'seven kilobytes': `state=${'a'.repeat(7000)}`,
    'not ASCII': 'state=%E6%97%A5&user=%F0%9F%98%80',
  }
  for (const [title, body] of Object.entries(sentOn)) {
    test(`${title}: redirected to the callback, encoded, and nothing else`, async () => {
      const answer = await relay(body)
      assertSentOn(answer)
      const agent = newAgent()
      assertNoSession(agent, await agent.get(answer.location ?? ''), 400)
    })
  }
  const refused = {
    '16 kB': [400, `state=${'a'.repeat(16_000)}`, {}],
    'more than a body may have': [413, `state=${'a'.repeat(17_000)}`, {}],
    'a field twice': [400, 'state=a&state=a', {}],
    JSON: [415, '{"state":"a"}', { 'content-type': 'application/json' }],
    'another form': [415, '--x\r\n\r\n--x--', { 'content-type': 'multipart/form-data; boundary=x' }],
    text: [415, 'state=a', { 'content-type': 'text/plain' }],
    'no UTF-8': [400, Buffer.from('state=%ff%fe'), {}],
  } as const
  for (const [title, [status, body, headers]] of Object.entries(refused)) {
    test(`${title}: ${status}`, async () => {
      const answer = await relay(body, headers)
      assertErrorPage(answer, status)
      assert.deepEqual(
        answer.setCookies.filter(({ name }) => name !== 'svc_csrf'),
        [],
      )
    })
  }
})

test('§4.4 waiting for a provider past the grace of the refresh token does not log the user out', async (t) => {
  const clock = turnedClock()
  const env = { SVC_ACCESS_TOKEN_TTL: '1m', SVC_OAUTH_TIMEOUT: '1m' }
  const provider = await startMisbehavingProvider({ t })
  const patient = await startServiceWith({ corp: provider }, { t, clock, env })
  const agent = createUserAgent(patient)
  assertRedirect(await signInBy(agent, 'corp', provider.visit), '/')
  const callback = await provider.visit(await startAt(agent, 'corp', { intent: 'confirm' }))
  // The access token has expired at the callback: the session is renewed for it.
  await clock.turnTo(120_000)
  provider.fault = { token: 'hanging' }
  const asked = provider.requestsFor('token').length
  const waiting = returnFromProvider(agent, callback)
  await eventually('the provider is asked', () => provider.requestsFor('token').length > asked)
  await clock.turnTo(180_000)
  await provider.stop()
  assertErrorPage(await waiting, 503)
  assert.equal((await agent.refresh()).status, 200)
})

test('§4.4 a return_to of many characters that are not ASCII survives', async () => {
  for (const letters of [600, 1400]) {
    const agent = newAgent()
    const target = `/${'日'.repeat(letters)}`
    const answer = await signInBy(agent, 'corp', (url) => corp.visit(url, { person: newClaims() }), {
      return_to: target,
    })
    assertRedirect(answer, encodeURI(target))
  }
})

/** This many different Chinese characters. */
const lettersIn = (count: number) =>
  String.fromCodePoint(...Array.from({ length: count }, (_, index) => 0x4e00 + ((index * index * 7919) % 20_011)))

test('§4.4 a return_to of 1,000 different characters survives; one that makes too long a state is refused before the redirect', async () => {
  const agent = newAgent()
  const target = `/${lettersIn(1000)}`
  assertRedirect(
    await returnFromProvider(agent, await callbackFor(agent, newClaims(), 'corp', { return_to: target })),
    encodeURI(target),
  )
  const other = newAgent()
  const answer = await other.post('/auth/oauth/corp', { return_to: `/${lettersIn(1700)}` })
  assertErrorPage(answer, 400)
  assert.match(answer.text, /return_to/)
  assert.equal(answer.cookie('svc_oauth'), undefined)
})

test('§4.4 the logs contain no code, state, token, secret or verifier', () => {
  assertNoSecretsLogged(service.logs(), { atLeast: 50 })
})
