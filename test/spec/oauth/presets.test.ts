// Runs on SQLite.
import assert from 'node:assert/strict'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { currentUser } from '../../support/client/accounts.ts'
import { assertErrorPage, assertPage, assertRedirect, assertSignedIn } from '../../support/client/assertions.ts'
import { type Answer, type UserAgent, createUserAgent } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { type GitHubPerson, newGitHubPerson, startGitHubServer } from '../../support/provider/github-server.ts'
import { type MisbehavingProvider, startMisbehavingProvider } from '../../support/provider/misbehaving-provider.ts'
import type { Claims } from '../../support/provider/misbehaving-provider-faults.ts'
import { newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { allowCallbacks, assertNoSession, providerSettings } from '../../support/provider/provider-service.ts'
import { signInBy, startAt } from '../../support/provider/provider-sign-in.ts'
import { startService } from '../../support/service/service.ts'

const TENANT = randomUUID()
const appleKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const team = {
  teamId: 'ABCDE12345',
  keyId: '12345ABCDE',
  publicKey: appleKey.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
}
const p8 = appleKey.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

const github = await startGitHubServer()
const [google, gitlab, discord, microsoft, apple] = await Promise.all([
  startMisbehavingProvider({ profile: 'google' }),
  startMisbehavingProvider({ profile: 'gitlab' }),
  startMisbehavingProvider({ profile: 'discord' }),
  startMisbehavingProvider({ profile: 'microsoft' }),
  startMisbehavingProvider({ profile: 'apple', clientId: 'com.example.web', team }),
])
const providers = {
  github,
  google,
  gitlab,
  discord,
  microsoft: { ...microsoft, issuer: `${microsoft.origin}/${TENANT}/v2.0` },
  apple: { ...apple, clientSecret: p8 },
}
const service = await startService({
  env: {
    ...providerSettings(providers),
    SVC_OAUTH_APPLE_TEAM_ID: team.teamId,
    SVC_OAUTH_APPLE_KEY_ID: team.keyId,
    SVC_OAUTH_GOOGLE_ALLOWED_DOMAINS: 'Corp.example, example.net',
  },
})
allowCallbacks(providers, service.url)
const database = await openDatabase(service)

const newAgent = () => createUserAgent(service)
const person = (claims: Claims = {}): Claims => ({ ...newOpenIdUser(), ...claims })

type Arrival = { agent: UserAgent; answer: Answer }
/** The whole sign-in of a new user in a new browser. */
const arriveAt =
  (name: string, provider: MisbehavingProvider) =>
  async (who: Claims, agent = newAgent()): Promise<Arrival> => {
    const answer = await signInBy(agent, name, (url) => provider.visit(url, { person: who }), { return_to: '/there' })
    return { agent, answer }
  }

const assertIn = async ({ agent, answer }: Arrival) => {
  assertRedirect(answer, '/there')
  await assertSignedIn(agent)
  return currentUser(agent)
}

const assertOut = async ({ agent, answer }: Arrival, status: number, words?: RegExp) => {
  const before = await database.rows('SELECT id FROM users')
  assertErrorPage(answer, status)
  assertNoSession(agent, answer, status)
  assert.match(answer.text, /%2Fthere|value="\/there"/)
  if (words) assert.match(answer.text, words)
  assert.deepEqual(await database.rows('SELECT id FROM users'), before)
}

const NOT_CONFIRMED = /isn’t confirmed/
const NO_EMAIL = /gave no email/
const NOT_VERIFIED = /couldn’t verify/
const AWAY = /can’t be reached/

const arriveAtGitHub = async (who: GitHubPerson, agent = newAgent()): Promise<Arrival> => {
  const visit = (url: string) => github.visit(url, { person: who })
  return { agent, answer: await signInBy(agent, 'github', visit, { return_to: '/there' }) }
}

const emailWith = (address: string, about: Partial<GitHubPerson['emails'][number]> = {}) => ({
  email: address,
  primary: false,
  verified: true,
  visibility: null,
  ...about,
})

describe('GitHub: OAuth 2.0 without OpenID: user and verified-email endpoints', () => {
  test('the primary verified email, and never that of the profile', async () => {
    const id = randomUUID()
    const emails = [
      emailWith(`${id}@first.example`),
      emailWith(`${id}@primary.example`, { primary: true }),
      emailWith(`${id}@last.example`),
    ]
    const who = newGitHubPerson({ user: { email: 'victim@profile.example' }, emails })
    const user = await assertIn(await arriveAtGitHub(who))
    assert.equal(user.email, `${id}@primary.example`)
    assert.equal(user.username, who.user.login)
  })

  const noEmail = {
    'no emails at all': [],
    'none is primary': [emailWith('a@none.example'), emailWith('b@none.example')],
    'primary is said in text': [{ ...emailWith('a@none.example'), primary: 'true' }],
    'not a list of emails': ['a@none.example', null, 4711, ['a@none.example']],
    'an object': { email: 'a@none.example', primary: true, verified: true },
    null: null,
  }
  for (const [title, emails] of Object.entries(noEmail)) {
    test(`${title}: no account, whatever the profile shows`, async () => {
      const who = newGitHubPerson({ user: { email: 'victim@profile.example' } })
      await assertOut(await arriveAtGitHub({ ...who, emails: emails as GitHubPerson['emails'] }), 403, NO_EMAIL)
    })
  }
  test('without a verified primary email, another verified one does not count', async () => {
    const emails = [emailWith('a@none.example'), emailWith('b@none.example', { primary: true, verified: false })]
    await assertOut(
      await arriveAtGitHub(newGitHubPerson({ user: { email: 'a@none.example' }, emails })),
      403,
      NOT_CONFIRMED,
    )
  })

  for (const fault of [
    'status-404',
    'status-500',
    'status-503-html',
    'html',
    'html-as-json',
    'empty',
    'redirect',
    'huge',
  ] as const) {
    for (const endpoint of ['user', 'emails'] as const) {
      test(`${endpoint} answers ${fault}: 503`, async () => {
        github.fault = { [endpoint]: fault }
        const arrival = await arriveAtGitHub(newGitHubPerson())
        github.fault = {}
        await assertOut(arrival, 503, AWAY)
      })
    }
  }

  const ids = {
    text: '4711',
    nothing: undefined,
    null: null,
    fraction: 1.5,
    huge: 2 ** 60,
    list: [1],
    object: { id: 1 },
    true: true,
    NaN: Number.NaN,
  }
  for (const [title, id] of Object.entries(ids)) {
    test(`an id that is no number: ${title}`, async () => {
      const who = newGitHubPerson()
      github.person = { ...who, user: { ...who.user, id: id as number } }
      const agent = newAgent()
      github.isAutomatic = true
      const answer = await signInBy(agent, 'github', (url) => github.visit(url), { return_to: '/there' })
      github.isAutomatic = false
      await assertOut({ agent, answer }, 401, NOT_VERIFIED)
    })
  }

  test('an error with status 200: a code that is used, and a wrong secret', async (t) => {
    const agent = newAgent()
    const callback = await github.visit(await startAt(agent, 'github', { return_to: '/there' }), {
      person: newGitHubPerson(),
    })
    const { searchParams } = new URL(callback.url)
    searchParams.set('code', 'f'.repeat(20))
    const answer = await agent.get(`/auth/oauth/github/callback?${searchParams.toString()}`)
    await assertOut({ agent, answer }, 400, /refused/)

    const misconfigured = await startService({
      t,
      env: providerSettings({ github: { ...github, clientSecret: 'other' } }),
    })
    allowCallbacks({ github }, misconfigured.url)
    const there = createUserAgent(misconfigured)
    const refused = await signInBy(there, 'github', (url) => github.visit(url), { return_to: '/there' })
    assertErrorPage(refused, 400)
    assertNoSession(there, refused, 400)
    assert.doesNotMatch(refused.text, /incorrect_client_credentials|docs\.github/)
  })

  for (const fault of ['error-200', 'form-encoded', 'null', 'array', 'html', 'redirect-kept'] as const) {
    test(`the token endpoint answers ${fault}`, async () => {
      github.fault = { token: fault }
      const { agent, answer } = await arriveAtGitHub(newGitHubPerson())
      github.fault = {}
      await assertOut({ agent, answer }, answer.status)
      assert.ok([400, 401, 503].includes(answer.status), `${answer.status}`)
    })
  }

  test('a user who is renamed at GitHub stays the same user here', async () => {
    const who = newGitHubPerson()
    const before = await assertIn(await arriveAtGitHub(who))
    const renamed = {
      user: { ...who.user, login: 'somebody-else' },
      emails: [emailWith('new@renamed.example', { primary: true })],
    }
    assert.deepEqual(await assertIn(await arriveAtGitHub(renamed)), before)
  })
})

describe('Discord', () => {
  const arrive = arriveAt('discord', discord)
  test('a whole sign-in, with name and email', async () => {
    const who = person()
    const user = await assertIn(await arrive(who))
    assert.deepEqual([user.email, user.username], [who.email, who.preferred_username])
  })
  for (const verified of [false, null, undefined, 'false', 0, {}]) {
    test(`verified is ${JSON.stringify(verified)}: no account`, async () => {
      await assertOut(await arrive(person({ email_verified: verified })), 403, NOT_CONFIRMED)
    })
  }
  test('no email: no account', async () => assertOut(await arrive(person({ email: undefined })), 403, NO_EMAIL))
  for (const sub of [undefined, null, '', 4711, ['1'], { id: '1' }]) {
    test(`its id is ${JSON.stringify(sub)}: no account`, async () => {
      await assertOut(await arrive(person({ sub })), 401, NOT_VERIFIED)
    })
  }
  for (const fault of ['array', 'null', 'error-200'] as const) {
    test(`the user is ${fault}: no account`, async () => {
      discord.fault = { userinfo: fault }
      const { agent, answer } = await arrive(person())
      discord.fault = {}
      await assertOut({ agent, answer }, 401, NOT_VERIFIED)
    })
  }
})

describe('Apple: form_post answer, client secret as a signed JWT, name only the first time', () => {
  const arrive = arriveAt('apple', apple)
  const besides = async (user: string, who = person()) => {
    apple.fault = { besides: { user } }
    const arrival = await arrive(who)
    apple.fault = {}
    return arrival
  }

  test('a whole sign-in; the username is made from the name', async () => {
    const name = `Ana ${randomUUID().slice(0, 8)}`
    const who = person({ name, preferred_username: undefined })
    const { username, email } = await assertIn(await arrive(who))
    assert.equal(username, name.toLowerCase().replace(' ', '-'))
    assert.equal(email, who.email)
    const again = await assertIn(await arrive(who))
    assert.deepEqual([again.username, again.email], [username, email])
  })

  test('the request asks for a form post, and each client secret is new', async () => {
    const { searchParams } = new URL(await startAt(newAgent(), 'apple'))
    assert.equal(searchParams.get('response_mode'), 'form_post')
    assert.equal(searchParams.get('scope'), 'name email')
    const secrets = apple.requestsFor('token').map(({ form }) => form.get('client_secret') ?? '')
    for (const secret of secrets) {
      const [head = '', body = ''] = secret.split('.').map((part) => Buffer.from(part, 'base64url').toString())
      assert.deepEqual(JSON.parse(head), { alg: 'ES256', kid: team.keyId, typ: 'JWT' })
      const { iat, exp, ...rest } = JSON.parse(body)
      assert.deepEqual(rest, { iss: team.teamId, aud: 'https://appleid.apple.com', sub: apple.clientId })
      assert.ok(exp - iat <= 600)
    }
  })

  const users = {
    'no JSON': 'this is not JSON',
    HTML: '<script>alert(1)</script>',
    null: 'null',
    'a number': '4711',
    'a list': '[{"name":{"firstName":"A"}}]',
    'a name that is null': '{"name":null}',
    'a name that is text': '{"name":"Ana"}',
    'parts that are no text': '{"name":{"firstName":{"a":1},"lastName":["b"]}}',
    'names of objects': '{"__proto__":{"sub":"x"},"name":{"__proto__":{"firstName":"P"}}}',
    'another email': '{"name":{"firstName":"A"},"email":"victim@example.com","sub":"victim","email_verified":true}',
    'a name in HTML': '{"name":{"firstName":"<img src=x onerror=alert(1)>","lastName":"\\u0000\\u202e"}}',
    'four kilobytes': JSON.stringify({ name: { firstName: 'a'.repeat(4000), lastName: 'b' } }),
    deep: '['.repeat(2000),
  }
  for (const [title, user] of Object.entries(users)) {
    test(`a field \`user\` that is ${title}: it changes nothing`, async () => {
      const who = person()
      const arrival = await besides(user, who)
      const { email, username } = await assertIn(arrival)
      assert.equal(email, who.email)
      assert.match(username, /^[a-z0-9_-]{3,30}$/)
      const account = await arrival.agent.get('/auth/account')
      assertPage(account)
      assert.doesNotMatch(account.text, /<script>alert|<img src=x|victim@/)
    })
  }

  test('a form post that is too long is refused, without a session', async () => {
    const agent = newAgent()
    apple.fault = { besides: { user: 'x'.repeat(12_000) } }
    const callback = await apple.visit(await startAt(agent, 'apple'), { person: person() })
    apple.fault = {}
    assert.equal(callback.method, 'POST')
    const body = new URLSearchParams(callback.method === 'POST' ? callback.form : {}).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded', cookie: [] }
    const answer = await agent.send({ method: 'POST', path: '/auth/oauth/apple/callback', headers, body })
    assertErrorPage(answer, 400)
    assertNoSession(agent, answer, 400)
  })

  test('email_verified comes as text', async () => {
    await assertIn(await arrive(person({ email_verified: true })))
    await assertOut(await arrive(person({ email_verified: false })), 403, NOT_CONFIRMED)
  })

  test('cancelled, with Apple’s own error code', async () => {
    const agent = newAgent()
    const answer = await signInBy(agent, 'apple', (url) => apple.visit(url, { answer: 'cancel' }), {
      return_to: '/there',
    })
    await assertOut({ agent, answer }, 403, /You cancelled/)
  })

  test('Apple refuses a secret of another team: no session', async (t) => {
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    const CLIENT_SECRET = other.export({ type: 'pkcs8', format: 'pem' }).toString()
    const env = { SVC_OAUTH_APPLE_TEAM_ID: team.teamId, SVC_OAUTH_APPLE_KEY_ID: team.keyId }
    const stranger = await startService({
      t,
      env: { ...providerSettings({ apple: { ...apple, clientSecret: CLIENT_SECRET } }), ...env },
    })
    const agent = createUserAgent(stranger)
    const answer = await signInBy(agent, 'apple', (url) => apple.visit(url, { person: person() }))
    assertNoSession(agent, answer, 400)
  })

  test('the longest return_to comes back, too', async () => {
    const agent = newAgent()
    const return_to = `/${'a'.repeat(2047)}`
    assertRedirect(
      await signInBy(agent, 'apple', (url) => apple.visit(url, { person: person() }), { return_to }),
      return_to,
    )
  })
})

describe('GitLab: the email comes from the userinfo endpoint only', () => {
  const arrive = arriveAt('gitlab', gitlab)
  test('a whole sign-in', async () => {
    const who = person()
    const user = await assertIn(await arrive(who))
    assert.deepEqual([user.email, user.username], [who.email, who.preferred_username])
    assert.ok(gitlab.requestsFor('userinfo').length > 0)
  })
  test('an email that GitLab has not verified', async () => {
    await assertOut(await arrive(person({ email_verified: false })), 403, NOT_CONFIRMED)
    await assertOut(await arrive(person({ email_verified: undefined })), 403, NOT_CONFIRMED)
    await assertOut(await arrive(person({ email: undefined })), 403, NO_EMAIL)
  })
  test('userinfo of another user', async () => {
    gitlab.fault = { userinfo: 'other-sub' }
    const arrival = await arrive(person())
    gitlab.fault = {}
    await assertOut(arrival, 401, NOT_VERIFIED)
  })
})

describe('Google: ALLOWED_DOMAINS by the verified email or the hosted domain', () => {
  const arrive = arriveAt('google', google)
  const at = (domain: string, claims: Claims = {}) => person({ email: `a${randomUUID()}@${domain}`, ...claims })
  for (const [domain, hd] of [
    ['corp.example', undefined],
    ['CORP.Example', undefined],
    ['example.net', undefined],
    ['gmail.example', 'corp.example'],
    ['gmail.example', 'Corp.Example'],
  ] as const) {
    test(`${domain}, hd ${hd ?? 'missing'}: allowed`, async () =>
      void (await assertIn(await arrive(at(domain, { hd })))))
  }
  const out = {
    'another domain': at('other.example'),
    'another hosted domain': at('other.example', { hd: 'other.example' }),
    'a subdomain': at('sub.corp.example'),
    'a domain that ends like it': at('evilcorp.example'),
    'a domain that begins like it': at('corp.example.evil.example'),
    'a hosted domain that is a list': at('other.example', { hd: ['corp.example'] }),
    'a hosted domain with a space': at('other.example', { hd: ' corp.example' }),
    'a hosted domain that is empty': at('other.example', { hd: '' }),
    'an unverified email of it': at('corp.example', { email_verified: false }),
    'two @': person({ email: 'a@other.example@corp.example' }),
  }
  for (const [title, who] of Object.entries(out)) {
    test(`${title}: not allowed`, async () => assertOut(await arrive(who), 403, /That account can’t log in here/))
  }
  test('an allowed hosted domain with an unverified email creates no account', async () => {
    await assertOut(
      await arrive(at('other.example', { hd: 'corp.example', email_verified: false })),
      403,
      NOT_CONFIRMED,
    )
  })
  test('a user who leaves the domain can no longer sign in', async () => {
    const who = at('corp.example')
    await assertIn(await arrive(who))
    await assertOut(await arrive({ ...who, email: 'moved@other.example' }), 403, /That account can’t log in here/)
  })
})

const member = (claims: Claims = {}): Claims => {
  return { ...newOpenIdUser(), email_verified: undefined, tid: TENANT, oid: randomUUID(), ...claims }
}

describe('Microsoft: emails are no proof of ownership unless verified claims say so', () => {
  const arrive = arriveAt('microsoft', microsoft)
  for (const xms_edov of [true, 'true', 1, '1']) {
    test(`xms_edov ${JSON.stringify(xms_edov)}: a whole sign-in`, async () => {
      const who = member({ xms_edov })
      assert.equal((await assertIn(await arrive(who))).email, who.email)
    })
  }
  test('verified_primary_email has the email, in other case', async () => {
    const who = member()
    await assertIn(await arrive({ ...who, verified_primary_email: ['x@example.com', String(who.email).toUpperCase()] }))
  })
  const out: Record<string, Claims> = {
    'an email alone': {},
    'email_verified, which it does not know': { email_verified: true },
    'xms_edov false': { xms_edov: false },
    'xms_edov as a list': { xms_edov: [true] },
    'xms_edov 0': { xms_edov: '0' },
    'verified_primary_email of another address': { verified_primary_email: ['victim@example.com'] },
    'verified_primary_email empty': { verified_primary_email: [] },
    'verified_primary_email as text': { verified_primary_email: 'o@example.com' },
    verified_secondary_email: { verified_secondary_email: ['o@example.com'] },
    'a list in the list': { verified_primary_email: [['o@example.com']] },
  }
  for (const [title, claims] of Object.entries(out)) {
    test(`${title}: no account`, async () => {
      const email = `o${randomUUID()}@example.com`
      const named = JSON.parse(JSON.stringify(claims).replaceAll('o@example.com', email))
      await assertOut(await arrive(member({ email, ...named })), 403, NOT_CONFIRMED)
    })
  }
  test('xms_edov does not verify an email of the userinfo endpoint', async () => {
    microsoft.fault = { told: { idToken: { email: undefined, xms_edov: true } } }
    const arrival = await arrive(member())
    microsoft.fault = {}
    await assertOut(arrival, 403, NO_EMAIL)
  })
  test('the userinfo endpoint is never called, whatever is missing in the ID token', async () => {
    const claims = { xms_edov: true }
    await assertIn(await arrive(member(claims)))
    microsoft.fault = { told: { idToken: { email: undefined, name: undefined } } }
    await assertOut(await arrive(member(claims)), 403, NO_EMAIL)
    microsoft.fault = {}
    assert.deepEqual(microsoft.requestsFor('userinfo'), [])
  })
  test('a user of another tenant', async () => {
    await assertOut(await arrive(member({ tid: randomUUID(), xms_edov: true })), 401, NOT_VERIFIED)
    await assertOut(await arrive(member({ tid: undefined, xms_edov: true })), 401, NOT_VERIFIED)
  })
})
