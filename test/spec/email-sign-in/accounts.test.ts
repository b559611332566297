// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, loggedIn, logIn, logOut, newPerson, signedUp } from '../../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertCannotLogIn,
  assertPage,
  assertRedirect,
  assertSignedIn,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { invite } from '../../support/recovery/invitation.ts'
import { LINK, openLink, pressLink, startSignInByMail, typeCode } from '../../support/recovery/sign-in-by-mail.ts'
import { setUpCodes } from '../../support/second-factor/account-with-codes.ts'
import { eventually } from '../../support/wait.ts'
import { accessToken, claimsOf } from '../../support/service/access-tokens.ts'
import { storePasskey } from '../../support/second-factor/guarded-account.ts'

const clock = turnedClock()
const { service, database, smtp, core, asked, askedForMail, newUser, newAgent } = await startSignInByMail({
  env: { SVC_AFTER_SIGNUP_URL: '/welcome' },
  clock,
})

const subjectsFor = (email: string): string[] => smtp.mails.filter(({ to }) => to === email).map((mail) => mail.subject)

const isVerified = (agent: UserAgent): unknown => claimsOf(accessToken(agent)).email_verified

describe('§4.21 an account that nobody has proved', () => {
  test('becomes that of the owner of its address, whose browser has not signed up', async () => {
    const { agent: attacker, person } = await signedUp(service)
    const { id } = await currentUser(attacker)
    await core.users.change(id, { roles: ['editor'] })
    const owner = newAgent()
    const { code, mail } = await asked(owner, person.email)
    assert.match(mail.text, /Nobody has confirmed this address yet/)
    assertRedirect(await typeCode(owner, code), '/')
    const user = await currentUser(owner)
    assert.deepEqual([user.id, user.roles, isVerified(owner)], [id, [], true])
    await assertSignedOut(attacker)
    await assertCannotLogIn(service, person)
    await eventually('the notice', () => subjectsFor(person.email).includes('This account is now yours'))
  })

  test('a passkey of the former holder neither keeps the owner out, nor stays', async () => {
    const { agent: attacker, person } = await signedUp(service)
    const { id } = await currentUser(attacker)
    const passkeyId = await storePasskey(core, id)
    const owner = newAgent()
    const { token } = await asked(owner, person.email)
    const other = newAgent()
    assert.match((await openLink(other, token)).text, /All earlier ways to log in/)
    assertRedirect(await pressLink(other, token), '/')
    assert.deepEqual(await database.rows('SELECT id FROM passkeys WHERE id = ?', passkeyId), [])
  })

  test('is verified, and keeps everything, in the browser that signed up', async () => {
    const { agent, person } = await signedUp(service)
    const elsewhere = await loggedIn(service, person)
    await logOut(agent)
    const { code, token } = await asked(agent, person.email)
    assert.doesNotMatch((await openLink(agent, token)).text, /All earlier ways to log in/)
    assertRedirect(await typeCode(agent, code), '/')
    assert.equal(isVerified(agent), true)
    await assertSignedIn(elsewhere)
    await assertCanLogIn(service, person)
  })

  test('is verified, and keeps everything, where a session of it is', async () => {
    const { agent, person } = await signedUp(service)
    const second = await loggedIn(service, person)
    const { token } = await asked(newAgent(), person.email)
    assert.doesNotMatch((await openLink(second, token)).text, /All earlier ways to log in/)
    assertRedirect(await pressLink(second, token), '/')
    assert.equal(isVerified(second), true)
    await assertSignedIn(agent)
    await assertCanLogIn(service, person)
  })
})

describe('§4.21 an address without an account', () => {
  test('gets one by the code, in the browser that asked: verified, and without a password', async () => {
    const { email } = newPerson()
    const agent = newAgent()
    const { code, mail } = await asked(agent, email, { return_to: '/kept' })
    assert.match(mail.text, /This email address has no account yet/)
    assertRedirect(await typeCode(agent, code), '/welcome?return_to=%2Fkept')
    const user = await currentUser(agent)
    assert.deepEqual([user.email, isVerified(agent), claimsOf(accessToken(agent)).amr], [email, true, ['otp']])
    assert.equal(await core.users.hasPassword(user.id), false)
    const events = await database.rows('SELECT type FROM webhook_events WHERE user_id = ?', user.id)
    assert.deepEqual(events, [])
    const records = await database.rows('SELECT type, details FROM audit_events WHERE user_id = ? ORDER BY id', user.id)
    assert.deepEqual(
      records.map(({ type, details }) => [type, JSON.parse(String(details)).method]),
      [
        ['signup', 'email_code'],
        ['login.succeeded', 'email_code'],
      ],
    )
  })

  test('gets one by the link, wherever it is pressed, and none by opening it', async () => {
    const { email } = newPerson()
    const { token, code } = await asked(newAgent(), email)
    const other = newAgent()
    const shown = await openLink(other, token)
    assert.match(shown.text, /This creates an account for/)
    assert.equal(await core.users.find(email), undefined)
    assertRedirect(await pressLink(other, token), '/welcome')
    assert.equal((await currentUser(other)).email, email)
    assertPage(await typeCode(newAgent(), code), 401)
  })

  test('one account, by the first of several messages: the others are told that the message is no longer good', async () => {
    const { email } = newPerson()
    const [one, other] = [newAgent(), newAgent()]
    const [first, second] = [await asked(one, email), await asked(other, email)]
    assertRedirect(await typeCode(one, first.code), '/welcome')
    assertPage(await typeCode(other, second.code), 401)
    assertPage(await pressLink(other, second.token), 410)
  })
})

describe('§4.21 an invited account', () => {
  test('is entered by a code, as by a provider, and keeps its roles', async () => {
    const { email } = newPerson()
    const { user } = await invite(service, email, '--role', 'editor')
    const agent = newAgent()
    const { code } = await asked(agent, email)
    assertRedirect(await typeCode(agent, code), '/welcome')
    assert.deepEqual([(await currentUser(agent)).id, (await currentUser(agent)).roles], [user.id, ['editor']])
    assert.equal((await core.users.find(email))?.invitedAtMs, undefined)
  })
})

const withApp = async () => {
  const user = await newUser()
  return { user, app: await setUpCodes({ core, clock }, { id: user.id, person: user }) }
}

describe('§4.21 an account with a second factor', () => {
  test('is asked for it after the code, and the session says both', async () => {
    const { user, app } = await withApp()
    const agent = newAgent()
    const { code } = await asked(agent, user.email, { return_to: '/kept' })
    assertRedirect(await typeCode(agent, code), '/auth/login/code?return_to=%2Fkept')
    await assertSignedOut(agent)
    assertRedirect(await agent.post('/auth/login/code', { code: await app.nextCode() }), '/kept')
    assert.deepEqual(claimsOf(accessToken(agent)).amr, ['otp', 'mfa'])
  })

  test('is asked for it after the link, and both are used up by then', async () => {
    const { user, app } = await withApp()
    const agent = newAgent()
    const { code, token } = await asked(agent, user.email)
    const other = newAgent()
    assertRedirect(await pressLink(other, token), '/auth/login/code')
    assertPage(await typeCode(agent, code), 401)
    assertRedirect(await other.post('/auth/login/code', { code: app.recoveryCodes[0] ?? '' }), '/')
    assert.deepEqual(claimsOf(accessToken(other)).amr, ['otp', 'mfa'])
  })

  test('is not asked in a trusted browser, as after a password', async () => {
    const { user, app } = await withApp()
    const agent = newAgent()
    assertRedirect(await logIn(agent, user), '/auth/login/code')
    await agent.post('/auth/login/code', { code: await app.nextCode(), trust_browser: '1' })
    await logOut(agent)
    const { code } = await asked(agent, user.email)
    assertRedirect(await typeCode(agent, code), '/')
    assert.deepEqual(claimsOf(accessToken(agent)).amr, ['otp'])
  })
})

const withPasskey = async () => {
  const user = await newUser()
  const known = await loggedIn(service, user)
  await storePasskey(core, user.id)
  return { user, known }
}

describe('§4.21 an account with a passkey', () => {
  test('gets no code in an unknown browser, and the page is the usual one', async () => {
    const { user } = await withPasskey()
    const agent = newAgent()
    const { mail, token } = await askedForMail(agent, user.email)
    assert.match(mail.subject, /with your passkey/)
    assert.doesNotMatch(mail.text, /\b\d{8}\b/)
    assertPage(await typeCode(agent, '12345678'), 401)
    assertPage(await openLink(agent, token), 403)
    assertPage(await pressLink(agent, token), 403)
    await assertSignedOut(agent)
  })

  test('its link works in a known browser, after an unknown one has tried: nothing was spent', async () => {
    const { user, known } = await withPasskey()
    await logOut(known)
    const stranger = newAgent()
    const { token } = await askedForMail(stranger, user.email)
    assertPage(await pressLink(stranger, token), 403)
    assertPage(await openLink(known, token))
    assertRedirect(await pressLink(known, token), '/')
    assert.equal((await currentUser(known)).id, user.id)
  })

  test('gets a code in a browser that it knows', async () => {
    const { user, known } = await withPasskey()
    await logOut(known)
    const { code } = await asked(known, user.email)
    assertRedirect(await typeCode(known, code), '/')
  })

  test('a passkey that is added after the message: the code is refused, and stays good', async () => {
    const user = await newUser()
    const agent = newAgent()
    const { code, token } = await asked(agent, user.email)
    const id = await storePasskey(core, user.id)
    for (let tries = 1; tries <= 6; tries += 1) assertPage(await typeCode(agent, code), 403)
    assertPage(await agent.get(`${LINK}?token=${token}`), 403)
    await database.rows('DELETE FROM passkeys WHERE id = ?', id)
    assertRedirect(await typeCode(agent, code), '/')
  })
})

describe('§4.21 the notice of a new browser', () => {
  test('comes after a sign-in by mail in a browser that the account does not know, and in no other', async () => {
    const user = await newUser()
    const agent = newAgent()
    const { code } = await asked(agent, user.email)
    await typeCode(agent, code)
    await eventually('the notice', () => subjectsFor(user.email).includes('New login to localhost'))
    await logOut(agent)
    const again = await asked(agent, user.email)
    await typeCode(agent, again.code)
    await asked(agent, user.email)
    assert.equal(subjectsFor(user.email).filter((subject) => /New login/.test(subject)).length, 1)
  })
})
