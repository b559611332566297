// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser } from '../../support/client/accounts.ts'
import { assertErrorPage, assertRedirect, assertSignedIn } from '../../support/client/assertions.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { startMisbehavingProvider } from '../../support/provider/misbehaving-provider.ts'
import { ELSEWHERE } from '../../support/provider/misbehaving-provider-answers.ts'
import type { Fault } from '../../support/provider/misbehaving-provider-faults.ts'
import type { Failure } from '../../support/provider/provider-failure-page.ts'
import {
  each,
  HOSTILE_NAME,
  nameFor,
  newClaims,
  startFaultyProviders,
  UNUSABLE_METADATA,
} from '../../support/provider/provider-faults.ts'
import { providerSettings, startServiceWith } from '../../support/provider/provider-service.ts'
import { returnFromProvider, signInBy, startAt } from '../../support/provider/provider-sign-in.ts'
import { startMeteredService } from '../../support/service/metrics.ts'
import { eventually } from '../../support/wait.ts'

const {
  corp,
  lab,
  rival,
  providers,
  service,
  newAgent,
  visitAndReturn,
  assertFails,
  testFailures,
  assertNoSecretsLogged,
} = await startFaultyProviders()

const impatient = await startServiceWith(
  { corp, gitlab: lab, unseen: corp, keyless: corp },
  { env: { SVC_OAUTH_TIMEOUT: '700ms' } },
)

const BROKEN = ['status-500', 'status-503-html', 'html', 'html-as-json', 'empty', 'status-404'] as const
/** JSON, but not the object that was asked for. */
const NOT_AN_OBJECT = ['array', 'null'] as const
const LEADING_AWAY = ['redirect', 'redirect-kept', 'reset'] as const
const TOO_MUCH = ['huge', 'endless', 'gzip-bomb'] as const
const TOO_SLOW = ['hanging', 'trickle'] as const
const ANY_BAD = [...BROKEN, ...LEADING_AWAY, ...TOO_MUCH] as const

describe('no session, and a clear page: the authorization response', () => {
  testFailures(403, 'cancelled', {
    denied: { fault: { error: { code: 'access_denied', description: '<script>alert(1)</script> not good' } } },
    'cancelled in the words of Apple': { fault: { error: { code: 'user_cancelled_authorize' } } },
    'denied, with a code besides': { fault: { error: { code: 'access_denied' }, besides: { code: 'a-code' } } },
  })
  testFailures(400, 'refused', {
    refused: { fault: { error: { code: 'invalid_scope', description: HOSTILE_NAME } } },
    'an error that nobody knows': { fault: { error: { code: '"><script>alert(1)</script>' } } },
    'an error of a name that objects have': { fault: { error: { code: '__proto__' } } },
    'an error with a code besides': { fault: { error: { code: 'login_required' }, besides: { code: 'a-code' } } },
    'a code of another provider': { fault: { code: 'foreign' } },
  })
  testFailures(503, 'unreachable', {
    'its own fault': { fault: { error: { code: 'server_error', description: 'not good' } } },
    'its own fault for a while': { fault: { error: { code: 'temporarily_unavailable' } } },
  })
  testFailures(400, 'unreadable', each('state', ['missing', 'foreign', 'empty'], { isReturnToKept: false }))
  testFailures(401, 'unverifiable', {
    'no code': { fault: { code: 'missing' } },
    'a token in the place of a code': { fault: { code: 'missing', besides: { access_token: 'a', id_token: 'b' } } },
    'issuer (RFC 9207) missing': { fault: { iss: 'missing' } },
    'issuer (RFC 9207) foreign': { fault: { iss: 'foreign' } },
  })
})

describe('no session: ID tokens', () => {
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
  testFailures(401, 'unverifiable', each('idToken', [...bad]))
  testFailures(401, 'unverifiable', {
    'issued to another client, for us alone (azp)': { fault: { told: { idToken: { azp: 'another-client' } } } },
    'issued to nobody (azp)': { fault: { told: { idToken: { azp: '' } } } },
    'issued to several (azp)': { fault: { told: { idToken: { azp: [corp.clientId] } } } },
    'issued to null (azp)': { fault: { told: { idToken: { azp: null } } } },
  })
  test('issued to us by name (azp): signed in', async () => {
    const agent = newAgent()
    corp.fault = { told: { idToken: { azp: corp.clientId } } }
    const answer = await signInBy(agent, 'corp', (url) => corp.visit(url, { person: newClaims() }))
    corp.fault = {}
    assertRedirect(answer, '/')
  })
  testFailures(401, 'unverifiable', each('sub', ['missing', 'empty', 'not-text', 'long']))
  testFailures(401, 'unverifiable', {
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

describe('no session: emails', () => {
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
  testFailures(403, 'email_missing', each('email', [...unreadable]))
  const unverified = ['unverified', 'unverified-text', 'verified-null', 'verification-missing'] as const
  testFailures(403, 'email_unverified', each('email', [...unverified]))
  testFailures(403, 'email_missing', {
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
  testFailures(403, 'email_unverified', {
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

describe('no session: the token endpoint', () => {
  testFailures(503, 'unreachable', each('token', [...ANY_BAD, 'form-encoded', 'status-429']))
  testFailures(400, 'refused', each('token', ['invalid-grant', 'pkce-refused', 'invalid-client', 'echoing']))
  const without = ['no-id-token', 'no-access-token', 'mac', 'error-200', ...NOT_AN_OBJECT] as const
  testFailures(401, 'unverifiable', each('token', [...without]))
})

describe('no session: the userinfo endpoint', () => {
  const besides = { provider: 'gitlab' } as const
  testFailures(503, 'unreachable', each('userinfo', [...ANY_BAD, 'status-429'], besides))
  testFailures(401, 'unverifiable', each('userinfo', ['other-sub', 'no-sub', 'error-200', ...NOT_AN_OBJECT], besides))
})

describe('no session: the discovery document and the keys', () => {
  const unseen = { provider: 'unseen', at: 'start' } as const
  const issuers = ['other-issuer', 'no-issuer', 'issuer-not-text'] as const
  testFailures(
    503,
    'unreachable',
    each('discovery', [...ANY_BAD, ...issuers, ...NOT_AN_OBJECT, 'status-429', 'error-200'], unseen),
  )
  for (const fault of UNUSABLE_METADATA) {
    const failure = { fault: { discovery: fault }, at: 'start', provider: nameFor(fault) as 'corp' } as const
    testFailures(503, 'unreachable', { [`discovery ${fault}`]: failure })
  }
  const keyless = { provider: 'keyless' } as const
  testFailures(503, 'unreachable', each('jwks', [...ANY_BAD, 'status-429'], keyless))
  testFailures(401, 'unverifiable', each('jwks', ['no-keys', 'error-200', ...NOT_AN_OBJECT], keyless))

  for (const name of ['unseen', 'keyless', 'corp', 'gitlab']) {
    test(`after the fault is corrected, users can sign in: ${name}`, async () => {
      const agent = newAgent()
      const provider = providers[name as 'corp']
      assertRedirect(await signInBy(agent, name, (url) => provider.visit(url, { person: newClaims() })), '/')
      await assertSignedIn(agent)
    })
  }
  for (const fault of UNUSABLE_METADATA) {
    test(`after the metadata is corrected, the next start succeeds: ${fault}`, async () => {
      const agent = newAgent()
      assertRedirect(await signInBy(agent, nameFor(fault), (url) => corp.visit(url, { person: newClaims() })), '/')
    })
  }
})

const timesOut = async (fault: Fault, failure: Partial<Failure> = {}) => {
  const { provider = 'corp', at } = failure
  const start = async () => (await newAgent(impatient).post(`/auth/oauth/${provider}`)).status === 303
  // On a slow machine the discovery document can miss the deadline, too: it is fetched before the fault.
  if (at !== 'start') await eventually('the discovery document is known', start)
  await assertFails({ status: 503, problem: 'unreachable', fault, ...failure }, impatient)
}

describe('a slow provider: the page comes, and other requests are served in the meantime', () => {
  for (const how of TOO_SLOW) {
    test(`discovery ${how}`, () => timesOut({ discovery: how }, { provider: 'unseen', at: 'start' }))
    test(`token ${how}`, () => timesOut({ token: how }))
    test(`jwks ${how}`, () => timesOut({ jwks: how }, { provider: 'keyless' }))
    test(`userinfo ${how}`, () => timesOut({ userinfo: how }, { provider: 'gitlab' }))
  }

  test('while many wait for it, pages and sign-ins with other providers are served', async () => {
    const agents = Array.from({ length: 20 }, () => newAgent())
    const callbacks = await Promise.all(
      agents.map(async (agent) => corp.visit(await startAt(agent, 'corp'), { person: newClaims() })),
    )
    corp.fault = { token: 'hanging' }
    const before = corp.requestsFor('token').length
    const waiting = agents.map((agent, index) => returnFromProvider(agent, callbacks[index] ?? assert.fail()))
    await eventually('all wait', () => corp.requestsFor('token').length === before + agents.length)
    assert.equal((await newAgent().get('/auth/login')).status, 200)
    const agent = newAgent()
    assertRedirect(await signInBy(agent, 'rival', (url) => rival.visit(url, { person: newClaims() })), '/')
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
      const answer = await signInBy(agent, 'gitlab', (url) => provider.visit(url, { person: newClaims() }))
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
  // Without a limit the responses would take 240 MiB, all memory there is, and 768 MiB.
  assert.ok(highest - before < 128 * 2 ** 20, `${Math.round((highest - before) / 2 ** 20)} MiB more`)
})

describe('two half statements about an email do not make it verified', () => {
  const unverified = { email_verified: false }
  testFailures(403, 'email_unverified', {
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

  test('a verified email from the userinfo endpoint alone counts, whatever the ID token says without an email', async () => {
    const email = `at-userinfo-${String(newClaims().email)}`
    const told = { idToken: { email: undefined, ...unverified }, userinfo: { email, email_verified: true } }
    const agent = newAgent()
    const answer = await visitAndReturn(agent, corp, await startAt(agent, 'corp'), {
      fault: { told },
      claims: newClaims(),
    })
    corp.fault = {}
    assertRedirect(answer, '/')
    assert.equal((await currentUser(agent)).email, email)
  })
})

/** Signs in by a provider whose token endpoint has one fault after another. */
const signInWithFaults = async (faults: readonly (typeof ANY_BAD)[number][]) => {
  for (const token of faults) {
    corp.fault = { token }
    const answer = await signInBy(newAgent(), 'corp', (url) => corp.visit(url, { person: newClaims() }))
    corp.fault = {}
    assertErrorPage(answer, 503)
  }
}

test('no redirect of a provider is followed, so none takes a secret along', async () => {
  await signInWithFaults(LEADING_AWAY)
  const went = [corp, lab, rival].flatMap(({ requests }) => requests.filter(({ path }) => path.startsWith(ELSEWHERE)))
  assert.deepEqual(went, [])
})

test('the logs contain no code, state, token, secret or verifier, whatever went wrong', async () => {
  await signInWithFaults(BROKEN)
  assertNoSecretsLogged(service.logs() + impatient.logs(), { atLeast: 2 * BROKEN.length })
})
