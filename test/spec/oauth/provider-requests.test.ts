// Runs on SQLite.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { createPrettyStream } from '../../../src/lib/log.ts'
import { assertErrorPage, assertRedirect } from '../../support/client/assertions.ts'
import type { MisbehavingProvider } from '../../support/provider/misbehaving-provider.ts'
import { failureOf, RETURN_TO } from '../../support/provider/provider-failure-page.ts'
import { newClaims, startFaultyProviders, withQuery } from '../../support/provider/provider-faults.ts'
import { assertNoSession } from '../../support/provider/provider-service.ts'
import { parametersOf, returnFromProvider, signInBy, startAt } from '../../support/provider/provider-sign-in.ts'

const { corp, lab, service, newAgent, callbackFor } = await startFaultyProviders()

const s256 = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')

const basicOf = ({ clientId, clientSecret }: MisbehavingProvider) =>
  `Basic ${Buffer.from(`${clientId}:${encodeURIComponent(clientSecret).replaceAll('-', '%2D')}`).toString('base64')}`

describe('requests to the provider', () => {
  const forms = {
    basic: ['basic-only', 'header'],
    post: ['post-only', 'form'],
    unsaid: ['authentication-unsaid', 'header'],
    pkceless: ['pkce-unsaid', 'form'],
    plain: ['pkce-plain', 'form'],
    corp: [undefined, 'form'],
  } as const
  for (const [name, [discovery, place]] of Object.entries(forms)) {
    test(`${discovery ?? 'all is offered'}: S256, the exact redirect URI, and the secret in the ${place}`, async () => {
      const agent = newAgent()
      corp.fault = discovery ? { discovery } : {}
      const asked = new URL(await startAt(agent, name)).searchParams
      const callback = await corp.visit(`${corp.origin}/authorize?${asked.toString()}`, { person: newClaims() })
      assertRedirect(await returnFromProvider(agent, callback), '/')
      corp.fault = {}
      const { form, headers, method, query } = corp.requestsFor('token').at(-1) ?? assert.fail()
      const { code_verifier = '', client_secret, client_id, ...rest } = Object.fromEntries(form)
      assert.equal(asked.get('code_challenge_method'), 'S256')
      assert.equal(asked.get('code_challenge'), s256(code_verifier))
      assert.match(code_verifier, /^[\w-]{43}$/)
      assert.deepEqual(rest, {
        grant_type: 'authorization_code',
        code: parametersOf(callback).get('code'),
        redirect_uri: `${service.url}/auth/oauth/${name}/callback`,
      })
      assert.equal(rest.redirect_uri, asked.get('redirect_uri'))
      assert.deepEqual([method, String(query)], ['POST', ''])
      if (place === 'form') {
        assert.deepEqual(
          [client_id, client_secret, headers.authorization],
          [corp.clientId, corp.clientSecret, undefined],
        )
      } else {
        assert.deepEqual([client_secret, headers.authorization], [undefined, basicOf(corp)])
      }
      assert.match(headers['content-type'] ?? '', /^application\/x-www-form-urlencoded/)
    })
  }

  test('no URL contains a secret, a token or a verifier', async () => {
    for (const [name, provider] of [
      ['corp', corp],
      ['gitlab', lab],
    ] as const) {
      const visit = (url: string) => provider.visit(url, { person: newClaims() })
      assertRedirect(await signInBy(newAgent(), name, visit), '/')
      assert.ok(provider.requests.some(({ endpoint }) => endpoint === 'token'))
    }
    const addresses = corp.requests.concat(lab.requests).filter(({ endpoint }) => endpoint !== 'authorize')
    for (const { query, path } of addresses) assert.equal(String(query), '', path)
    for (const { query } of corp.requestsFor('authorize')) {
      assert.ok(!query.has('client_secret') && !query.has('code_verifier'))
      for (const { form } of corp.requestsFor('token'))
        assert.ok(!String(query).includes(form.get('code_verifier') ?? '-'))
    }
  })

  test('a new sign-in is required only for a re-authentication', async () => {
    const agent = newAgent()
    const person = newClaims()
    const signIn = new URL(await startAt(agent, 'corp'))
    assertRedirect(await returnFromProvider(agent, await callbackFor(agent, person)), RETURN_TO)
    const [link, confirm] = [
      new URL(await startAt(agent, 'rival', { intent: 'link' })),
      new URL(await startAt(agent, 'corp', { intent: 'confirm' })),
    ]
    for (const { searchParams } of [signIn, link]) {
      assert.deepEqual([searchParams.get('prompt'), searchParams.get('max_age')], [null, null])
    }
    assert.deepEqual([confirm.searchParams.get('prompt'), confirm.searchParams.get('max_age')], ['login', '0'])
  })

  test('a sign-in at the provider long ago does not re-authenticate the user', async () => {
    const agent = newAgent()
    const person = newClaims()
    assertRedirect(await returnFromProvider(agent, await callbackFor(agent, person)), RETURN_TO)
    const now = Math.floor(Date.now() / 1000)
    for (const auth_time of [0, now - 3600, -1, 'yesterday', null, String(now), {}]) {
      const callback = await callbackFor(agent, { ...person, auth_time }, 'corp', { intent: 'confirm' })
      const answer = await returnFromProvider(agent, callback)
      assert.equal(answer.status, 401, `auth_time ${JSON.stringify(auth_time)}: ${answer.location ?? ''}`)
    }
  })

  test('a state can be neither read, guessed nor assembled', async () => {
    const agent = newAgent()
    const starts = await Promise.all(
      Array.from({ length: 8 }, () => startAt(agent, 'corp', { return_to: '/secret-place' })),
    )
    const states = starts.map((url) => new URL(url).searchParams.get('state') ?? '')
    assert.equal(new Set(states.map((state) => state.slice(0, 16))).size, states.length)
    for (const state of states) {
      const text = Buffer.from(state, 'base64url').toString('latin1')
      assert.doesNotMatch(text, /secret|place|corp|sign_in|target|provider/)
      assert.doesNotMatch(state, /c2VjcmV0|L3NlY3Jld|cmV0dXJu/)
    }
    const [one = '', two = ''] = states
    const halves = one.slice(0, one.length / 2) + two.slice(one.length / 2)
    const answer = await agent.get(`/auth/oauth/corp/callback?code=a&state=${halves}`)
    assertNoSession(agent, answer, 400)
  })
})

describe('the log has the provider’s description of an error, without what looks like a code or a token', () => {
  const secret = {
    'a code of letters and digits': 'SplxlOBeZQQYbYS6WxSbIA',
    'a code of letters alone': 'SplxlOBeZQQYbYSxWxSbIA',
    'a number in base 16': '0f9c2b7d4e1a8365',
    'a UUID': '7d444840-9dc0-11d1-b245-5ffdce74fad2',
    'a JWT': 'eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.c2ln',
    'a token with a prefix': 'gho_16C7e42F292c6912E7710c838347Ae178B4a',
    'one in base 64': 'dGhpcyBpcyBhIHNlY3JldA==',
    'one that is encoded for an address': '4%2F0AX4XfWh3w2k%2Bab',
  }
  for (const [title, text] of Object.entries(secret)) {
    test(title, async () => {
      const agent = newAgent()
      const description = `Your code=${text} is no good, see https://id.corp.example/help`
      corp.fault = { error: { code: 'invalid_scope', description } }
      const answer = await signInBy(agent, 'corp', (url) => corp.visit(url, { person: newClaims() }))
      corp.fault = {}
      assertErrorPage(answer, 400)
      const cause = String((await failureOf(service, answer)).cause)
      assert.match(cause, /invalid_scope Your \S*… is no good, see https:/)
      assert.ok(!service.logs().includes(text), cause)
    })
  }
})

/** What a terminal acts upon. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

test('a provider’s error description cannot control the terminal of an operator who reads the log', async () => {
  const agent = newAgent()
  const callback = withQuery(await callbackFor(agent), (query) => {
    query.delete('code')
    query.set('error', 'x\x1b[2J\x1b]0;title\x07')
    query.set('error_description', 'a\n10:00:00 info all is well\x9b2J\u2028\u202eon\u2066')
  })
  const answer = await returnFromProvider(agent, callback)
  assertErrorPage(answer, 400)
  await failureOf(service, answer)
  const id = String(answer.headers['x-request-id'])
  const line = service
    .logs()
    .split('\n')
    .find((text) => text.includes(id) && text.includes('sign-in by a provider'))
  assert.doesNotMatch(line ?? '', UNSAFE)
  let shown = ''
  createPrettyStream((text) => {
    shown += text
  }).write(`${line}\n`)
  // Our own colours, and no other sequence.
  const [text = '', ...coloured] = shown.replace(/\n$/, '').split('\x1b')
  for (const part of coloured) assert.match(part, /^\[\d+m/, JSON.stringify(shown))
  assert.doesNotMatch(text + coloured.join(''), UNSAFE, JSON.stringify(shown))
})
