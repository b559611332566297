// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { logIn, newAgent, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertErrorPage, assertPage } from '../../support/client/assertions.ts'
import {
  allow,
  answerToClient,
  authorizePath,
  CLIENT_SETTINGS,
  consentForm,
  madeClient,
  REDIRECT_URI,
} from '../../support/clients/authorization.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService({ env: CLIENT_SETTINGS })
const client = await madeClient(service)
const trusted = await madeClient(service, { name: 'Own app', options: ['--first-party'] })
const { agent } = await signedUp(service)
const issuer = `${service.url}/auth`

const errorOf = async (path: string, browser = agent) => {
  const answer = answerToClient(await browser.get(path))
  assert.equal(answer.get('iss'), issuer)
  return answer
}

describe('a request that must lead nowhere', () => {
  const cases: [string, string][] = [
    ['no client', authorizePath('', { client_id: undefined })],
    ['an unknown client', authorizePath('nobody')],
    ['a repeated client', `${authorizePath(client.id)}&client_id=${client.id}`],
    ['no redirect URI', authorizePath(client.id, { redirect_uri: undefined })],
    ['a repeated redirect URI', `${authorizePath(client.id)}&redirect_uri=${encodeURIComponent(REDIRECT_URI)}`],
    [
      'another redirect URI, and another error',
      authorizePath(client.id, { redirect_uri: 'https://evil.example/', response_type: 'token' }),
    ],
    [
      'another redirect URI, with prompt=none',
      authorizePath(client.id, { redirect_uri: 'https://evil.example/', prompt: 'none' }),
    ],
    ['an unsealed request', '/auth/oauth2/authorize?request=abc'],
    ...[
      `${REDIRECT_URI}/`,
      `${REDIRECT_URI}?x`,
      `${REDIRECT_URI}#f`,
      `${REDIRECT_URI}/..`,
      REDIRECT_URI.toUpperCase(),
      REDIRECT_URI.replace('https', 'http'),
      REDIRECT_URI.replace('app.', 'app.example.net@'),
      REDIRECT_URI.replace('.net', '.net.evil.example'),
      '//app.example.net/callback',
      '/callback',
      'javascript:alert(1)',
      'javascript://app.example.net/callback',
      'data:text/html,x',
      ` ${REDIRECT_URI}`,
      `${REDIRECT_URI}\r\nLocation: https://evil.example`,
    ].map((uri): [string, string] => [uri, authorizePath(client.id, { redirect_uri: uri })]),
  ]
  for (const [title, path] of cases) {
    test(JSON.stringify(title), async () => {
      const answer = await agent.get(path)
      assertErrorPage(answer, 400)
      assert.equal(answer.location, undefined)
      assert.equal(answer.headers.refresh, undefined)
      assert.ok(!answer.text.includes('evil.example'), 'nothing of the request is repeated')
    })
  }
})

describe('an error that the client is told', () => {
  const cases: [title: string, error: string, path: string][] = [
    ['a repeated parameter', 'invalid_request', `${authorizePath(client.id)}&nonce=a&nonce=b`],
    ['too much of it', 'invalid_request', authorizePath(client.id, { nonce: 'n'.repeat(2048) })],
    ['a NUL', 'invalid_request', authorizePath(trusted.id, { nonce: 'a\0b' })],
    ['no response type', 'invalid_request', authorizePath(client.id, { response_type: undefined })],
    ['implicit', 'unsupported_response_type', authorizePath(client.id, { response_type: 'token' })],
    ['a fragment', 'invalid_request', authorizePath(client.id, { response_mode: 'fragment' })],
    ['no PKCE', 'invalid_request', authorizePath(client.id, { code_challenge: undefined })],
    ['plain PKCE', 'invalid_request', authorizePath(client.id, { code_challenge_method: 'plain' })],
    [
      'PKCE that is plain by default',
      'invalid_request',
      authorizePath(client.id, { code_challenge_method: undefined }),
    ],
    ['a short challenge', 'invalid_request', authorizePath(client.id, { code_challenge: 'short' })],
    ['an unknown prompt', 'invalid_request', authorizePath(client.id, { prompt: 'sing' })],
    ['none and login', 'invalid_request', authorizePath(client.id, { prompt: 'none login' })],
    ['a bad max_age', 'invalid_request', authorizePath(client.id, { max_age: '-1' })],
    ['an unknown resource', 'invalid_target', authorizePath(client.id, { resource: 'https://evil.example' })],
    ['no scope that is known', 'invalid_scope', authorizePath(client.id, { scope: 'nothing' })],
    ['no scope that it may have', 'invalid_scope', authorizePath(client.id, { scope: 'roles' })],
    ['a request object', 'request_not_supported', authorizePath(client.id, { request: 'e30.e30.' })],
    ['a request by reference', 'request_not_supported', authorizePath(client.id, { request_uri: 'https://a.example' })],
    ['consent without a page', 'consent_required', authorizePath(client.id, { prompt: 'none' })],
  ]
  for (const [title, error, path] of cases) {
    test(title, async () => {
      const told = await errorOf(path)
      assert.equal(told.get('error'), error)
      assert.ok(told.get('error_description'))
      assert.equal(told.get('state'), 'st4te')
      assert.equal(told.get('code'), null)
    })
  }

  test('a repeated state is not sent back', async () => {
    const told = await errorOf(`${authorizePath(client.id)}&state=other`)
    assert.equal(told.get('state'), null)
  })

  test('nobody is logged in, with prompt=none', async () => {
    assert.equal(
      (await errorOf(authorizePath(trusted.id, { prompt: 'none' }), newAgent(service))).get('error'),
      'login_required',
    )
  })

  test('state comes back as it is, whatever it is', async () => {
    for (const state of ['//evil.example', 'javascript:alert(1)', '"><script>', '\r\nLocation: x', '日本 &a=b#c'])
      assert.equal((await errorOf(authorizePath(client.id, { state, prompt: 'none' }))).get('state'), state)
  })
})

describe('the way of a good request', () => {
  test('a first-party client gets a code at once, by a redirect', async () => {
    const answer = await agent.get(authorizePath(trusted.id))
    assert.equal(answer.status, 303)
    const told = answerToClient(answer)
    assert.match(told.get('code') ?? '', /^svc_ac_[\w-]{43}$/)
    assert.deepEqual([told.get('state'), told.get('iss')], ['st4te', issuer])
    assert.equal(answer.headers['cross-origin-opener-policy'], undefined)
  })

  test('a first-party client gets one with prompt=none too', async () => {
    assert.ok((await errorOf(authorizePath(trusted.id, { prompt: 'none' }))).get('code'))
  })

  test('an access token that has run out is renewed on the way, with prompt=none', async () => {
    const { agent } = await signedUp(service)
    agent.cookies.delete('svc_access')
    const answer = await agent.get(authorizePath(trusted.id, { prompt: 'none' }))
    assert.ok(answerToClient(answer).get('code'))
    assert.ok(answer.cookie('svc_access'))
  })

  test('another client is asked for, allowed once, and remembered', async () => {
    const { agent } = await signedUp(service)
    const page = await agent.get(authorizePath(client.id, { resource: 'https://files.example.com/' }))
    assertPage(page)
    assert.equal(page.headers['cross-origin-opener-policy'], undefined)
    assert.match(String(page.headers['content-security-policy']), /frame-ancestors 'none'/)
    for (const text of ['app.example.net', 'Notebook', 'Read your notes', 'files.example.com'])
      assert.ok(page.text.includes(text), text)
    const answer = await allow(agent, page)
    assertPage(answer)
    assert.ok(answerToClient(answer).get('code'))
    assert.ok(answer.text.includes('Back to Notebook'))
    const next = (changes = {}) =>
      agent.get(authorizePath(client.id, { resource: 'https://files.example.com', ...changes }))
    assert.equal((await next()).status, 303, 'not asked again')
    for (const changes of [{ scope: 'openid notes:write' }, { resource: undefined }, { prompt: 'consent' }])
      consentForm(await next(changes))
    consentForm(await next({ prompt: 'select_account' }))
  })

  test('says how long the access lasts', async () => {
    const { agent } = await signedUp(service)
    const asked = async (path: string) => (await agent.get(path)).text
    assert.match(await asked(authorizePath(client.id)), /It keeps this access until you log out here\./)
    for (const scope of ['openid offline_access', 'notes:read'])
      assert.match(
        await asked(authorizePath(client.id, { scope })),
        /It keeps this access for up to a year, or until it hasn’t used it for 90 days\. You can end it at any time/,
      )
  })

  test('Cancel tells the client', async () => {
    const page = await agent.get(authorizePath(client.id))
    const answer = await agent.post('/auth/oauth2/consent', { ...consentForm(page), allow: '0' })
    assert.equal(answerToClient(answer).get('error'), 'access_denied')
  })

  test('no CSRF token, no code', async () => {
    const page = await agent.get(authorizePath(client.id))
    const answer = await agent.post('/auth/oauth2/consent', { ...consentForm(page), allow: '1', csrf_token: 'x' })
    assert.equal(answer.status, 403)
    assert.equal(answer.headers.refresh, undefined)
  })

  test('the form is good once', async () => {
    const { agent } = await signedUp(service)
    const page = await agent.get(authorizePath(client.id, { prompt: 'consent' }))
    const answers = await Promise.all([allow(agent, page), allow(agent, page)])
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 303],
    )
    const again = answers.find(({ status }) => status === 303)
    consentForm(await agent.get(again?.location ?? ''))
  })

  test('a user who has changed in another tab allows nothing', async () => {
    const { agent } = await signedUp(service)
    const page = await agent.get(authorizePath(client.id))
    const other = newPerson()
    await signUp(newAgent(service), other)
    await agent.post('/auth/logout')
    assert.equal((await logIn(agent, other)).status, 303)
    const answer = await allow(agent, page)
    assert.equal(answer.status, 303)
    const asked = await agent.get(answer.location ?? '')
    assert.ok(asked.text.includes(other.email))
    consentForm(asked)
  })

  test('a form that is allowed after the logout leads to the login, and back', async () => {
    const { agent, person } = await signedUp(service)
    const page = await agent.get(authorizePath(client.id))
    await agent.post('/auth/logout')
    const first = await allow(agent, page)
    const login = await agent.get(first.location ?? '')
    const returnTo = new URLSearchParams(login.location?.split('?')[1]).get('return_to') ?? ''
    const loggedIn = await logIn(agent, person, { return_to: returnTo })
    consentForm(await agent.get(loggedIn.location ?? ''))
  })

  test('the form of another browser is refused', async () => {
    const { agent, person } = await signedUp(service)
    const page = await agent.get(authorizePath(client.id))
    const other = newAgent(service)
    await logIn(other, person)
    assertErrorPage(await allow(other, page), 400)
  })

  test('a login comes back to it, and ends on a page', async () => {
    const { person } = await signedUp(service)
    const browser = newAgent(service)
    const sent = await browser.get(authorizePath(trusted.id, { login_hint: person.email }))
    const query = new URLSearchParams(sent.location?.split('?')[1])
    assert.match(sent.location ?? '', /^\/auth\/login\?/)
    assert.equal(query.get('email'), person.email)
    const shown = await browser.get(sent.location ?? '')
    assert.equal(shown.headers['cross-origin-opener-policy'], undefined)
    const loggedIn = await logIn(browser, person, { return_to: query.get('return_to') ?? '' })
    assert.equal(loggedIn.headers['cross-origin-opener-policy'], undefined)
    const answer = await browser.get(loggedIn.location ?? '')
    assertPage(answer)
    assert.ok(answerToClient(answer).get('code'))
  })

  test('a request of 2 KiB that nothing compresses comes back too', async () => {
    const browser = newAgent(service)
    const state = Array.from({ length: 1600 }, () => Math.floor(Math.random() * 36).toString(36)).join('')
    const sent = await browser.get(authorizePath(trusted.id, { state }))
    const returnTo = new URLSearchParams(sent.location?.split('?')[1]).get('return_to') ?? ''
    const signed = await browser.post('/auth/signup', { ...newPerson(), return_to: returnTo })
    assert.equal(signed.status, 303, signed.text)
    assert.equal(answerToClient(await browser.get(signed.location ?? '')).get('state'), state)
  })

  test('prompt=login asks a user who has just logged in, once', async () => {
    const { agent, person } = await signedUp(service)
    for (const changes of [{ prompt: 'login' }, { max_age: '0' }]) {
      const sent = await agent.get(authorizePath(trusted.id, changes))
      assert.match(sent.location ?? '', /^\/auth\/account\/confirm\?/)
      const shown = await agent.get(sent.location ?? '')
      assertPage(shown)
      assert.equal(shown.headers['cross-origin-opener-policy'], undefined)
      const returnTo = new URLSearchParams(sent.location?.split('?')[1]).get('return_to') ?? ''
      const confirmed = await agent.post('/auth/account/confirm', { password: person.password, return_to: returnTo })
      assert.ok(answerToClient(await agent.get(confirmed.location ?? '')).get('code'))
    }
    assert.equal(
      (await errorOf(authorizePath(trusted.id, { prompt: 'none', max_age: '0' }), agent)).get('error'),
      'login_required',
    )
  })

  test('mfa asks for a second factor, and says where it is missing', async () => {
    const path = authorizePath(trusted.id, { acr_values: 'mfa' })
    assert.match((await agent.get(path)).location ?? '', /confirm\?.*acr=mfa/)
    assert.equal((await errorOf(`${path}&prompt=none`)).get('error'), 'interaction_required')
  })
})

describe('a program on this computer', () => {
  const redirect_uri = 'http://127.0.0.1:50123/callback'

  test('is asked for every time, a first-party client with one button', async () => {
    const own = await madeClient(service, {
      redirectUri: 'http://127.0.0.1/callback',
      options: ['--type', 'native', '--first-party'],
    })
    for (let times = 0; times < 2; times += 1) {
      const page = await agent.get(authorizePath(own.id, { redirect_uri }))
      assert.ok(page.text.includes('Continue as'))
      assert.ok(page.text.includes('A program on this computer'))
      assert.ok(answerToClient(await allow(agent, page), redirect_uri).get('code'))
    }
    const silent = await agent.get(authorizePath(own.id, { redirect_uri, prompt: 'none' }))
    assert.equal(answerToClient(silent, redirect_uri).get('error'), 'consent_required')
  })
})

test('a POST leads to the same GET, without a token', async () => {
  const browser = newAgent(service)
  const form = { client_id: client.id, state: ['a', 'b'] }
  const answer = await browser.post(
    '/auth/oauth2/authorize',
    { ...form, csrf_token: [] },
    { origin: 'https://app.example.net' },
  )
  assert.equal(answer.status, 303)
  assert.equal(answer.location, `/auth/oauth2/authorize?client_id=${client.id}&state=a&state=b`)
})

test('HEAD gives no code', async () => {
  assert.equal((await agent.send({ method: 'HEAD', path: authorizePath(trusted.id) })).status, 405)
})

test('a disabled client leads nowhere', async () => {
  const gone = await madeClient(service, { options: ['--first-party'] })
  assert.equal((await agent.get(authorizePath(gone.id))).status, 303)
  const { code, stderr } = await service.cli(['clients', 'disable', gone.id])
  assert.equal(code, 0, stderr)
  assertErrorPage(await agent.get(authorizePath(gone.id)), 400)
})

/** The browser goes to a page that leads back to the request; resolves to the path of that. */
const onItsWay = async (browser: typeof agent, path: string): Promise<string> => {
  const { location = '' } = await browser.get(path)
  return new URL(location, service.url).searchParams.get('return_to') ?? assert.fail(location)
}

describe('what is switched off is not reached by a request on its way', () => {
  const AGENT = 'https://agent.example/callback'
  const open = { SVC_CLIENT_HOSTS: 'agent.example', SVC_CLIENT_REGISTRATION: 'on' }

  test('nor by the restart of a service: a host, registration, or all of it', async (t) => {
    const restarted = await startService({ env: { ...CLIENT_SETTINGS, ...open }, t })
    const register = async () =>
      fetch(`${restarted.url}/auth/oauth2/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ redirect_uris: [AGENT, 'http://127.0.0.1/callback'] }),
      })
    const { client_id } = (await (await register()).json()) as { client_id: string }
    const { agent: browser } = await signedUp(restarted)
    const pathTo = (redirect_uri: string) => onItsWay(browser, authorizePath(client_id, { redirect_uri }))
    const [atHost, atLoopback] = [await pathTo(AGENT), await pathTo('http://127.0.0.1/callback')]
    assert.equal((await browser.get(atHost)).status, 303)

    await restarted.restart({ env: { SVC_CLIENT_HOSTS: '', SVC_CLIENT_REGISTRATION: 'off' } })
    assertErrorPage(await browser.get(atHost), 400)
    assert.equal((await browser.get(atLoopback)).status, 303, 'the client keeps what is allowed')
    assert.equal((await register()).status, 404)

    await restarted.restart({ env: { SVC_CLIENTS: 'off' } })
    assert.equal((await browser.get(atLoopback)).status, 404)
    await restarted.restart({ env: { SVC_CLIENTS: 'on' } })
    assertErrorPage(await browser.get(atHost), 400)
    assert.equal((await register()).status, 404)
  })

  const changes: [what: string, change: string[], answer: string][] = [
    ['a redirect URI', ['change', '--redirect-uri', 'https://app.example.net/other'], 'page'],
    ['a scope', ['change', '--scope', 'openid'], 'invalid_scope'],
    ['a resource', ['change', '--resource', 'https://files.example.com'], 'invalid_target'],
    ['a login without second factor', ['change', '--require-mfa'], 'proof'],
    ['the client', ['disable'], 'page'],
  ]
  for (const [what, [command = '', ...options], expected] of changes) {
    test(`nor by its form of consent: ${what}`, async () => {
      const { agent: browser } = await signedUp(service)
      const changing = await madeClient(service, { name: 'Changing' })
      const asked = { scope: 'notes:read', resource: 'https://notes.example.com/mcp' }
      const form = await browser.get(authorizePath(changing.id, asked))
      const path = await onItsWay(browser, authorizePath(changing.id, { ...asked, prompt: 'login' }))
      assert.equal((await service.cli(['clients', command, changing.id, ...options])).code, 0)
      const allowed = await allow(browser, form)
      const again = await browser.get(path)
      if (expected === 'page') for (const answer of [allowed, again]) assertErrorPage(answer, 400)
      else if (expected === 'proof')
        for (const answer of [allowed, again]) assert.match(answer.location ?? '', /^\/auth\/(account\/confirm|oauth2)/)
      else for (const answer of [allowed, again]) assert.equal(answerToClient(answer).get('error'), expected)
    })
  }
})
