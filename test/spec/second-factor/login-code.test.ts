// Runs on SQLite.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { decodeJwt } from 'jose'
import { currentUser, logIn, logOut, newAgent, signedUp } from '../../support/client/accounts.ts'
import { assertPage, assertRedirect } from '../../support/client/assertions.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { type AccountWithCodes, newAccountWithCodes } from '../../support/second-factor/account-with-codes.ts'
import { openOperator } from '../../support/service/replicas.ts'
import { startService } from '../../support/service/service.ts'

const clock = turnedClock()
const service = await startService({ clock })
const core = await openOperator(service)
const at = { service, core, clock }

const CODE_PAGE = '/auth/login/code'
const claimsOf = (agent: UserAgent) => decodeJwt(agent.cookies.get('svc_access') ?? '')

/** A browser in which the password was right, and the code is missing. */
const halfWay = async (account: AccountWithCodes, agent = newAgent(service), form = {}) => {
  const answer = await logIn(agent, account.person, form)
  assert.equal(answer.status, 303, answer.text)
  assert.equal(answer.location?.split('?')[0], CODE_PAGE)
  return agent
}

const assertSignedOut = async (agent: UserAgent) => {
  assert.equal(agent.cookies.get('svc_access'), undefined)
  assert.equal((await agent.get('/auth/api/v1/user')).status, 401)
}

describe('the code after a password', () => {
  test('no session before it is right; then the browser goes where it wanted to, and the token says what was proved', async () => {
    const account = await newAccountWithCodes(at)
    const agent = await halfWay(account, newAgent(service), { return_to: '/app?tab=2' })
    await assertSignedOut(agent)
    const shown = await agent.get(`${CODE_PAGE}?return_to=%2Fapp%3Ftab%3D2`)
    assertPage(shown)
    assert.match(shown.text, /name="return_to" value="\/app\?tab=2"/)
    const wrong = await agent.post(CODE_PAGE, { code: account.wrongCode(), return_to: '/app?tab=2' })
    assertPage(wrong, 401)
    assert.match(wrong.text, /aria-invalid="true"/)
    await assertSignedOut(agent)
    const beganS = Math.floor(clock.now() / 1000)
    assertRedirect(
      await agent.post(CODE_PAGE, { code: await account.nextCode(), return_to: '/app?tab=2' }),
      '/app?tab=2',
    )
    const { amr, auth_time: authTime, sub } = claimsOf(agent)
    assert.deepEqual({ amr, sub }, { amr: ['pwd', 'otp', 'mfa'], sub: account.id })
    assert.ok(Math.abs(Number(authTime) - beganS) < 60)
    assert.equal(agent.cookies.get('svc_pending'), undefined)
  })

  test('phones show digits for a code; a recovery code has a field of its own, and what was wrong stands there', async () => {
    const account = await newAccountWithCodes(at)
    const agent = await halfWay(account)
    const { text } = await agent.get(CODE_PAGE)
    assert.match(text, /<input id="code" [^>]*autocomplete="one-time-code"[^>]* inputmode="numeric"/)
    assert.match(text, /<details>\n<summary class="link">[^]*<input id="recovery_code" (?![^>]*inputmode)/)
    assert.match(text, /Trust this device for 30 days</)
    const wrong = await agent.post(CODE_PAGE, { code: '', recovery_code: 'abcd-efgh-jkmn-pqrs' })
    assertPage(wrong, 401)
    assert.match(
      wrong.text,
      /<details open>[^]*That recovery code is wrong[^]*<input id="recovery_code" [^>]*autofocus/,
    )
    assert.doesNotMatch(wrong.text, /<input id="code" [^>]*(?:autofocus|aria-invalid)/)
    const [first = '', ...others] = account.recoveryCodes
    assertRedirect(await agent.post(CODE_PAGE, { code: '', recovery_code: first }), '/')
    for (const code of others)
      assertRedirect(await (await halfWay(account)).post(CODE_PAGE, { recovery_code: code }), '/')
    const last = await (await halfWay(account)).get(CODE_PAGE)
    assert.match(last.text, /<input id="code" /)
    assert.match(last.text, /You have no recovery codes left\./)
    assert.doesNotMatch(last.text, /recovery_code"/)
  })

  test('the sign-in itself knows where it ends', async () => {
    const account = await newAccountWithCodes(at)
    const agent = await halfWay(account, newAgent(service), { return_to: '/orders' })
    assertRedirect(await agent.post(CODE_PAGE, { code: await account.nextCode() }), '/orders')
  })

  test('an address too long for the cookie comes with the form', async () => {
    const account = await newAccountWithCodes(at)
    const returnTo = `/${randomBytes(1000).toString('hex')}`
    const agent = await halfWay(account, newAgent(service), { return_to: returnTo })
    assert.ok((agent.cookies.get('svc_pending') ?? '').length < 3900)
    assertRedirect(await agent.post(CODE_PAGE, { code: await account.nextCode(), return_to: returnTo }), returnTo)
  })

  test('an address of another site is refused', async () => {
    const account = await newAccountWithCodes(at)
    const agent = await halfWay(account)
    const code = await account.nextCode()
    assertPage(await agent.post(CODE_PAGE, { code, return_to: 'https://example.com/' }), 400)
    assertPage(await agent.get(`${CODE_PAGE}?return_to=//example.com`), 400)
    await assertSignedOut(agent)
    assertRedirect(await agent.post(CODE_PAGE, { code }), '/')
  })

  test('a recovery code will do, once', async () => {
    const account = await newAccountWithCodes(at)
    const [code = ''] = account.recoveryCodes
    const agent = await halfWay(account)
    assertRedirect(await agent.post(CODE_PAGE, { code }), '/')
    assert.deepEqual(claimsOf(agent).amr, ['pwd', 'mfa'])
    assertPage(await (await halfWay(account)).post(CODE_PAGE, { code }), 401)
  })

  test('without a code, and with a field that cannot be read, the form says what would do', async () => {
    const account = await newAccountWithCodes(at)
    const agent = await halfWay(account)
    assertPage(await agent.post(CODE_PAGE, { code: ' ' }), 422)
    const strange = await agent.post(CODE_PAGE, { code: await account.nextCode(), trust_browser: 'perhaps' })
    assertPage(strange, 400)
    await assertSignedOut(agent)
  })
})

const assertEnded = async (agent: UserAgent, account: AccountWithCodes) => {
  const shown = await agent.copy().get(`${CODE_PAGE}?return_to=%2Fapp`)
  assert.match(shown.location ?? '', /^\/auth\/login\?(?:done=sign_in_ended&)?return_to=%2Fapp$/)
  const answer = await agent.post(CODE_PAGE, { code: await account.nextCode(), return_to: '/app' })
  assert.equal(answer.status, 303, answer.text)
  assert.match(answer.location ?? '', /^\/auth\/login\?(?:done=sign_in_ended&)?return_to=%2Fapp$/)
  await assertSignedOut(agent)
}

describe('what was proved is good', () => {
  test('once', async () => {
    const account = await newAccountWithCodes(at)
    const agent = await halfWay(account)
    const copy = agent.copy()
    assertRedirect(await agent.post(CODE_PAGE, { code: await account.nextCode() }), '/')
    const again = copy.copy()
    await assertEnded(copy, account)
    const ended = await again.get((await again.get(CODE_PAGE)).location ?? '')
    assert.match(ended.text, /class="box note"[^>]*>Your login ended before it was finished/, 'no tick')
  })

  test('once, for two codes at once', async () => {
    const account = await newAccountWithCodes(at)
    const agent = await halfWay(account)
    const [one = '', other = ''] = account.recoveryCodes
    const answers = await Promise.all([
      agent.copy().post(CODE_PAGE, { code: one }),
      agent.copy().post(CODE_PAGE, { code: other }),
    ])
    const locations = answers.map(({ location }) => location ?? '').sort()
    assert.deepEqual(locations, ['/', '/auth/login?done=sign_in_ended'])
  })

  test('in the browser that began it', async () => {
    const account = await newAccountWithCodes(at)
    const agent = await halfWay(account)
    const thief = newAgent(service)
    thief.cookies.set('svc_pending', agent.cookies.get('svc_pending') ?? '', '/auth')
    await assertEnded(thief, account)
    const guess = newAgent(service)
    guess.cookies.set('svc_pending', agent.cookies.get('svc_pending') ?? '', '/auth')
    guess.cookies.set('svc_link', 'x'.repeat(43), '/auth')
    await assertEnded(guess, account)
  })

  test('for ten minutes', async () => {
    const account = await newAccountWithCodes(at)
    const agent = await halfWay(account)
    const beganMs = clock.aheadMs()
    await clock.turnTo(beganMs + 9 * 60_000)
    assertPage(await agent.get(CODE_PAGE))
    await clock.turnTo(beganMs + 10 * 60_000)
    await assertEnded(agent, account)
  })

  test('until a logout', async () => {
    const account = await newAccountWithCodes(at)
    const agent = await halfWay(account)
    const copy = agent.copy()
    assertRedirect(await logOut(agent), '/')
    assert.equal(agent.cookies.get('svc_pending'), undefined)
    await assertEnded(copy, account)
  })

  test('until the password changes', async () => {
    const account = await newAccountWithCodes(at)
    const agent = await halfWay(account)
    await core.users.setPassword(account.id, 'quite another pass phrase')
    await assertEnded(agent, account)
  })

  test('until the account is disabled, even if it is enabled again', async () => {
    const account = await newAccountWithCodes(at)
    const agent = await halfWay(account)
    await core.users.change(account.id, { disabled: true })
    const copy = agent.copy()
    await assertEnded(copy, account)
    await core.users.change(account.id, { disabled: false })
    await assertEnded(agent, account)
  })

  test('until the account is deleted', async () => {
    const account = await newAccountWithCodes(at)
    const agent = await halfWay(account)
    await core.users.delete(account.id)
    await assertEnded(agent, account)
  })

  test('and nothing else opens the page: another login in this browser takes its place', async () => {
    const account = await newAccountWithCodes(at)
    const agent = await halfWay(account)
    const { person } = await signedUp(service)
    assertRedirect(await logIn(agent, person), '/')
    assert.equal(agent.cookies.get('svc_pending'), undefined)
    assert.equal((await currentUser(agent)).email, person.email)
    assert.equal((await agent.get(CODE_PAGE)).location, '/auth/login')
  })
})

describe('a trusted browser', () => {
  const TRUST = { trust_browser: '1' }
  const enter = async (account: AccountWithCodes, agent = newAgent(service), form: Record<string, string> = TRUST) => {
    await halfWay(account, agent)
    assertRedirect(await agent.post(CODE_PAGE, { code: await account.nextCode(), ...form }), '/')
    return agent
  }

  test('is not asked for the code again; the token then says that a password was proved, and no more', async () => {
    const account = await newAccountWithCodes(at)
    const agent = await enter(account)
    assertRedirect(await logOut(agent), '/')
    assertRedirect(await logIn(agent, account.person), '/')
    assert.deepEqual(claimsOf(agent).amr, ['pwd'])
  })

  test('is trusted where the user asked for it, by this account alone, and after a right code alone', async () => {
    const account = await newAccountWithCodes(at)
    const untrusted = await enter(account, newAgent(service), {})
    await halfWay(account, untrusted)
    assertPage(await untrusted.post(CODE_PAGE, { code: account.wrongCode(), ...TRUST }), 401)
    await halfWay(account, untrusted)
    const other = await newAccountWithCodes(at)
    await halfWay(other, await enter(account))
  })

  test('gets another secret: one that a thief has put there is not trusted', async () => {
    const account = await newAccountWithCodes(at)
    const owner = await enter(account, newAgent(service), {})
    const thief = newAgent(service)
    thief.cookies.set('svc_device', owner.cookies.get('svc_device') ?? '', '/auth')
    await enter(account, owner, TRUST)
    assert.notEqual(owner.cookies.get('svc_device'), thief.cookies.get('svc_device'))
    assertRedirect(await logIn(thief, account.person), CODE_PAGE)
    await logOut(owner)
    assertRedirect(await logIn(owner, account.person), '/')
  })

  test('is trusted for SVC_TRUSTED_BROWSER_TTL', async () => {
    const account = await newAccountWithCodes(at)
    const agent = await enter(account)
    const beganMs = clock.aheadMs()
    await clock.turnTo(beganMs + 719 * 3_600_000)
    assertRedirect(await logIn(agent, account.person), '/')
    await clock.turnTo(beganMs + 721 * 3_600_000)
    await halfWay(account, agent)
  })
})

describe('"Forget all" of trusted devices', () => {
  test('is on the account page while there are some; then every browser is asked again', async () => {
    const account = await newAccountWithCodes(at)
    const agent = await halfWay(account)
    assertRedirect(await agent.post(CODE_PAGE, { code: await account.nextCode(), trust_browser: '1' }), '/')
    assert.match((await agent.get('/auth/account')).text, /1 device skips the code/)
    assertPage(await agent.post('/auth/account/browsers', { forget_trusted: '2' }), 400)
    assertRedirect(
      await agent.post('/auth/account/browsers', { forget_trusted: '1' }),
      '/auth/account?done=trusted_browsers_forgotten',
    )
    assert.doesNotMatch((await agent.get('/auth/account')).text, /1 device skips the code/)
    await halfWay(account, agent)
  })
})
