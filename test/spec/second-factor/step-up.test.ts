// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeJwt } from 'jose'
import { currentUser, logIn, loggedIn, newAgent, newPerson, signedUp } from '../../support/client/accounts.ts'
import { assertPage, assertRedirect, assertSignedIn, assertSignedOut } from '../../support/client/assertions.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabase } from '../../support/database/database.ts'
import { createAuthenticator } from '../../support/passkeys/authenticator.ts'
import { addPasskey, logInWithPasskey } from '../../support/passkeys/passkeys.ts'
import { startMisbehavingProvider } from '../../support/provider/misbehaving-provider.ts'
import { newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { startServiceWith } from '../../support/provider/provider-service.ts'
import { signInBy } from '../../support/provider/provider-sign-in.ts'
import { type AccountWithCodes, newAccountWithCodes } from '../../support/second-factor/account-with-codes.ts'
import { SECOND_FACTOR_PAGE, setUpApp } from '../../support/second-factor/app-set-up.ts'
import { openOperator } from '../../support/service/replicas.ts'

const clock = turnedClock()
const corp = await startMisbehavingProvider()
const vouch = await startMisbehavingProvider()
const told = await startMisbehavingProvider()
const providers = { corp, vouch, told }
const env = { SVC_OAUTH_VOUCH_SECOND_FACTOR: 'trusted', SVC_OAUTH_TOLD_SECOND_FACTOR: 'claims' }
const service = await startServiceWith(providers, { clock, env })
// Another process on the same installation.
const replica = await startServiceWith(providers, { clock, env, cwd: service.directory })
const database = await openDatabase(service)
const at = { service, core: await openOperator(service), clock }

const CONFIRM = '/auth/account/confirm'
const CODE_PAGE = '/auth/login/code'
const TARGET = '/orders/7?pay=now&to=%C3%A9#end'
const stepUp = (returnTo: string) => `${CONFIRM}?${new URLSearchParams({ return_to: returnTo, acr: 'mfa' }).toString()}`
const STEP_UP = stepUp(TARGET)
const FORM = { return_to: TARGET, acr: 'mfa' }

const claimsOf = (agent: UserAgent) => decodeJwt(agent.cookies.get('svc_access') ?? '')
const amrOf = (agent: UserAgent) => claimsOf(agent).amr
const isFresh = (agent: UserAgent) => Math.abs(Number(claimsOf(agent).auth_time) - clock.now() / 1000) < 60

/** A browser that trusts the second factor of an account to an earlier login: its session has proved a password alone. */
const inTrustedBrowser = async (account: AccountWithCodes) => {
  const agent = newAgent(service)
  await logIn(agent, account.person)
  const code = await account.nextCode()
  assert.equal((await agent.post(CODE_PAGE, { code, trust_browser: '1' })).status, 303)
  await agent.post('/auth/logout')
  assertRedirect(await logIn(agent, account.person), '/')
  assert.deepEqual(amrOf(agent), ['pwd'])
  return agent
}

const withCodes = async () => {
  const account = await newAccountWithCodes(at)
  return { account, agent: await inTrustedBrowser(account) }
}

/** A user with codes and a connected provider, whose session has proved a password alone. */
const withProvider = async (name: keyof typeof providers) => {
  const { account, agent } = await withCodes()
  const person = newOpenIdUser()
  const signIn = (form: Record<string, string>, claims: object = {}) => {
    const fresh = { ...person, auth_time: Math.floor(clock.now() / 1000), ...claims }
    return signInBy(agent, name, (url) => providers[name].visit(url, { person: fresh }), form)
  }
  const code = await account.nextCode()
  assert.equal((await agent.post(CONFIRM, { password: account.person.password, code })).status, 303)
  assertRedirect(await signIn({ intent: 'link' }), '/auth/account?done=linked')
  await database.rows('UPDATE sessions SET amr = ? WHERE user_id = ?', 'pwd', account.id)
  return { account, agent, signIn }
}

const assertAsksForCode = (text: string): void => {
  assert.match(text, /name="code"/)
  assert.match(text, /name="acr" value="mfa"/)
}

describe('step-up (acr=mfa)', () => {
  test('password and code in one form lead back with a new session that says so', async () => {
    const { account, agent } = await withCodes()
    const page = await agent.get(STEP_UP)
    assertPage(page)
    assertAsksForCode(page.text)
    const before = agent.copy()
    const code = await account.nextCode()
    assertRedirect(await agent.post(CONFIRM, { ...FORM, password: account.person.password, code }), TARGET)
    assert.deepEqual(amrOf(agent), ['pwd', 'otp', 'mfa'])
    assert.ok(isFresh(agent))
    await assertSignedOut(before)
    // From now on, for ten minutes, the browser only passes by.
    assertRedirect(await agent.get(STEP_UP), TARGET)
    await clock.turnTo(clock.aheadMs() + 11 * 60_000)
    await agent.refresh()
    assertPage(await agent.get(STEP_UP))
  })

  test('a recovery code has its own field there too, and what was wrong stands in it', async () => {
    const { account, agent } = await withCodes()
    const { password } = account.person
    const [first = ''] = account.recoveryCodes
    assert.match((await agent.get(STEP_UP)).text, /<input id="code" [^>]* inputmode="numeric"/)
    const wrong = await agent.post(CONFIRM, { ...FORM, password, code: '', recovery_code: 'abcd-efgh' })
    assertPage(wrong, 401)
    assert.match(wrong.text, /<details open>[^]*That recovery code is wrong or already used/)
    assertRedirect(await agent.post(CONFIRM, { ...FORM, password, code: '', recovery_code: first }), TARGET)
    assert.deepEqual(amrOf(agent), ['pwd', 'mfa'])
  })

  test('a recovery code stands for the code, once', async () => {
    const { account, agent } = await withCodes()
    const [code = ''] = account.recoveryCodes
    const form = { ...FORM, password: account.person.password, code }
    assertRedirect(await agent.post(CONFIRM, form), TARGET)
    assert.deepEqual(amrOf(agent), ['pwd', 'mfa'])
    const refused = await agent.post(CONFIRM, form)
    assertPage(refused, 401)
    assert.doesNotMatch(refused.text, new RegExp(code))
  })

  test('neither half is enough, nor is a trusted browser, and nothing changes', async () => {
    const { account, agent } = await withCodes()
    const before = claimsOf(agent)
    const { password } = account.person
    const cases: [form: Record<string, string>, status: number][] = [
      [{ password }, 422],
      [{ password, code: ' ' }, 422],
      [{ password, code: account.wrongCode() }, 401],
      [{ code: await account.nextCode() }, 401],
      [{ password: 'wrong', code: await account.nextCode() }, 401],
    ]
    for (const [form, status] of cases) {
      const page = await agent.post(CONFIRM, { ...FORM, ...form })
      assertPage(page, status)
      assertAsksForCode(page.text)
      assert.match(page.text, /name="return_to" value="\/orders\/7\?pay=now&amp;to=%C3%A9#end"/)
    }
    await assertSignedIn(agent)
    assert.deepEqual(claimsOf(agent), before)
  })

  test('a code that was not looked at is kept in the form, and stays good', async () => {
    const { account, agent } = await withCodes()
    const code = await account.nextCode()
    const refused = await agent.post(CONFIRM, { ...FORM, password: 'wrong', code })
    assert.match(refused.text, new RegExp(`name="code"[^>]*value="${code}"`))
    assertRedirect(await agent.post(CONFIRM, { ...FORM, password: account.person.password, code }), TARGET)
  })

  test('of one code sent twice at once to two processes, one starts a session', async () => {
    const { account, agent } = await withCodes()
    const code = await account.nextCode()
    const form = { ...FORM, password: account.person.password, code }
    const other = newAgent(replica)
    for (const name of agent.cookies.names()) other.cookies.set(name, agent.cookies.get(name) ?? '')
    const answers = await Promise.all([agent.post(CONFIRM, form), other.post(CONFIRM, form)])
    // The session that began the other request may be gone by then: it is led to the login, and proves nothing.
    const led = answers.map(({ status, location }) => `${status} ${location ?? ''}`)
    assert.equal(led.filter((to) => to === `303 ${TARGET}`).length, 1, led.join())
  })

  test('a provider alone leads to the code page, and back once the code is right', async () => {
    const { account, agent, signIn } = await withProvider('corp')
    const held = await signIn({ ...FORM, intent: 'confirm' })
    assert.equal(held.location?.split('?')[0], CODE_PAGE)
    assertPage(await agent.get(STEP_UP))
    assertRedirect(await agent.post(CODE_PAGE, { code: await account.nextCode(), return_to: TARGET }), TARGET)
    assert.deepEqual(amrOf(agent), ['fed', 'otp', 'mfa'])
    await signIn({ ...FORM, intent: 'confirm' })
    const [recoveryCode = ''] = account.recoveryCodes
    assertRedirect(await agent.post(CODE_PAGE, { code: recoveryCode, return_to: TARGET }), TARGET)
    assert.deepEqual(amrOf(agent), ['fed', 'mfa'])
    assertRedirect(await signIn({ return_to: TARGET, intent: 'confirm' }), TARGET)
    assert.deepEqual(amrOf(agent), ['fed'])
  })

  test('one that is trusted with the second factor is enough for changes of the account, and not for the application', async () => {
    const { account, agent, signIn } = await withProvider('vouch')
    const held = await signIn({ ...FORM, intent: 'confirm' })
    assert.equal(held.location?.split('?')[0], CODE_PAGE)
    assertRedirect(await signIn({ intent: 'confirm', acr: 'mfa' }), '/auth/account?done=confirmed')
    assert.deepEqual(amrOf(agent), ['fed'])
    assertPage(await agent.get(SECOND_FACTOR_PAGE))
    assertPage(await agent.get(STEP_UP))
    assert.ok(account.id)
  })

  test('one that says that it has asked for two factors is enough', async () => {
    const { agent, signIn } = await withProvider('told')
    assertRedirect(await signIn({ ...FORM, intent: 'confirm' }, { amr: ['pwd', 'mfa'] }), TARGET)
    assert.deepEqual(amrOf(agent), ['fed', 'mfa'])
  })

  test('a passkey is enough by itself, one of another account is refused', async () => {
    for (const [ways, method] of [
      [{ backupEligible: false }, 'hwk'],
      [{ backupEligible: true, backedUp: true }, 'swk'],
    ] as const) {
      const { agent } = await signedUp(service)
      const authenticator = createAuthenticator({ origin: service.url, ...ways })
      await addPasskey(agent, authenticator)
      const { id } = await currentUser(agent)
      await database.rows('UPDATE sessions SET amr = ? WHERE user_id = ?', 'pwd', id)
      const page = await agent.get(STEP_UP)
      assertPage(page)
      assert.match(page.text, /data-passkey="confirm"/)
      const stranger = createAuthenticator({ origin: service.url })
      await addPasskey((await signedUp(service)).agent, stranger)
      const query = `?${new URLSearchParams({ confirm: '1', return_to: TARGET }).toString()}`
      assert.equal((await logInWithPasskey(agent, stranger, {}, query)).status, 401)
      assertPage(await agent.get(STEP_UP))
      const proved = await logInWithPasskey(agent, authenticator, {}, query)
      assert.deepEqual(proved.json(), { redirect_to: TARGET })
      assert.deepEqual(amrOf(agent), [method, 'mfa'])
      assert.ok(isFresh(agent))
    }
  })

  test('a visitor logs in first, and comes back to this page', async () => {
    const { person } = await signedUp(service)
    const visitor = newAgent(service)
    const login = `/auth/login?return_to=${encodeURIComponent(STEP_UP)}`
    assertRedirect(await visitor.get(STEP_UP), login)
    assertRedirect(await visitor.post(CONFIRM, { ...FORM, password: 'x' }), login)
    const { location = '' } = await logIn(visitor, person, { return_to: STEP_UP })
    assert.equal(new URL(location, service.url).searchParams.get('return_to'), TARGET)
    assert.equal(location, STEP_UP)
  })

  test('who has no second factor confirms, sets one up, and is back', async () => {
    const { agent, person } = await signedUp(service)
    await clock.turnTo(clock.aheadMs() + 11 * 60_000)
    const first = await agent.get(STEP_UP)
    assertPage(first)
    assert.doesNotMatch(first.text, /name="code"/)
    assert.match(first.text, /needs two-step verification\. Log in again, then set it up/)
    assertRedirect(await agent.post(CONFIRM, { ...FORM, password: person.password }), STEP_UP)
    const next = `${SECOND_FACTOR_PAGE}?return_to=${encodeURIComponent(STEP_UP)}`
    assertRedirect(await agent.get(STEP_UP), next)
    assertPage(await agent.get(next))
    await setUpApp(agent, clock.now())
    assertRedirect(await agent.get(STEP_UP), TARGET)
    assert.deepEqual(amrOf(agent), ['pwd', 'otp', 'mfa'])
  })

  test('the longest address to return to survives the login and the set-up', async () => {
    const longest = `/${'%20'.repeat(682)}x`
    assert.equal(longest.length, 2048)
    const { agent, person } = await signedUp(service)
    const { location = '' } = await newAgent(service).get(stepUp(longest))
    const login = new URL(location, service.url).searchParams.get('return_to') ?? ''
    assertRedirect(await logIn(newAgent(service), person, { return_to: login }), stepUp(longest))
    const setUp = await agent.get(stepUp(longest))
    assert.equal(setUp.location?.split('?')[0], SECOND_FACTOR_PAGE)
    assertPage(await agent.get(setUp.location ?? ''))
  })

  test('another acr, and an address that leads away, are 400 before anything else', async () => {
    const { agent } = await signedUp(service)
    for (const browser of [agent, newAgent(service)]) {
      for (const query of ['acr=', 'acr=MFA', 'acr=phr', 'acr=mfa&acr=mfa', 'return_to=%2F%2Fevil.example']) {
        assertPage(await browser.get(`${CONFIRM}?${query}`), 400)
      }
    }
    assertPage(await agent.post(CONFIRM, { acr: 'x', password: 'x' }), 400)
    assertPage(await agent.post(CONFIRM, { return_to: 'https://evil.example', password: 'x' }), 400)
  })

  test('an application that is never satisfied gets a page in place of an endless loop', async () => {
    const account = await newAccountWithCodes(at)
    const agent = newAgent(service)
    await logIn(agent, account.person)
    await agent.post(CODE_PAGE, { code: await account.nextCode() })
    for (let count = 0; count < 5; count += 1) assertRedirect(await agent.get(STEP_UP), TARGET)
    assertPage(await agent.get(STEP_UP))
  })
})

describe('without acr', () => {
  const FRESH = `${CONFIRM}?return_to=${encodeURIComponent('/fresh')}`

  test('any sign-in of the last ten minutes is enough, and a password makes one', async () => {
    const { account, agent } = await withCodes()
    assertRedirect(await agent.get(FRESH), '/fresh')
    await clock.turnTo(clock.aheadMs() + 11 * 60_000)
    await agent.refresh()
    const page = await agent.get(FRESH)
    assertPage(page)
    assert.doesNotMatch(page.text, /name="code"/)
    assertRedirect(await agent.post(CONFIRM, { return_to: '/fresh', password: account.person.password }), '/fresh')
    assert.deepEqual(amrOf(agent), ['pwd'])
    assert.ok(isFresh(agent))
  })

  test('the page of the account asks for both, and says that it is done', async () => {
    const { account, agent } = await withCodes()
    assertAsksForBoth((await agent.get(CONFIRM)).text)
    assertPage(await agent.post(CONFIRM, { password: account.person.password, code: '' }), 422)
    const form = { password: account.person.password, code: await account.nextCode() }
    assertRedirect(await agent.post(CONFIRM, form), '/auth/account?done=confirmed')
    assert.deepEqual(amrOf(agent), ['pwd', 'otp', 'mfa'])
  })
})

const assertAsksForBoth = (text: string): void => assert.match(text, /name="password"[^]*name="code"/)

describe('the way back', () => {
  test('a change that needs more leads to step-up, and a page of svc is where it ends', async () => {
    const { account, agent } = await withCodes()
    const asked = await agent.get(SECOND_FACTOR_PAGE)
    assertRedirect(asked, stepUp(SECOND_FACTOR_PAGE))
    const form = { return_to: SECOND_FACTOR_PAGE, acr: 'mfa', password: account.person.password }
    assertRedirect(await agent.post(CONFIRM, { ...form, code: await account.nextCode() }), SECOND_FACTOR_PAGE)
    assertPage(await agent.get(SECOND_FACTOR_PAGE))
  })

  test('a password that was set first leaves the session as it was', async () => {
    const person = { ...newOpenIdUser(), auth_time: Math.floor(clock.now() / 1000) }
    const agent = newAgent(service)
    assertRedirect(await signInBy(agent, 'corp', (url) => corp.visit(url, { person })), '/')
    const before = claimsOf(agent)
    assertRedirect(
      await agent.post('/auth/account/password', { new_password: newPerson().password }),
      '/auth/account?done=password_set',
    )
    await agent.refresh()
    const { amr, auth_time: authTime } = claimsOf(agent)
    assert.deepEqual({ amr, authTime }, { amr: ['fed'], authTime: before.auth_time })
  })
})

describe('with second factors and passkeys switched off', () => {
  test('acr=mfa is 403 with a page that says so, before and after the login', async (t) => {
    const off = await startServiceWith(
      {},
      { env: { SVC_SECOND_FACTOR: 'off', SVC_PASSKEYS: 'off', SVC_OAUTH_PROVIDERS: '' }, t },
    )
    const { agent, person } = await signedUp(off)
    const page = await agent.get(STEP_UP)
    assertPage(page, 403)
    assert.match(page.text, /which \S+ has turned off\./)
    assertPage(await agent.post(CONFIRM, { ...FORM, password: person.password }), 403)
    assertRedirect(await agent.get(`${CONFIRM}?return_to=%2Ffresh`), '/fresh')
    assert.deepEqual(amrOf(await loggedIn(off, person)), ['pwd'])
  })
})
