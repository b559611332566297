// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, loggedIn, newPerson } from '../../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertCannotLogIn,
  assertErrorPage,
  assertPage,
  assertRedirect,
  assertSignedIn,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { statusesOf } from '../../support/provider/provider-service.ts'
import {
  assertDead,
  isVerified,
  openVerify,
  startVerification,
  VERIFY,
  verifyBy,
} from '../../support/recovery/verification.ts'
import { createUser, deleteUser, disableUser, runCommandOf } from '../../support/service/operator-commands.ts'

const { service, smtp, signUp, newAgent, tokenFor } = await startVerification({ mode: 'optional' })

const DONE = '/auth/account?done=email_verified'

/** The owner of the address takes the account over, in a browser of their own. */
const takeOver = async (token: string, password = `new ${newPerson().password}`) => {
  const owner = createUserAgent(service)
  return { owner, password, answer: await verifyBy(owner, token, { new_password: password }) }
}

describe('§4.12 SVC_EMAIL_VERIFICATION=optional', () => {
  test('signup sends a message, and the account works in the meantime', async () => {
    const { agent, person, token } = await signUp()
    assert.equal((await currentUser(agent)).email, person.email)
    assert.equal(await isVerified(agent), false)
    const { subject, link } = await smtp.receivedFor(person.email)
    assert.match(subject, /^Confirm your email address/)
    assert.equal(link, `${service.url}${VERIFY}?token=${token}`)
  })

  test('in the browser that signed up, a press verifies, and the next access token says so', async () => {
    const { agent, person, token } = await signUp()
    const shown = await openVerify(agent, token)
    assertPage(shown)
    assert.ok(
      shown.text.indexOf(person.email) < shown.text.indexOf('<button class="svc-button first"'),
      'above the button',
    )
    assert.equal(shown.headers['referrer-policy'], 'strict-origin')
    assert.equal(await isVerified(agent), false, 'opening the page verifies nothing')
    assertRedirect(await verifyBy(agent, token), DONE)
    assert.equal(await isVerified(agent), true)
    assertDead(await openVerify(agent, token))
    assertDead(await verifyBy(agent, token))
    await assertSignedIn(agent)
  })

  test('the same without a session signs in, and goes on to return_to', async () => {
    const { agent, person, token } = await signUp()
    await agent.post('/auth/logout')
    assertRedirect(await verifyBy(agent, token), '/kept')
    assert.equal((await currentUser(agent)).email, person.email)
  })

  test('scanners that follow the link, by GET and HEAD, verify nothing and use nothing up', async () => {
    const { agent, token } = await signUp()
    for (const method of ['GET', 'HEAD', 'GET'])
      assert.equal((await newAgent().send({ method, path: `${VERIFY}?token=${token}` })).status, 200)
    assert.equal(await isVerified(agent), false)
    assertRedirect(await verifyBy(agent, token), DONE)
  })

  test('in another browser a press verifies nothing', async () => {
    const { agent, person, token } = await signUp()
    const other = newAgent()
    const shown = await openVerify(other, token)
    assert.ok(
      shown.text.indexOf(person.email) < shown.text.indexOf('<button class="svc-button first"'),
      'above the button',
    )
    assertPage(await verifyBy(other, token), 422)
    assertPage(await verifyBy(other, token, { password: '' }), 422)
    await assertSignedOut(other)
    assert.equal(await isVerified(agent), false)
  })

  test('nor in one that is signed in to another account, which the page names', async () => {
    const { token, agent: owner } = await signUp()
    const { agent, person } = await signUp()
    assert.ok((await openVerify(agent, token)).text.includes(person.email))
    assertPage(await verifyBy(agent, token), 422)
    assert.equal((await currentUser(agent)).email, person.email)
    assert.equal(await isVerified(owner), false)
  })

  test('there, the password of the account verifies and signs in, at home; other sessions stay', async () => {
    const { agent, person, token } = await signUp()
    const other = newAgent()
    for (const password of ['wrong', `${person.password} `]) assertPage(await verifyBy(other, token, { password }), 401)
    await assertSignedOut(other)
    assertRedirect(await verifyBy(other, token, { password: person.password }), '/')
    assert.equal(await isVerified(other), true)
    assert.equal(await isVerified(agent), true)
    assertDead(await openVerify(agent, token))
  })

  test('the password of another account proves nothing', async () => {
    const { agent, token } = await signUp()
    const { person: other } = await signUp()
    const visitor = newAgent()
    assertPage(await verifyBy(visitor, token, { password: other.password, email: other.email }), 401)
    await assertSignedOut(visitor)
    assert.equal(await isVerified(agent), false)
  })

  test('a browser with a session of the account proves it too', async () => {
    const { agent, person, token } = await signUp()
    const phone = await loggedIn(service, person)
    assertRedirect(await verifyBy(phone, token), DONE)
    for (const each of [agent, phone]) assert.equal(await isVerified(each), true)
  })

  test('of two presses at once, one verifies, and the other finds that the link was used', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { agent, token } = await signUp()
      const [one, other] = [agent.copy(), agent.copy()]
      const answers = await Promise.all([verifyBy(one, token), verifyBy(other, token)])
      assert.deepEqual(statusesOf(answers), [303, 410])
      assert.equal(await isVerified(answers[0]?.status === 303 ? one : other), true)
    }
  })

  test('a token is good for its purpose only; missing or repeated it is 400, unknown 410', async () => {
    const { agent, token } = await signUp()
    assertDead(await agent.get(`/auth/password/reset?token=${token}`))
    assertErrorPage(await agent.get(VERIFY), 400)
    assertErrorPage(await agent.get(`${VERIFY}?token=${token}&token=${token}`), 400)
    assertErrorPage(await agent.post(VERIFY, {}), 400)
    for (const unknown of ['x', `${token}x`, token.toUpperCase(), '%00', 'x'.repeat(2000)])
      assertDead(await openVerify(agent, unknown))
    assert.equal(await isVerified(agent), false)
  })

  test('the link ends with the account, and with its change of address; a disabled account cannot use it', async () => {
    const [deleted, disabled, changed] = [await signUp(), await signUp(), await signUp()]
    await deleteUser(service, deleted.person.email)
    await disableUser(service, disabled.person.email)
    await runCommandOf(service, ['users', 'set-email', changed.person.email, newPerson().email])
    for (const { agent, token } of [deleted, disabled, changed]) {
      assertDead(await openVerify(agent, token))
      assertDead(await verifyBy(agent, token))
      assertDead(await verifyBy(newAgent(), token, { new_password: 'another pass phrase' }))
    }
    assert.equal(await isVerified(changed.agent), false)
  })

  test('the account page sends the message again, from any browser, and no longer once it is verified', async () => {
    const { agent, person, token } = await signUp()
    const phone = await loggedIn(service, person)
    const resend = (from: typeof agent) => from.post('/auth/account/email/verify')
    assert.match((await phone.get('/auth/account')).text, /action="\/auth\/account\/email\/verify"/)
    assertRedirect(await resend(phone), '/auth/account?done=verification_sent')
    const second = await tokenFor(person.email, 2)
    assert.notEqual(second, token)
    await phone.post('/auth/logout')
    assertPage(await verifyBy(newAgent(), second), 422)
    assertRedirect(await verifyBy(phone, second), '/')
    assertDead(await openVerify(agent, token))
    assert.doesNotMatch((await agent.get('/auth/account')).text, /action="\/auth\/account\/email\/verify"/)
    assertRedirect(await resend(agent), '/auth/account?done=verification_sent')
    const { person: later } = await signUp()
    await smtp.receivedFor(later.email)
    assert.equal(smtp.mails.filter(({ to }) => to === person.email).length, 2)
  })

  test('signup with a taken address is 409, and mails nobody; so does a signup that is refused', async () => {
    const { person } = await signUp()
    const taken = { ...newPerson(), email: person.email }
    assertPage(await newAgent().post('/auth/signup', taken), 409)
    const refused = newPerson()
    assertPage(await newAgent().post('/auth/signup', { ...refused, password: 'short' }), 422)
    const { person: later } = await signUp()
    await smtp.receivedFor(later.email)
    const addresses = smtp.mails.map(({ to }) => to)
    assert.equal(addresses.filter((to) => to === person.email).length, 1)
    assert.ok(!addresses.includes(refused.email))
  })

  test('an account that an operator has made is verified, and gets no message', async () => {
    const person = newPerson()
    await createUser(service, person)
    assert.equal(await isVerified(await loggedIn(service, person)), true)
  })
})

describe('§4.12 taking over by a link', () => {
  test('gives the account to the owner of the address, and ends the password and the sessions', async () => {
    const { agent: attacker, person, token } = await signUp()
    const elsewhere = await loggedIn(service, person)
    const { id } = await currentUser(attacker)
    const { owner, password, answer } = await takeOver(token)
    assertRedirect(answer, '/')
    assert.equal((await currentUser(owner)).id, id)
    assert.equal(await isVerified(owner), true)
    for (const agent of [attacker, elsewhere]) await assertSignedOut(agent)
    await assertCannotLogIn(service, person)
    await assertCanLogIn(service, { ...person, password })
    assert.equal((await smtp.receivedFor(person.email, 2)).to, person.email)
  })

  test('is refused with a bad password, and the link stays good', async () => {
    const { agent, person, token } = await signUp()
    for (const password of ['', 'short', person.email, 'password1234'])
      assertPage((await takeOver(token, password)).answer, 422)
    await assertCanLogIn(service, person)
    assert.equal(await isVerified(agent), false)
    assertRedirect((await takeOver(token)).answer, '/')
  })

  test('at the same moment as the press in the browser that signed up: one of them has the account', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { agent, person, token } = await signUp()
      const [pressed, { owner, answer }] = await Promise.all([verifyBy(agent, token), takeOver(token)])
      assert.deepEqual(statusesOf([pressed, answer]), [303, 410])
      if (answer.status === 303) {
        await assertSignedOut(agent)
        await assertCannotLogIn(service, person)
      } else {
        await assertSignedOut(owner)
        await assertCanLogIn(service, person)
      }
    }
  })

  test('is over once the address is verified: neither an earlier link nor another one takes the account', async () => {
    const { agent, person, token } = await signUp()
    await agent.post('/auth/account/email/verify')
    const second = await tokenFor(person.email, 2)
    assertRedirect(await verifyBy(agent, token), DONE)
    assertDead((await takeOver(second)).answer)
    await assertCanLogIn(service, person)
  })
})
