import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { prettyPrinted } from '../../src/lib/log.ts'
import { assertErrorPage, assertRedirect, assertSignedIn } from '../support/assertions.ts'
import { openDatabase } from '../support/database.ts'
import { startMeteredService } from '../support/metrics.ts'
import type { MisbehavingProvider } from '../support/misbehaving-provider.ts'
import { startMisbehavingProvider } from '../support/misbehaving-provider.ts'
import { ELSEWHERE } from '../support/misbehaving-provider-answers.ts'
import type { Claims, Fault } from '../support/misbehaving-provider-faults.ts'
import { eventually } from '../support/patience.ts'
import { currentUser, signedUp } from '../support/people.ts'
import {
  assertNoSession,
  pendingOn,
  providerSettings,
  startServiceWith,
  statusesOf,
} from '../support/provider-service.ts'
import { returnFromProvider, signInBy, startAt } from '../support/provider-sign-in.ts'
import { loggedLine } from '../support/request-log.ts'
import { turnedClock } from '../support/turned-clock.ts'
import type { Answer, UserAgent } from '../support/user-agent.ts'
import { createUserAgent } from '../support/user-agent.ts'
import type { Callback } from '../support/visit-to-provider.ts'

// What is known of a provider is kept by its name here: one whose metadata or keys are about to be bad needs a name
// that
// nothing good is known of yet.
const corp = await startMisbehavingProvider()
const lab = await startMisbehavingProvider({ profile: 'gitlab' })
const rival = await startMisbehavingProvider()
/** Metadata by which nobody could be signed in: it is refused when it is read, so that nobody is sent anywhere. */
const UNUSABLE = [
  'no-authorization-endpoint',
  'no-token-endpoint',
  'no-jwks-uri',
  'foreign-endpoints',
  'foreign-authorization-endpoint',
  'foreign-token-endpoint',
  'foreign-jwks-uri',
  'foreign-userinfo-endpoint',
  'script-authorization-endpoint',
  'authorization-endpoint-not-text',
] as const satisfies NonNullable<Fault['discovery']>[]
const nameOf = (fault: string): string => fault.replaceAll('-', '')
const providers = {
  corp,
  rival,
  gitlab: lab,
  unseen: corp,
  keyless: corp,
  basic: corp,
  post: corp,
  unsaid: corp,
  pkceless: corp,
  plain: corp,
  ...Object.fromEntries(UNUSABLE.map((fault) => [nameOf(fault), corp])),
}
const service = await startServiceWith(providers)
const hasty = await startServiceWith(
  { corp, gitlab: lab, unseen: corp, keyless: corp },
  {
    env: { SVC_OAUTH_TIMEOUT: '700ms' },
  },
)

/** A browser at the provider, and the user whom the provider sees. */
const HOSTILE_NAME = '<img src=x onerror=alert(1)>"\'&'
const RETURN_TO = '/kept?a=1&b=%2F#there'
const KEPT = 'return_to=%2Fkept%3Fa%3D1%26b%3D%252F%23there"'
const KEPT_FIELD = 'name="return_to" value="/kept?a=1&amp;b=%2F#there"'

const newAgent = (at = service) => createUserAgent(at)
let people = 0
const newPerson = (claims: Claims = {}): Claims => {
  people += 1
  const email = `visitor${people}@example.com`
  return { sub: `subject-${people}`, email, email_verified: true, name: HOSTILE_NAME, ...claims }
}

const databases = new Map([
  [service, await openDatabase(service)],
  [hasty, await openDatabase(hasty)],
])
const TABLES = ['users', 'identities', 'sessions']
const countRows = async (of = service): Promise<Record<string, unknown>> => {
  const counts = TABLES.map(async (table) => {
    const [row] = (await databases.get(of)?.rows(`SELECT COUNT(*) AS count FROM ${table}`)) ?? []
    return [table, Number(row?.count)]
  })
  return Object.fromEntries(await Promise.all(counts))
}

/** Texts that no log may contain. */
const secrets = new Set<string>([corp.clientSecret, lab.clientSecret, rival.clientSecret])
const SECRET_PARAMETERS = ['state', 'nonce', 'code', 'code_challenge', 'code_verifier', 'client_secret']
const keepSecrets = (parameters: URLSearchParams) => {
  for (const name of SECRET_PARAMETERS) for (const value of parameters.getAll(name)) secrets.add(value)
}

const failureOf = (at: typeof service, { headers }: Answer) =>
  loggedLine(
    at,
    (line) =>
      line.message === 'sign-in by a provider failed' && line.request_id === String(headers['x-request-id'] ?? ''),
  )

interface Row {
  provider?: keyof typeof providers
  fault: Fault
  status: number
  problem: string
  /** When the fault shows: when the button is pressed, or when the user is back. */
  at?: 'start' | 'callback'
  /** Without a valid state, svc does not know where the sign-in started. */
  isKept?: boolean
  claims?: Claims
}

/** The one thing of the provider's that a page shows: the email, where we could read it, and where it is about that. */
const ABOUT_EMAILS = ['email_unverified', 'domain_not_allowed', 'no_proof']
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll("'", '&#39;')

const assertShows = ({ text }: Answer, problem: string, { sub, email }: Claims) => {
  assert.ok(typeof sub !== 'string' || sub === '' || !text.includes(sub), `the page has ${JSON.stringify(sub)}`)
  if (typeof email !== 'string' || email === '') return
  if (!ABOUT_EMAILS.includes(problem)) return assert.ok(!text.includes(escaped(email)), `the page has ${email}`)
  assert.ok(text.includes(` ${escaped(email)} `), `the page has ${email}, as text: ${text}`)
}

const assertRefusal = async (at: typeof service, agent: UserAgent, answer: Answer, row: Row, person: Claims) => {
  const { status, problem, isKept = true, provider = 'corp' } = row
  assertErrorPage(answer, status)
  assertNoSession(agent, answer, status)
  assert.ok(!isKept || answer.text.includes(KEPT) || answer.text.includes(KEPT_FIELD), answer.text)
  assert.match(answer.text, /<form method="post" action="\/auth\/oauth\/|href="\/auth\/(?:login|signup)/)
  assert.equal(status === 503, answer.headers['retry-after'] !== undefined, 'Retry-After')
  assert.doesNotMatch(answer.text, /onerror|alert\(|provider\.invalid|somebody|victim|not good|Welcome|maintenance/)
  assertShows(answer, problem, person)
  const line = await failureOf(at, answer)
  assert.deepEqual([line.provider, line.problem], [provider, problem], JSON.stringify(line))
}

/** A sign-in at a provider that misbehaves ends in a page, and in nothing else. */
const assertRow = async (row: Row, at = service) => {
  const { provider: name = 'corp', fault, claims } = row
  const provider = providers[name] ?? corp
  const agent = newAgent(at)
  const person = newPerson(claims)
  const before = await countRows(at)
  provider.fault = row.at === 'start' || fault.discovery ? fault : {}
  const pressed = await agent.post(`/auth/oauth/${name}`, { return_to: RETURN_TO })
  if (row.at !== 'start') assert.equal(pressed.status, 303, pressed.text)
  const answer = row.at === 'start' ? pressed : await atProvider(agent, provider, pressed.location ?? '', fault, person)
  provider.fault = {}
  await assertRefusal(at, agent, answer, row, person)
  assert.deepEqual(await countRows(at), before)
}

const atProvider = async (
  agent: UserAgent,
  provider: MisbehavingProvider,
  url: string,
  fault: Fault,
  person: Claims,
) => {
  provider.fault = fault
  keepSecrets(new URL(url).searchParams)
  const callback = await provider.visit(url, { person })
  keepSecrets(new URL(callback.url).searchParams)
  return returnFromProvider(agent, callback)
}

type Rows = Record<string, Omit<Row, 'fault' | 'status' | 'problem'> & { fault: Fault }>
const tableOf = (status: number, problem: string, rows: Rows) => {
  for (const [title, row] of Object.entries(rows)) {
    test(`${title}: ${status} ${problem}`, () => assertRow({ status, problem, ...row }))
  }
}

/** A row for each value of one fault. */
const each = <Name extends keyof Fault>(name: Name, values: NonNullable<Fault[Name]>[], besides = {}): Rows =>
  Object.fromEntries(
    values.map((value) => [`${name} ${JSON.stringify(value)}`, { fault: { [name]: value }, ...besides }]),
  )

const BROKEN = ['status-500', 'status-503-html', 'html', 'html-as-json', 'empty', 'status-404'] as const
/** JSON, but not what was asked for. */
const BESIDE_THE_POINT = ['array', 'null'] as const
const LEADING_AWAY = ['redirect', 'redirect-kept', 'reset'] as const
const TOO_MUCH = ['huge', 'endless', 'gzip-bomb'] as const
const TOO_SLOW = ['hanging', 'trickle'] as const
const ANY_BAD = [...BROKEN, ...LEADING_AWAY, ...TOO_MUCH] as const

describe('never a session, always a clear page: the answer to the browser', () => {
  tableOf(403, 'cancelled', {
    denied: { fault: { error: { code: 'access_denied', description: '<script>alert(1)</script> not good' } } },
    'cancelled in the words of Apple': { fault: { error: { code: 'user_cancelled_authorize' } } },
    'denied, with a code besides': { fault: { error: { code: 'access_denied' }, besides: { code: 'a-code' } } },
  })
  tableOf(400, 'refused', {
    refused: { fault: { error: { code: 'invalid_scope', description: HOSTILE_NAME } } },
    'an error that nobody knows': { fault: { error: { code: '"><script>alert(1)</script>' } } },
    'an error of a name that objects have': { fault: { error: { code: '__proto__' } } },
    'an error with a code besides': { fault: { error: { code: 'login_required' }, besides: { code: 'a-code' } } },
    'a code of another provider': { fault: { code: 'foreign' } },
  })
  tableOf(503, 'unreachable', {
    'its own fault': { fault: { error: { code: 'server_error', description: 'not good' } } },
    'its own fault for a while': { fault: { error: { code: 'temporarily_unavailable' } } },
  })
  tableOf(400, 'unreadable', each('state', ['missing', 'foreign', 'empty'], { isKept: false }))
  tableOf(401, 'unverifiable', {
    'no code': { fault: { code: 'missing' } },
    'a token in the place of a code': { fault: { code: 'missing', besides: { access_token: 'a', id_token: 'b' } } },
    'issuer (RFC 9207) missing': { fault: { iss: 'missing' } },
    'issuer (RFC 9207) foreign': { fault: { iss: 'foreign' } },
  })
})

describe('no session in any of them: ID tokens', () => {
  const bad = [
    'wrong-aud',
    'no-aud',
    'several-aud',
    'foreign-azp',
    'wrong-iss',
    'no-iss',
    'wrong-nonce',
    'no-nonce',
    'expired',
    'no-exp',
    'no-iat',
    'not-yet-valid',
    'alg-none',
    'hs256-client-secret',
    'hs256-public-key',
    'es256-unknown-key',
    'rs256-unknown-key',
    'rs256-usurped-kid',
    'signature-broken',
    'signature-missing',
    'claims-replaced',
    'not-a-token',
  ] as const
  tableOf(401, 'unverifiable', each('idToken', [...bad]))
  tableOf(401, 'unverifiable', {
    'issued to another client, for us alone (azp)': { fault: { told: { idToken: { azp: 'another-client' } } } },
    'issued to nobody (azp)': { fault: { told: { idToken: { azp: '' } } } },
    'issued to several (azp)': { fault: { told: { idToken: { azp: [corp.clientId] } } } },
    'issued to null (azp)': { fault: { told: { idToken: { azp: null } } } },
  })
  test('issued to us by name (azp): let in', async () => {
    const agent = newAgent()
    corp.fault = { told: { idToken: { azp: corp.clientId } } }
    const answer = await signInBy(agent, 'corp', (url) => corp.visit(url, { person: newPerson() }))
    corp.fault = {}
    assertRedirect(answer, '/')
  })
  tableOf(401, 'unverifiable', each('sub', ['missing', 'empty', 'not-text', 'long']))
  tableOf(401, 'unverifiable', {
    'subject with a line break': { fault: {}, claims: { sub: 'a\nb' } },
    'subject with a null byte': { fault: {}, claims: { sub: 'a\0b' } },
    'subject that is not ASCII': { fault: {}, claims: { sub: 'ｓubject' } },
    'subject that is a list': { fault: {}, claims: { sub: ['subject-1'] } },
    'subject that is an object': { fault: {}, claims: { sub: { toString: 'subject-1' } } },
  })
})

const withEmail = (value: unknown, verified: unknown = true) => ({
  fault: {},
  claims: { email: value, email_verified: verified },
})

describe('no session in any of them: emails', () => {
  const unreadable = [
    'missing',
    'empty',
    'not-text',
    'list',
    'object',
    'several-at',
    'display-name',
    'line-break',
    'too-long',
  ] as const
  tableOf(403, 'email_missing', each('email', [...unreadable]))
  const unverified = ['unverified', 'unverified-text', 'verified-null', 'verification-missing'] as const
  tableOf(403, 'email_unverified', each('email', [...unverified]))
  tableOf(403, 'email_missing', {
    'null byte': withEmail('a@example.com\0'),
    'look-alike letters': withEmail('vıctim@exаmple.com'),
    'full-width @': withEmail('victim＠example.com'),
    'right-to-left mark': withEmail('\u202Evictim@example.com'),
    'zero-width space': withEmail('vic\u200Btim@example.com'),
    'Kelvin sign, which becomes k in lower case': withEmail('\u212Aate@example.com'),
    'quoted local part': withEmail('"victim"@example.com'),
    'address literal': withEmail('victim@[127.0.0.1]'),
    markup: withEmail('<script>alert(1)</script>@example.com'),
    null: withEmail(null),
  })
  tableOf(403, 'email_unverified', {
    'signs that mean something in HTML': withEmail("o'neil&lt&gt=`@example.com", false),
    'verified is a list': withEmail('x1@example.com', [true]),
    'verified is an object': withEmail('x1@example.com', { value: true }),
    'verified is yes': withEmail('x1@example.com', 'yes'),
    'verified is 2': withEmail('x1@example.com', 2),
    'verified is TRUE with a space': withEmail('x1@example.com', ' true'),
    'verified under a name of objects': {
      fault: {},
      claims: JSON.parse('{"email_verified":false,"__proto__":{"email_verified":true}}'),
    },
  })
})

describe('no session in any of them: the token endpoint', () => {
  tableOf(503, 'unreachable', each('token', [...ANY_BAD, 'form-encoded', 'status-429']))
  tableOf(400, 'refused', each('token', ['invalid-grant', 'pkce-refused', 'invalid-client', 'echoing']))
  const without = ['no-id-token', 'no-access-token', 'mac', 'error-200', ...BESIDE_THE_POINT] as const
  tableOf(401, 'unverifiable', each('token', [...without]))
})

describe('no session in any of them: userinfo', () => {
  const besides = { provider: 'gitlab' } as const
  tableOf(503, 'unreachable', each('userinfo', [...ANY_BAD, 'status-429'], besides))
  tableOf(401, 'unverifiable', each('userinfo', ['other-sub', 'no-sub', 'error-200', ...BESIDE_THE_POINT], besides))
})

describe('never a session: the discovery document, and the keys', () => {
  const unseen = { provider: 'unseen', at: 'start' } as const
  const issuers = ['other-issuer', 'no-issuer', 'issuer-not-text'] as const
  tableOf(
    503,
    'unreachable',
    each('discovery', [...ANY_BAD, ...issuers, ...BESIDE_THE_POINT, 'status-429', 'error-200'], unseen),
  )
  for (const fault of UNUSABLE) {
    const row = { fault: { discovery: fault }, at: 'start', provider: nameOf(fault) as 'corp' } as const
    tableOf(503, 'unreachable', { [`discovery ${fault}`]: row })
  }
  const keyless = { provider: 'keyless' } as const
  tableOf(503, 'unreachable', each('jwks', [...ANY_BAD, 'status-429'], keyless))
  tableOf(401, 'unverifiable', each('jwks', ['no-keys', 'error-200', ...BESIDE_THE_POINT], keyless))

  for (const name of ['unseen', 'keyless', 'corp', 'gitlab']) {
    test(`once it is well, one gets in by it: ${name}`, async () => {
      const agent = newAgent()
      const provider = providers[name as 'corp']
      assertRedirect(await signInBy(agent, name, (url) => provider.visit(url, { person: newPerson() })), '/')
      await assertSignedIn(agent)
    })
  }
  for (const fault of UNUSABLE) {
    test(`once its metadata is mended, the next press works: ${fault}`, async () => {
      const agent = newAgent()
      assertRedirect(await signInBy(agent, nameOf(fault), (url) => corp.visit(url, { person: newPerson() })), '/')
    })
  }
})

const waits = (fault: Fault, row: Partial<Row> = {}) =>
  assertRow({ status: 503, problem: 'unreachable', fault, ...row }, hasty)

describe('slow: the answer comes, and other users are served in the meantime', () => {
  for (const how of TOO_SLOW) {
    test(`discovery ${how}`, () => waits({ discovery: how }, { provider: 'unseen', at: 'start' }))
    test(`token ${how}`, () => waits({ token: how }))
    test(`jwks ${how}`, () => waits({ jwks: how }, { provider: 'keyless' }))
    test(`userinfo ${how}`, () => waits({ userinfo: how }, { provider: 'gitlab' }))
  }

  test('while it keeps many waiting, pages and sign-ins by others are answered', async () => {
    const agents = Array.from({ length: 20 }, () => newAgent())
    const callbacks = await Promise.all(
      agents.map(async (agent) => corp.visit(await startAt(agent, 'corp'), { person: newPerson() })),
    )
    corp.fault = { token: 'hanging' }
    const before = corp.requestsFor('token').length
    const waiting = agents.map((agent, index) => returnFromProvider(agent, callbacks[index] ?? assert.fail()))
    await eventually('all wait', () => corp.requestsFor('token').length === before + agents.length)
    assert.equal((await newAgent().get('/auth/login')).status, 200)
    const agent = newAgent()
    assertRedirect(await signInBy(agent, 'rival', (url) => rival.visit(url, { person: newPerson() })), '/')
    await corp.stop()
    for (const answer of await Promise.all(waiting)) assertErrorPage(answer, 503)
    corp.fault = {}
    await corp.start()
  })
})

test('memory does not grow with what a provider sends', async (t) => {
  const provider = await startMisbehavingProvider({ t, profile: 'gitlab' })
  const metered = await startMeteredService({ t, env: providerSettings({ gitlab: provider }) })
  const resident = async () => (await metered.scrape()).value('process_resident_memory_bytes') ?? assert.fail()
  const flood = async (fault: Fault) => {
    const arrivals = Array.from({ length: 12 }, async () => {
      const agent = createUserAgent(metered)
      const answer = await signInBy(agent, 'gitlab', (url) => provider.visit(url, { person: newPerson() }))
      assertErrorPage(answer, 503)
    })
    provider.fault = fault
    await Promise.all(arrivals)
    provider.fault = {}
  }
  assertRedirect(await signInBy(createUserAgent(metered), 'gitlab', provider.visit), '/')
  const before = await resident()
  let highest = before
  for (const how of TOO_MUCH) {
    for (const fault of [{ token: how }, { userinfo: how }]) {
      await flood(fault)
      highest = Math.max(highest, await resident())
    }
  }
  // Without a limit, it would be 240 MiB, all memory, and 768 MiB.
  assert.ok(highest - before < 128 * 2 ** 20, `${Math.round((highest - before) / 2 ** 20)} MiB more`)
})

const parametersOf = ({ url }: Callback): URLSearchParams => new URL(url).searchParams
const arrive = async (agent: UserAgent, person = newPerson(), name: 'corp' | 'rival' = 'corp', form = {}) =>
  providers[name].visit(await startAt(agent, name, { return_to: RETURN_TO, ...form }), { person })
const withQuery = (callback: Callback, change: (query: URLSearchParams) => void): Callback => {
  const url = new URL(callback.url)
  change(url.searchParams)
  return { method: 'GET', url: url.href }
}

describe('hostile answers to the browser', () => {
  const repeated = ['code', 'iss', 'error', 'error_description'] as const
  for (const name of repeated) {
    test(`${name} twice: unreadable, where to go is kept, and the answer is good once it can be read`, async () => {
      const agent = newAgent()
      const callback = await arrive(agent)
      const twice = withQuery(callback, (query) => {
        for (const value of ['a', 'b']) query.append(name, value)
      })
      const answer = await returnFromProvider(agent, twice)
      assertNoSession(agent, answer, 400)
      assert.ok(answer.text.includes(KEPT_FIELD), answer.text)
      assert.equal((await failureOf(service, answer)).problem, 'unreadable')
      assertRedirect(await returnFromProvider(agent, callback), '/kept?a=1&b=%2F#there')
    })
  }

  test('state twice: unreadable, and nobody knows where to go', async () => {
    const agent = newAgent()
    const callback = await arrive(agent)
    const twice = withQuery(callback, (query) => query.append('state', query.get('state') ?? ''))
    const answer = await returnFromProvider(agent, twice)
    assertNoSession(agent, answer, 400)
    assert.ok(!answer.text.includes(KEPT_FIELD) && !answer.text.includes(KEPT), answer.text)
    assert.equal((await failureOf(service, answer)).problem, 'unreadable')
  })

  const besides = {
    'a token': { access_token: 'stolen', token_type: 'Bearer', id_token: 'eyJhbGciOiJub25lIn0.e30.' },
    'names of objects': { __proto__x: '1', constructor: '2', 'state[]': 'x', 'code[a]': 'y', toString: 'z' },
    'a place to go': { return_to: 'https://evil.example/', redirect_uri: 'https://evil.example/', intent: 'link' },
    'a response in another form': { session_state: 'x', scope: 'admin', hd: 'example.org', authuser: '0' },
  }
  for (const [title, parameters] of Object.entries(besides)) {
    test(`beside the code ${title}: it changes nothing`, async () => {
      const agent = newAgent()
      const callback = withQuery(await arrive(agent), (query) => {
        for (const [name, value] of Object.entries(parameters)) query.append(name, value)
      })
      assertRedirect(await returnFromProvider(agent, callback), '/kept?a=1&b=%2F#there')
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
      const callback = withQuery(await arrive(agent), (query) => query.set(name, value))
      const before = await countRows()
      const { length: asked } = rival.requests
      const answer = await returnFromProvider(agent, callback)
      assert.ok(answer.status === 400 || answer.status === 401, `${answer.status}`)
      assertErrorPage(answer, answer.status)
      assertNoSession(agent, answer, answer.status)
      assert.ok(answer.text.includes(KEPT_FIELD), answer.text)
      assert.deepEqual(await countRows(), before)
      assert.equal(rival.requests.length, asked, 'the other provider is told nothing')
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

describe('one answer, one session, whatever the provider allows', () => {
  test('a code that it takes ten times at once, and again later', async () => {
    const agent = newAgent()
    const person = newPerson()
    const callback = await arrive(agent, person)
    const { sessions: before } = await countRows()
    corp.fault = { token: 'lenient' }
    const answers = await Promise.all(Array.from({ length: 10 }, () => returnFromProvider(agent.copy(), callback)))
    assert.deepEqual(statusesOf(answers), [303, ...Array.from({ length: 9 }, () => 400)])
    const later = await returnFromProvider(agent, callback)
    corp.fault = {}
    assertNoSession(agent, later, 400)
    assert.equal((await countRows()).sessions, Number(before) + 1)
  })

  test('the code of another user, which it accepts without its verifier: the nonce differs', async () => {
    const stolen = parametersOf(await arrive(newAgent())).get('code') ?? ''
    const attacker = newAgent()
    const callback = withQuery(await arrive(attacker), (query) => query.set('code', stolen))
    corp.fault = { token: 'lenient' }
    const answer = await returnFromProvider(attacker, callback)
    corp.fault = {}
    assertNoSession(attacker, answer, 401)
  })

  test('another subject with the same email: no session, but the page that asks for a proof', async () => {
    const first = newPerson()
    const agent = newAgent()
    assertRedirect(await returnFromProvider(agent, await arrive(agent, first)), '/kept?a=1&b=%2F#there')
    const before = await countRows()
    const other = newAgent()
    const answer = await returnFromProvider(other, await arrive(other, newPerson({ email: first.email })))
    assertNoSession(other, answer, 409)
    assert.doesNotMatch(answer.text, /onerror|subject-/)
    assert.deepEqual(await countRows(), before)
  })

  test('it signs with a new key: the next try succeeds', async () => {
    const person = newPerson()
    const agent = newAgent()
    assertRedirect(await returnFromProvider(agent, await arrive(agent, person)), '/kept?a=1&b=%2F#there')
    await corp.rotateKey()
    const first = await returnFromProvider(newAgent(), await arrive(newAgent(), person))
    assert.equal(first.status, 400, 'of another browser: not looked at')
    const [one, two] = [newAgent(), newAgent()]
    const tried = await returnFromProvider(one, await arrive(one, person))
    if (tried.status !== 303) assertErrorPage(tried, 401)
    assertRedirect(await returnFromProvider(two, await arrive(two, person)), '/kept?a=1&b=%2F#there')
  })
})

const s256 = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')

const basicOf = ({ clientId, clientSecret }: MisbehavingProvider) =>
  `Basic ${Buffer.from(`${clientId}:${encodeURIComponent(clientSecret).replaceAll('-', '%2D')}`).toString('base64')}`

describe('the requests that the provider receives', () => {
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
      const callback = await corp.visit(`${corp.origin}/authorize?${asked.toString()}`, { person: newPerson() })
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

  test('no address has a secret, a token or a verifier in it', () => {
    const addresses = corp.requests.concat(lab.requests).filter(({ endpoint }) => endpoint !== 'authorize')
    for (const { query, path } of addresses) assert.equal(String(query), '', path)
    for (const { query } of corp.requestsFor('authorize')) {
      assert.ok(!query.has('client_secret') && !query.has('code_verifier'))
      for (const { form } of corp.requestsFor('token'))
        assert.ok(!String(query).includes(form.get('code_verifier') ?? '-'))
    }
  })

  test('to sign in again only for re-authentication', async () => {
    const agent = newAgent()
    const person = newPerson()
    const signIn = new URL(await startAt(agent, 'corp'))
    assertRedirect(await returnFromProvider(agent, await arrive(agent, person)), '/kept?a=1&b=%2F#there')
    const [link, confirm] = [
      new URL(await startAt(agent, 'rival', { intent: 'link' })),
      new URL(await startAt(agent, 'corp', { intent: 'confirm' })),
    ]
    for (const { searchParams } of [signIn, link]) {
      assert.deepEqual([searchParams.get('prompt'), searchParams.get('max_age')], [null, null])
    }
    assert.deepEqual([confirm.searchParams.get('prompt'), confirm.searchParams.get('max_age')], ['login', '0'])
  })

  test('a sign-in there of long ago does not re-authenticate the user', async () => {
    const agent = newAgent()
    const person = newPerson()
    assertRedirect(await returnFromProvider(agent, await arrive(agent, person)), '/kept?a=1&b=%2F#there')
    const now = Math.floor(Date.now() / 1000)
    for (const auth_time of [0, now - 3600, -1, 'yesterday', null, String(now), {}]) {
      const callback = await arrive(agent, { ...person, auth_time }, 'corp', { intent: 'confirm' })
      const answer = await returnFromProvider(agent, callback)
      assert.equal(answer.status, 401, `auth_time ${JSON.stringify(auth_time)}: ${answer.location ?? ''}`)
    }
  })

  test('a sealed token cannot be read, guessed or moved', async () => {
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

describe('a form answer with hostile content', () => {
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
    test(`${title}: sent on to the callback, encoded, and nothing else`, async () => {
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

describe('claims in two places do not add up to a verified email', () => {
  const unverified = { email_verified: false }
  tableOf(403, 'email_unverified', {
    'verified without an email in the ID token, unverified with one at userinfo': {
      fault: { told: { idToken: { email: undefined, email_verified: true }, userinfo: unverified } },
    },
    'verified without an email in the ID token, an email of which nothing is said at userinfo': {
      fault: { told: { idToken: { email: undefined, email_verified: true }, userinfo: { email_verified: undefined } } },
    },
    'an email with nothing said in the ID token, verified at userinfo': {
      fault: { told: { idToken: { email_verified: undefined }, userinfo: { email: 'victim@example.com' } } },
    },
    'an unverified email in the ID token, the same one verified at userinfo': {
      fault: { told: { idToken: unverified, userinfo: { email_verified: true } } },
    },
  })

  test('both said at userinfo alone: it is that one, whatever the ID token says of none', async () => {
    const email = `at-userinfo-${String(newPerson().email)}`
    const told = { idToken: { email: undefined, ...unverified }, userinfo: { email, email_verified: true } }
    const agent = newAgent()
    const answer = await atProvider(agent, corp, await startAt(agent, 'corp'), { told }, newPerson())
    corp.fault = {}
    assertRedirect(answer, '/')
    assert.equal((await currentUser(agent)).email, email)
  })
})

const rows = async (sql: string, ...values: string[]) => (await databases.get(service)?.rows(sql, ...values)) ?? []

/** A user who has just signed in there, so that the session is recent. */
const enter = async (person: Claims, name: 'corp' | 'rival' = 'corp') => {
  const agent = newAgent()
  const now = { ...person, auth_time: Math.floor(Date.now() / 1000) }
  assertRedirect(await returnFromProvider(agent, await arrive(agent, now, name)), '/kept?a=1&b=%2F#there')
  return agent
}

const identitiesOf = (userId: string) => rows('SELECT id, provider, subject FROM identities WHERE user_id = ?', userId)

const assertEverybodyHasAWay = async () => {
  const lost = `SELECT id FROM users WHERE password_hash IS NULL AND NOT EXISTS
    (SELECT 1 FROM identities WHERE identities.user_id = users.id)`
  assert.deepEqual(await rows(lost), [])
  const orphans = 'SELECT id FROM identities WHERE NOT EXISTS (SELECT 1 FROM users WHERE users.id = identities.user_id)'
  assert.deepEqual(await rows(orphans), [])
}

/** A user without a password, with both providers, and a browser for each. */
const withTwo = async () => {
  const [atCorp, atRival] = [newPerson(), newPerson()]
  const one = await enter(atCorp)
  const linked = await returnFromProvider(one, await arrive(one, atRival, 'rival', { intent: 'link' }))
  assertRedirect(linked, '/auth/account?done=linked')
  const other = await enter(atRival, 'rival')
  const { id } = await currentUser(one)
  assert.equal((await currentUser(other)).id, id)
  const identities = await identitiesOf(id)
  const idAt = (name: string) => String(identities.find(({ provider }) => provider === name)?.id)
  return { id, one, other, atCorp, atRival, corpId: idAt('corp'), rivalId: idAt('rival') }
}

describe('simultaneous requests on one account: a way to sign in remains, and no identity belongs to two users', () => {
  const ROUNDS = 5
  const rounds = async (round: () => Promise<void>) => {
    for (let count = 0; count < ROUNDS; count += 1) await round()
  }

  test('each of two browsers disconnects the other’s provider', () =>
    rounds(async () => {
      const { id, one, other, atCorp, atRival, corpId, rivalId } = await withTwo()
      const answers = await Promise.all([
        one.post('/auth/account/identities', { identity_id: rivalId }),
        other.post('/auth/account/identities', { identity_id: corpId }),
        one.copy().post('/auth/account/identities', { identity_id: corpId }),
        other.copy().post('/auth/account/identities', { identity_id: rivalId }),
      ])
      for (const answer of answers) {
        assert.ok(answer.status < 500, `${answer.status}`)
        assert.notEqual(answer.location, '/auth/account/confirm', 'each of them may')
      }
      const [left, ...more] = await identitiesOf(id)
      assert.ok(left && more.length === 0, 'one of them went')
      const agent = await enter(
        left.provider === 'corp' ? atCorp : atRival,
        left.provider === 'corp' ? 'corp' : 'rival',
      )
      assert.equal((await currentUser(agent)).id, id)
      await assertEverybodyHasAWay()
    }))

  test('one identity is linked to five accounts', () =>
    rounds(async () => {
      const atRival = newPerson()
      const agents = await Promise.all(Array.from({ length: 5 }, () => enter(newPerson())))
      const back = await Promise.all(agents.map((agent) => arrive(agent, atRival, 'rival', { intent: 'link' })))
      const answers = await Promise.all(
        agents.map((agent, index) => returnFromProvider(agent, back[index] ?? assert.fail())),
      )
      assert.deepEqual(statusesOf(answers), [303, 409, 409, 409, 409])
      assert.equal((await rows('SELECT id FROM identities WHERE subject = ?', String(atRival.sub))).length, 1)
    }))

  test('it is deleted while providers are linked to it and disconnected, and people come in by them', () =>
    rounds(async () => {
      const { id, one, other, atCorp, atRival, corpId } = await withTwo()
      const third = await arrive(one, newPerson(), 'rival', { intent: 'link' })
      const [asCorp, asRival] = [newAgent(), newAgent()]
      const [cameByCorp, cameByRival] = [await arrive(asCorp, atCorp), await arrive(asRival, atRival, 'rival')]
      const answers = await Promise.all([
        returnFromProvider(one, third),
        other.post('/auth/account/identities', { identity_id: corpId }),
        returnFromProvider(asCorp, cameByCorp),
        one.post('/auth/account/delete'),
        returnFromProvider(asRival, cameByRival),
        other.post('/auth/account/password', { new_password: 'a pass phrase of five words' }),
      ])
      for (const answer of answers) {
        assert.ok(answer.status < 500, `${answer.status}`)
        assert.notEqual(answer.location, '/auth/account/confirm', 'each of them may')
      }
      await assertEverybodyHasAWay()
      const agent = await enter(atRival, 'rival')
      const user = await currentUser(agent)
      if ((await rows('SELECT id FROM users WHERE id = ?', id)).length > 0) assert.equal(user.id, id)
    }))

  test('the owner of an email reclaims an account while the attacker who registered it resists', () =>
    rounds(async () => {
      const owner = newPerson()
      const lurker = { email: String(owner.email), password: 'a pass phrase of the lurker', username: '' }
      const { agent: waiting } = await signedUp(service, lurker)
      const { id } = await currentUser(waiting)
      const [atCorp, atRival] = [newPerson(), newPerson()]
      const links = [
        await arrive(waiting, atCorp, 'corp', { intent: 'link' }),
        await arrive(waiting, atRival, 'rival', { intent: 'link' }),
      ]
      const comer = newAgent()
      const page = await returnFromProvider(comer, await arrive(comer, owner))
      assertNoSession(comer, page, 409)
      const pending = pendingOn(page)
      const second = newAgent()
      const all = await Promise.all([
        returnFromProvider(waiting, links[0] ?? assert.fail()),
        second.post('/auth/login', { email: lurker.email, password: lurker.password }),
        comer.post('/auth/oauth/corp/claim', { pending }),
        returnFromProvider(waiting.copy(), links[1] ?? assert.fail()),
        waiting.copy().post('/auth/account/password', {
          current_password: lurker.password,
          new_password: 'another pass phrase of theirs',
        }),
        waiting.refresh(),
      ])
      for (const { status } of all) assert.ok(status < 500, `${status}`)
      assert.equal(all[2]?.status, 303, all[2]?.text)
      assert.equal((await currentUser(comer)).id, id)
      assert.deepEqual(
        (await identitiesOf(id)).map(({ subject }) => subject),
        [owner.sub],
      )
      const [user] = await rows('SELECT password_hash FROM users WHERE id = ?', id)
      assert.equal(user?.password_hash, null)
      assert.equal((await rows('SELECT id FROM sessions WHERE user_id = ?', id)).length, 1)
      for (const agent of [waiting, second]) assert.equal((await agent.get('/auth/api/v1/user')).status, 401)
      for (const [who, name] of [
        [atCorp, 'corp'],
        [atRival, 'rival'],
      ] as const) {
        assert.notEqual((await currentUser(await enter(who, name))).id, id)
      }
      const { sessions: before } = await countRows()
      assertRedirect(await comer.post('/auth/oauth/corp/claim', { pending }), '/kept?a=1&b=%2F#there')
      assert.equal((await countRows()).sessions, before, 'no second sign-in')
      await comer.post('/auth/logout')
      assertNoSession(comer, await comer.post('/auth/oauth/corp/claim', { pending }), 400)
    }))
})

test('a link that was refused does not say "linked" when its page is loaded again', async () => {
  const atRival = newPerson()
  const first = newAgent()
  assertRedirect(await returnFromProvider(first, await arrive(first, atRival, 'rival')), '/kept?a=1&b=%2F#there')
  const { agent } = await signedUp(service)
  const callback = await arrive(agent, atRival, 'rival', { intent: 'link' })
  assertErrorPage(await returnFromProvider(agent, callback), 409)
  const again = await returnFromProvider(agent, callback)
  assert.notEqual(again.location, '/auth/account?done=linked')
})

describe('the log contains a provider’s error message, without anything that looks like a code or a token', () => {
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
      const answer = await signInBy(agent, 'corp', (url) => corp.visit(url, { person: newPerson() }))
      corp.fault = {}
      assertErrorPage(answer, 400)
      const cause = String((await failureOf(service, answer)).cause)
      assert.match(cause, /invalid_scope Your \S*… is no good, see https:/)
      assert.ok(!service.logs().includes(text), cause)
    })
  }
})

test('text from a provider cannot write on the terminal of a reader of the log', async () => {
  const agent = newAgent()
  const callback = withQuery(await arrive(agent), (query) => {
    query.delete('code')
    query.set('error', 'x\x1b[2J\x1b]0;title\x07')
    query.set('error_description', 'a\n10:00:00 info all is well\x9b2J')
  })
  const answer = await returnFromProvider(agent, callback)
  assertErrorPage(answer, 400)
  await failureOf(service, answer)
  const id = String(answer.headers['x-request-id'])
  const line = service
    .logs()
    .split('\n')
    .find((text) => text.includes(id) && text.includes('sign-in by a provider'))
  let shown = ''
  prettyPrinted((text) => {
    shown += text
  }).write(`${line}\n`)
  // Our own colours, and no other sequence.
  const [text = '', ...coloured] = shown.replace(/\n$/, '').split('\x1b')
  for (const part of coloured) assert.match(part, /^\[\d+m/, JSON.stringify(shown))
  assert.doesNotMatch(text + coloured.join(''), /\p{Cc}/u, JSON.stringify(shown))
})

test('a provider that keeps a user waiting past the grace period of their refresh token does not log them out', async (t) => {
  const clock = turnedClock()
  const env = { SVC_ACCESS_TOKEN_TTL: '1m', SVC_OAUTH_TIMEOUT: '1m' }
  const provider = await startMisbehavingProvider({ t })
  const patient = await startServiceWith({ corp: provider }, { t, clock, env })
  const agent = createUserAgent(patient)
  assertRedirect(await signInBy(agent, 'corp', provider.visit), '/')
  const callback = await provider.visit(await startAt(agent, 'corp', { intent: 'confirm' }))
  // The access token has expired when the user is back: the session is renewed on the way.
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

test('a path of many letters that are not ASCII comes back, too', async () => {
  for (const letters of [600, 1400]) {
    const agent = newAgent()
    const target = `/${'日'.repeat(letters)}`
    const answer = await signInBy(agent, 'corp', (url) => corp.visit(url, { person: newPerson() }), {
      return_to: target,
    })
    assertRedirect(answer, encodeURI(target))
  }
})

/** So many letters of Chinese, none like another and in no order. */
const lettersIn = (count: number) =>
  String.fromCodePoint(...Array.from({ length: count }, (_, index) => 0x4e00 + ((index * index * 7919) % 20_011)))

test('1,000 different letters come back; what would make too long an address is refused before anybody is sent', async () => {
  const agent = newAgent()
  const target = `/${lettersIn(1000)}`
  assertRedirect(
    await returnFromProvider(agent, await arrive(agent, newPerson(), 'corp', { return_to: target })),
    encodeURI(target),
  )
  const other = newAgent()
  const answer = await other.post('/auth/oauth/corp', { return_to: `/${lettersIn(1700)}` })
  assertErrorPage(answer, 400)
  assert.match(answer.text, /return_to/)
  assert.equal(answer.cookie('svc_oauth'), undefined)
})

test('nobody is followed elsewhere: no redirect of a provider takes a secret along', () => {
  const went = [corp, lab, rival].flatMap(({ requests }) => requests.filter(({ path }) => path.startsWith(ELSEWHERE)))
  assert.deepEqual(went, [])
})

test('logs have no code, state, token, secret or verifier, whatever went wrong', async () => {
  for (const { requests } of [corp, lab, rival]) {
    for (const { form, headers } of requests) {
      keepSecrets(form)
      const [, basic, bearer] = /^(?:Basic (.+)|Bearer (.+))$/.exec(headers.authorization ?? '') ?? []
      for (const secret of [basic, bearer]) if (secret) secrets.add(secret)
    }
  }
  for (const harmless of ['', 'a-code', 'a-code-of-another-provider', 'a-state-of-somebody-else'])
    secrets.delete(harmless)
  assert.ok(secrets.size > 200, `${secrets.size} secrets`)
  const logs = service.logs() + hasty.logs()
  for (const secret of secrets) assert.ok(!logs.includes(secret), `the log has ${secret}`)
  assert.doesNotMatch(logs, /eyJ[\w-]{10}|access_token=/)
})
