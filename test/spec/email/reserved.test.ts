// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import { assertCanLogIn, assertPage, assertRedirect } from '../../support/client/assertions.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { askFor, asked, changed, confirm, startMailedService, UNDO, undo } from '../../support/email/email-change.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { assertNoSession, statusesOf } from '../../support/provider/provider-service.ts'
import { failureOf } from '../../support/provider/provider-failure-page.ts'
import { signInBy } from '../../support/provider/provider-sign-in.ts'
import { resetBy, tokenOf } from '../../support/recovery/reset.ts'
import { at, startReplicas } from '../../support/service/replicas.ts'

const HOUR = 3_600_000

const corp = await startOpenIdProvider()
const clock = turnedClock()
const mailed = await startMailedService({ providers: { corp }, clock })
const { service, smtp, operator, newUser, tokenTo } = mailed
const newAgent = () => createUserAgent(service)

/** An account whose address was changed by its user. */
const moved = async () => {
  const user = await newUser()
  const { email } = newPerson()
  await changed(mailed, user.agent, email)
  return { ...user, email, old: user.person.email, token: await tokenTo(user.person.email, 2) }
}

const signUpWith = (email: string) => signUp(newAgent(), { ...newPerson(), email })

describe('§4.11 an old address is taken for everybody else, while it can be put back', () => {
  test('at signup, in any case, and for the command line', async () => {
    const { old, token, person } = await moved()
    for (const email of [old, old.toUpperCase()]) {
      const answer = await signUpWith(email)
      assertPage(answer, 409)
      assert.match(answer.text, /This email address already has an account/)
    }
    const created = await service.cli(['users', 'create', old], { input: newPerson().password })
    assert.equal(created.code, 1)
    const { person: other } = await newUser()
    const moving = await service.cli(['users', 'set-email', other.email, old])
    assert.equal(moving.code, 1)
    assert.match(moving.stderr, /Another account has this email address/)
    const invited = await service.cli(['users', 'invite', old])
    assert.equal(invited.code, 1, invited.stdout)
    assertRedirect(await undo(newAgent(), token, person.password), '/')
    await assertCanLogIn(service, person)
    await assertCanLogIn(service, other)
  })

  test('for another account that asks for it: it gets the message without a link', async () => {
    const { old } = await moved()
    const { agent } = await newUser()
    assertRedirect(await askFor(agent, old), '/auth/account?done=email_requested')
    const told = await smtp.receivedFor(old, 3)
    assert.equal(told.subject, 'This address can’t be used yet')
    assert.deepEqual(
      told.links.filter((link) => link.includes('token=')),
      [],
    )
  })

  test('for a link that was sent to it before it was reserved', async () => {
    const [first, second] = [await newUser(), await newUser()]
    const early = newPerson().email
    const token = await asked(mailed, second.agent, early)
    await askFor(first.agent, early)
    assert.equal((await confirm(first.agent, await tokenTo(early, 2))).status, 200)
    await changed(mailed, first.agent, newPerson().email)
    assertPage(await confirm(second.agent, token), 409)
  })

  test('for a user who comes from a provider with it, and the page says so', async () => {
    const { old } = await moved()
    const agent = newAgent()
    const person = newOpenIdUser({ email: old })
    const answer = await signInBy(agent, 'corp', (url) => corp.visit(url, { person }))
    assertNoSession(agent, answer, 409)
    assert.match(answer.text, /An account used it until recently and can still take it back\./)
    assert.equal((await failureOf(service, answer)).problem, 'email_reserved')
  })

  test('and not for the account itself', async () => {
    const { old, agent, id } = await moved()
    await askFor(agent, old)
    assert.equal((await confirm(agent, await tokenTo(old, 3))).status, 200)
    assert.equal((await operator.users.find(id))?.email, old)
  })
})

describe('§4.11 the time to undo a change ends', () => {
  test('72 hours after the change, for both links; then the old address is free', async () => {
    const { old, token } = await moved()
    const atRequest = await tokenTo(old)
    await clock.turnTo(72 * HOUR - 60_000)
    for (const each of [token, atRequest]) assertPage(await newAgent().get(`${UNDO}?token=${each}`))
    assertPage(await signUpWith(old), 409)
    await clock.turnTo(72 * HOUR + 1000)
    for (const each of [token, atRequest]) {
      assertPage(await newAgent().get(`${UNDO}?token=${each}`), 410)
      assertPage(await undo(newAgent(), each, newPerson().password), 410)
    }
    assert.equal((await signUpWith(old)).status, 303)
    await clock.turnTo(0)
  })

  test('before the change: as long as it can be confirmed, and 72 hours more', async () => {
    const { agent, person } = await newUser()
    const request = await asked(mailed, agent, newPerson().email)
    const token = await tokenTo(person.email)
    await clock.turnTo(24 * HOUR + 1000)
    assertPage(await confirm(agent, request), 410)
    await clock.turnTo(96 * HOUR - 60_000)
    assertPage(await newAgent().get(`${UNDO}?token=${token}`))
    await clock.turnTo(96 * HOUR + 1000)
    assertPage(await newAgent().get(`${UNDO}?token=${token}`), 410)
    await clock.turnTo(0)
  })

  test('with a take-over, by the first proof of an address that an operator has set', async () => {
    const { id, person } = await newUser()
    const { email } = newPerson()
    await operator.users.setEmail(id, email, { emailVerified: false })
    const mail = await smtp.receivedFor(person.email)
    const { url } = await operator.links.reset.createByOperator(id, { isMailed: false })
    assertPage(await signUpWith(person.email), 409)
    assert.equal((await resetBy(newAgent(), tokenOf(url), newPerson().password)).status, 303)
    assertPage(await undo(newAgent(), tokenOf(mail.link), newPerson().password), 410)
    assert.equal((await signUpWith(person.email)).status, 303)
  })
})

test('§4.11 of a change and a signup at the same moment on two replicas, one gets the address', async (t) => {
  const replicas = await startReplicas({ t, env: { ...smtp.env, SVC_EMAIL_VERIFICATION: 'off' } })
  for (let round = 0; round < 6; round += 1) {
    const [one, other] = round % 2 ? replicas : [replicas[1], replicas[0]]
    const { agent, person } = await signedUp(one)
    const { email } = newPerson()
    await askFor(agent, email)
    const token = await tokenTo(email)
    const rival = { ...newPerson(), email }
    const answers = await Promise.all([confirm(agent, token), signUp(createUserAgent(other), rival)])
    assert.ok([`200,409`, `303,409`].includes(statusesOf(answers).join()), statusesOf(answers).join())
    const isMoved = answers[0].status === 200
    await assertCanLogIn(other, isMoved ? { ...person, email } : rival)
    if (!isMoved) assert.equal((await at(other, agent).get('/auth/account')).text.includes(person.email), true)
  }
})
