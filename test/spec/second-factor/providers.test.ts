// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeJwt } from 'jose'
import { currentUser, logIn, logOut, newAgent, signedUp } from '../../support/client/accounts.ts'
import { assertPage, assertRedirect } from '../../support/client/assertions.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabase } from '../../support/database/database.ts'
import { startMisbehavingProvider } from '../../support/provider/misbehaving-provider.ts'
import { newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { linkByPassword } from '../../support/provider/provider-accounts.ts'
import { pendingOn, startServiceWith } from '../../support/provider/provider-service.ts'
import { signInBy } from '../../support/provider/provider-sign-in.ts'
import { newAccountWithCodes, setUpCodes } from '../../support/second-factor/account-with-codes.ts'
import { openOperator } from '../../support/service/replicas.ts'

type Claims = Record<string, unknown>
type Name = keyof typeof providers

const clock = turnedClock()
const providers = {
  ask: await startMisbehavingProvider(),
  sure: await startMisbehavingProvider(),
  told: await startMisbehavingProvider(),
}
const env = { SVC_OAUTH_SURE_SECOND_FACTOR: 'trusted', SVC_OAUTH_TOLD_SECOND_FACTOR: 'claims' }
const service = await startServiceWith(providers, { clock, env })
const core = await openOperator(service)
const database = await openDatabase(service)
const at = { service, core, clock }

const CODE_PAGE = '/auth/login/code'
const nowS = () => Math.floor(clock.now() / 1000)
const claimsOf = (agent: UserAgent) => decodeJwt(agent.cookies.get('svc_access') ?? '')

const by = (name: Name, person: Claims, agent = newAgent(service), form = {}) =>
  signInBy(agent, name, (url) => providers[name].visit(url, { person }), form)

/** A user of a provider, whose account has an app as well. */
const userOf = async (name: Name) => {
  const person: Claims = { ...newOpenIdUser() }
  const agent = newAgent(service)
  assertRedirect(await by(name, person, agent), '/')
  const { id, email } = await currentUser(agent)
  const account = await setUpCodes(at, { id, person: { email, password: '', username: '' } })
  return { person, account }
}

const assertSignedOut = (agent: UserAgent) => assert.equal(agent.cookies.get('svc_access'), undefined)

const connectionsOf = async (userId: string) =>
  (await database.rows('SELECT provider FROM identities WHERE user_id = ?', userId)).map(({ provider }) => provider)

describe('SVC_OAUTH_<NAME>_SECOND_FACTOR', () => {
  test('ask: a code is asked for; a trusted browser is not asked again', async () => {
    const { person, account } = await userOf('ask')
    const agent = newAgent(service)
    assertRedirect(await by('ask', person, agent, { return_to: '/app' }), `${CODE_PAGE}?return_to=%2Fapp`)
    assertSignedOut(agent)
    const form = { code: await account.nextCode(), trust_browser: '1' }
    assertRedirect(await agent.post(CODE_PAGE, form), '/app')
    assert.deepEqual(claimsOf(agent).amr, ['fed', 'otp', 'mfa'])
    assertRedirect(await logOut(agent), '/')
    assertRedirect(await by('ask', person, agent), '/')
    assert.deepEqual(claimsOf(agent).amr, ['fed'])
  })

  test('ask: what the ID token says of other factors does not count', async () => {
    const { person } = await userOf('ask')
    assertRedirect(await by('ask', { ...person, amr: ['mfa'], auth_time: nowS() }), CODE_PAGE)
  })

  test('trusted: none is asked for', async () => {
    const { person } = await userOf('sure')
    const agent = newAgent(service)
    assertRedirect(await by('sure', person, agent), '/')
    assert.deepEqual(claimsOf(agent).amr, ['fed'])
  })

  test('claims: none is asked for, and it counts as mfa, where amr has mfa and auth_time is fresh', async () => {
    const { person } = await userOf('told')
    const agent = newAgent(service)
    assertRedirect(await by('told', { ...person, amr: ['pwd', 'mfa'], auth_time: nowS() - 60 }, agent), '/')
    assert.deepEqual(claimsOf(agent).amr, ['fed', 'mfa'])
  })

  const missing: Record<string, () => Claims> = {
    'without amr': () => ({ auth_time: nowS() }),
    'with another amr': () => ({ amr: ['pwd', 'otp'], auth_time: nowS() }),
    'with an amr that is no list': () => ({ amr: 'mfa', auth_time: nowS() }),
    'without auth_time': () => ({ amr: ['mfa'] }),
    'with an old auth_time': () => ({ amr: ['mfa'], auth_time: nowS() - 601 }),
    'with one in the future': () => ({ amr: ['mfa'], auth_time: nowS() + 600 }),
  }
  for (const [name, claims] of Object.entries(missing))
    test(`claims: ${name}, a code is asked for`, async () => {
      const { person, account } = await userOf('told')
      const agent = newAgent(service)
      assertRedirect(await by('told', { ...person, ...claims() }, agent), CODE_PAGE)
      assertRedirect(await agent.post(CODE_PAGE, { code: await account.nextCode() }), '/')
      assert.deepEqual(claimsOf(agent).amr, ['fed', 'otp', 'mfa'])
    })

  test('a sign-in that waits ends when its provider is disconnected', async () => {
    const { person, account } = await userOf('ask')
    const agent = newAgent(service)
    assertRedirect(await by('ask', person, agent), CODE_PAGE)
    await core.oauth.disconnect(account.id, 'ask')
    const answer = await agent.post(CODE_PAGE, { code: await account.nextCode() })
    assertRedirect(answer, '/auth/login?done=sign_in_ended')
    assertSignedOut(agent)
  })
})

const atProofPage = async (email: string, agent = newAgent(service)) => {
  const page = await by('ask', { ...newOpenIdUser({ email }) }, agent, { return_to: '/kept' })
  assertPage(page, 409)
  return { agent, pending: pendingOn(page) }
}

describe('the page that asks for a proof before a provider is connected', () => {
  test('asks for the code too, and connects nothing before it is right', async () => {
    const account = await newAccountWithCodes(at)
    const { agent, pending } = await atProofPage(account.person.email)
    assertRedirect(
      await linkByPassword(agent, pending, account.person.password, 'ask'),
      `${CODE_PAGE}?return_to=%2Fkept`,
    )
    assert.deepEqual(await connectionsOf(account.id), [])
    const shown = await agent.get(CODE_PAGE)
    assert.match(shown.text, /<\/b> will be connected to this account\./)
    assert.doesNotMatch(shown.text, /trust_browser/)
    assertPage(await agent.post(CODE_PAGE, { code: account.wrongCode() }), 401)
    assert.deepEqual(await connectionsOf(account.id), [])
    assertSignedOut(agent)
    assertRedirect(await agent.post(CODE_PAGE, { code: await account.nextCode() }), '/kept')
    assert.deepEqual(await connectionsOf(account.id), ['ask'])
    assert.deepEqual(claimsOf(agent).amr, ['pwd', 'otp', 'mfa'])
  })

  test('asks a trusted browser as well', async () => {
    const account = await newAccountWithCodes(at)
    const agent = newAgent(service)
    assertRedirect(await logIn(agent, account.person), CODE_PAGE)
    assertRedirect(await agent.post(CODE_PAGE, { code: await account.nextCode(), trust_browser: '1' }), '/')
    assertRedirect(await logOut(agent), '/')
    const { pending } = await atProofPage(account.person.email, agent)
    assertRedirect(
      await linkByPassword(agent, pending, account.person.password, 'ask'),
      `${CODE_PAGE}?return_to=%2Fkept`,
    )
    assert.deepEqual(await connectionsOf(account.id), [])
  })

  test('after a proof by a connected provider, the same; one that is trusted with it spares the code', async () => {
    for (const name of ['told', 'sure'] as const) {
      const { person, account } = await userOf(name)
      const { agent, pending } = await atProofPage(account.person.email)
      const proved = await by(name, person, agent, { pending })
      if (name === 'sure') assertRedirect(proved, '/kept')
      else {
        assertRedirect(proved, `${CODE_PAGE}?return_to=%2Fkept`)
        assert.deepEqual(await connectionsOf(account.id), [name])
        assertRedirect(await agent.post(CODE_PAGE, { code: await account.nextCode() }), '/kept')
        assert.deepEqual(claimsOf(agent).amr, ['fed', 'otp', 'mfa'])
      }
      assert.deepEqual(new Set(await connectionsOf(account.id)), new Set(['ask', name]))
    }
  })

  test('connects once, of two right codes at once', async () => {
    const account = await newAccountWithCodes(at)
    const { agent, pending } = await atProofPage(account.person.email)
    await linkByPassword(agent, pending, account.person.password, 'ask')
    const [one = '', other = ''] = account.recoveryCodes
    const answers = await Promise.all([one, other].map((code) => agent.copy().post(CODE_PAGE, { code })))
    assert.deepEqual(
      answers.map(({ location = '' }) => location).toSorted((a, b) => a.localeCompare(b)),
      ['/auth/login?done=sign_in_ended&return_to=%2Fkept', '/kept'],
    )
    assert.deepEqual(await connectionsOf(account.id), ['ask'])
  })

  test('an account without codes is connected at once, as before', async () => {
    const { person } = await signedUp(service)
    const { agent, pending } = await atProofPage(person.email)
    assertRedirect(await linkByPassword(agent, pending, person.password, 'ask'), '/kept')
  })
})

const signedIn = async () => {
  const { person, account } = await userOf('ask')
  const agent = newAgent(service)
  assertRedirect(await by('ask', person, agent), CODE_PAGE)
  assertRedirect(await agent.post(CODE_PAGE, { code: await account.nextCode(), trust_browser: '1' }), '/')
  await clock.turnTo(clock.aheadMs() + 11 * 60_000)
  await agent.refresh()
  return { person, account, agent, sessionId: claimsOf(agent).sid }
}

describe('a confirmation by a provider', () => {
  const form = { intent: 'confirm', return_to: '/orders', acr: 'mfa' }

  test('asks for the code where mfa is asked for, in a trusted browser too, and starts a new session', async () => {
    const { person, account, agent, sessionId } = await signedIn()
    assertRedirect(await by('ask', person, agent, form), `${CODE_PAGE}?return_to=%2Forders`)
    assert.equal(claimsOf(agent).sid, sessionId, 'the session is as it was')
    const shown = await agent.get(CODE_PAGE)
    assert.match(shown.text, /Confirm that you’re <b>/)
    assert.doesNotMatch(shown.text, /trust_browser/)
    assertPage(await agent.post(CODE_PAGE, { code: account.wrongCode() }), 401)
    assertRedirect(await agent.post(CODE_PAGE, { code: await account.nextCode(), return_to: '/orders' }), '/orders')
    const { sid, amr, auth_time: authTime } = claimsOf(agent)
    assert.notEqual(sid, sessionId)
    assert.deepEqual(amr, ['fed', 'otp', 'mfa'])
    assert.ok(nowS() - Number(authTime) < 120)
  })

  test('ends with the session that it is for', async () => {
    const { person, account, agent } = await signedIn()
    assertRedirect(await by('ask', person, agent, form), `${CODE_PAGE}?return_to=%2Forders`)
    const pending = agent.cookies.get('svc_pending') ?? ''
    assertRedirect(await logOut(agent.copy()), '/')
    agent.cookies.set('svc_pending', pending, '/auth')
    const answer = await agent.post(CODE_PAGE, { code: await account.nextCode(), return_to: '/orders' })
    assert.equal(answer.status, 303)
    assert.match(answer.location ?? '', /^\/auth\/(?:login|account\/confirm)\?/)
    assert.equal((await agent.get('/auth/api/v1/user')).status, 401)
  })
})
