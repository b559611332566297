// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, loggedIn, logOut, newPerson } from '../../support/client/accounts.ts'
import { assertErrorPage, assertPage, assertRedirect, assertSignedOut } from '../../support/client/assertions.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { ASK, CODE, openLink, pressLink, startSignInByMail, typeCode } from '../../support/recovery/sign-in-by-mail.ts'
import { tokenOf } from '../../support/recovery/reset.ts'
import { setUpCodes } from '../../support/second-factor/account-with-codes.ts'
import { storePasskey } from '../../support/second-factor/guarded-account.ts'
import { accessToken, claimsOf } from '../../support/service/access-tokens.ts'
import { runCommandOf, runJsonCommandOf } from '../../support/service/operator-commands.ts'

const clock = turnedClock()
const { service, database, smtp, core, newUser, newAgent } = await startSignInByMail({
  env: { SVC_EMAIL_SIGN_IN: 'off' },
  clock,
})

const linkFor = async (name: string) => {
  const { url, expires_at: expiresAt } = await runJsonCommandOf<{ url: string; expires_at: string }>(service, [
    'users',
    'sign-in-link',
    name,
  ])
  return { token: tokenOf(url), url, expiresAt }
}

describe('svc users sign-in-link', () => {
  test('prints a link that signs in once, in any browser, while users do not sign in by mail', async () => {
    const user = await newUser()
    const { token, url } = await linkFor(user.username)
    assert.match(url, new RegExp(`^${service.url}/auth/login/email/link\\?token=[\\w-]{43}$`))
    const agent = newAgent()
    assert.match((await openLink(agent, token)).text, /An administrator made this link/)
    assertRedirect(await pressLink(agent, token), '/')
    assert.equal((await currentUser(agent)).id, user.id)
    assert.deepEqual(claimsOf(accessToken(agent)).amr, ['otp'])
    assertPage(await pressLink(newAgent(), token), 410)
    for (const path of [ASK, CODE]) assertErrorPage(await newAgent().get(path), 404)
    assertErrorPage(await newAgent().post(ASK, { email: user.email }), 404)
  })

  test('is recorded, and the user is told', async () => {
    const user = await newUser()
    await linkFor(user.email)
    const notice = await smtp.receivedFor(user.email)
    assert.match(notice.subject, /A login link for your account was created/)
    assert.match(notice.text, /By: An administrator/)
    assert.doesNotMatch(notice.text, /token=/)
    const records = await database.rows(
      `SELECT type, actor FROM audit_events WHERE user_id = ? AND type LIKE 'login%'`,
      user.id,
    )
    assert.deepEqual(
      records.map((row) => ({ ...row })),
      [{ type: 'login.link_created', actor: 'cli' }],
    )
  })

  test('is good for ten minutes', async () => {
    const user = await newUser()
    const { token, expiresAt } = await linkFor(user.email)
    assert.ok(Math.abs(Date.parse(expiresAt) - clock.now() - 600_000) < 60_000)
    await clock.turnTo(clock.aheadMs() + 601_000)
    assertPage(await openLink(newAgent(), token), 410)
  })

  test('proves nothing about the address: an unverified account stays as it is', async () => {
    const user = await newUser({ emailVerified: false })
    const { token } = await linkFor(user.email)
    const agent = newAgent()
    assert.doesNotMatch((await openLink(agent, token)).text, /All earlier ways/)
    assertRedirect(await pressLink(agent, token), '/')
    assert.equal(claimsOf(accessToken(agent)).email_verified, false)
    await loggedIn(service, user)
  })

  test('asks for the second factor, in a trusted browser too', async () => {
    const user = await newUser()
    const app = await setUpCodes({ core, clock }, { id: user.id, person: user })
    const agent = newAgent()
    await agent.post('/auth/login', { email: user.email, password: user.password })
    await agent.post('/auth/login/code', { code: await app.nextCode(), trust_browser: '1' })
    await logOut(agent)
    assertRedirect(await pressLink(agent, (await linkFor(user.email)).token), '/auth/login/code')
    await assertSignedOut(agent)
  })

  test('enters no account with a passkey in an unknown browser, and says so', async () => {
    const user = await newUser()
    await storePasskey(core, user.id)
    const { stderr, stdout } = await service.cli(['users', 'sign-in-link', user.email])
    assert.match(stderr, /has a passkey/)
    assertPage(await pressLink(newAgent(), tokenOf(stdout.trim())), 403)
  })

  test('is refused for nobody, a disabled account, and one that nobody has entered', async () => {
    const user = await newUser()
    await core.users.change(user.id, { disabled: true })
    const invited = newPerson()
    await runCommandOf(service, ['users', 'invite', invited.email])
    for (const [name, reason] of [
      ['nobody@example.com', /nobody@example\.com/],
      [user.email, /disabled/],
      [invited.email, /svc users invite/],
    ] as const) {
      const { code, stderr } = await service.cli(['users', 'sign-in-link', name])
      assert.equal(code, 1)
      assert.match(stderr, reason)
    }
  })
})

test('while users do not sign in by mail, the login page does not offer it', async () => {
  assert.doesNotMatch((await newAgent().get('/auth/login')).text, /Email me a code/)
})

test('SVC_EMAIL_SIGN_IN_WITH_PASSKEY=always: a code in every browser', async (t) => {
  const always = await startSignInByMail({ env: { SVC_EMAIL_SIGN_IN_WITH_PASSKEY: 'always' }, t })
  const user = await always.newUser()
  await storePasskey(always.core, user.id)
  const agent = always.newAgent()
  const { code } = await always.asked(agent, user.email)
  assertRedirect(await typeCode(agent, code), '/')
})
