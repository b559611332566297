// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, loggedIn, newPerson } from '../../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertCannotLogIn,
  assertPage,
  assertRedirect,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import { newGitHubPerson, startGitHubServer } from '../../support/provider/github-server.ts'
import { startServiceWith } from '../../support/provider/provider-service.ts'
import { signInBy } from '../../support/provider/provider-sign-in.ts'
import { tokenOf } from '../../support/recovery/reset.ts'
import { assertDead, isVerified, openVerify, startVerification, verifyBy } from '../../support/recovery/verification.ts'
import { createUser, runCommandOf, setRoles, showUser } from '../../support/service/operator-commands.ts'

const github = await startGitHubServer()
const { service, smtp, database, signUp, newAgent } = await startVerification({
  mode: 'optional',
  start: (options) => startServiceWith({ github }, options),
})

const newPassword = () => `owned ${newPerson().password}`

/**
 * An attacker has signed up with the address of another person, and has prepared every way back in. `forgotten` is a
 * link that they have asked for by "Forgot your password?", and `other` the address that they want to change to.
 */
const prepared = async () => {
  const { agent, person, token } = await signUp()
  const { id } = await currentUser(agent)
  const octo = newGitHubPerson()
  const visit = (url: string) => github.visit(url, { person: octo })
  assertRedirect(await signInBy(agent, 'github', visit, { intent: 'link' }), '/auth/account?done=linked')
  await setRoles(service, id, ['admin'])
  const other = newPerson().email
  assertRedirect(await agent.post('/auth/account/email', { email: other }), '/auth/account?done=email_requested')
  const change = tokenOf((await smtp.receivedFor(other)).link)
  const elsewhere = await loggedIn(service, person)
  return { attacker: agent, elsewhere, person, token, id, visit, change }
}

type Prepared = Awaited<ReturnType<typeof prepared>>

/** The account is the owner's, and nothing that the attacker has prepared leads into it. */
const assertTakenOver = async (
  { attacker, elsewhere, person, id, visit, change, token }: Prepared,
  owner: typeof attacker,
) => {
  assert.equal((await currentUser(owner)).id, id)
  assert.equal(await isVerified(owner), true)
  for (const agent of [attacker, elsewhere]) {
    await assertSignedOut(agent)
    assert.equal((await agent.refresh()).status, 401)
  }
  await assertCannotLogIn(service, person)
  assert.deepEqual((await currentUser(owner)).roles, [])
  assert.deepEqual((await showUser(service, id)).roles, [])
  assert.deepEqual(await database.rows('SELECT id FROM identities WHERE user_id = ?', id), [])
  const back = newAgent()
  await signInBy(back, 'github', visit)
  assert.notEqual((await currentUser(back)).id, id)
  for (const agent of [attacker, newAgent()]) assertDead(await verifyBy(agent, change))
  assert.equal((await currentUser(owner)).email, person.email)
  assertDead(await verifyBy(attacker, token))
  const live = await database.rows('SELECT purpose FROM links WHERE user_id = ? AND ended_at IS NULL', id)
  assert.deepEqual(live, [], 'no link of the account is good')
  const known = await database.rows('SELECT device_hash FROM known_browsers WHERE user_id = ?', id)
  assert.equal(known.length, 1, 'the browser of the owner alone')
  const sessions = await database.rows('SELECT id FROM sessions WHERE user_id = ?', id)
  assert.equal(sessions.length, 1)
}

describe('§4.12 an attacker who signs up first, with the address of another person', () => {
  test('gains nothing by a press of its owner: not in their browser, and not in one with an account of theirs', async () => {
    const it = await prepared()
    const owner = newAgent()
    await openVerify(owner, it.token)
    assertPage(await verifyBy(owner, it.token), 422)
    const { agent } = await signUp()
    assertPage(await verifyBy(agent, it.token), 422)
    for (const each of [it.attacker, it.elsewhere]) assert.equal(await isVerified(each), false)
  })

  test('loses the account when its owner takes it over by the link', async () => {
    const it = await prepared()
    const owner = newAgent()
    const password = newPassword()
    assertRedirect(await verifyBy(owner, it.token, { new_password: password }), '/')
    await assertTakenOver(it, owner)
    await assertCanLogIn(service, { ...it.person, password })
  })

  test('loses it when the owner resets its password', async () => {
    const it = await prepared()
    const owner = newAgent()
    assertPage(await owner.post('/auth/password/forgot', { email: it.person.email }))
    const mails = () => smtp.mails.filter(({ to, text }) => to === it.person.email && text.includes('/password/reset'))
    while (mails().length === 0) await smtp.received(smtp.mails.length + 1)
    const token = tokenOf(mails()[0]?.link ?? '')
    assertRedirect(await owner.post('/auth/password/reset', { token, password: newPassword() }), '/')
    await assertTakenOver(it, owner)
  })

  test('gains nothing by the cookie of the browser that asked, which other browsers do not have', async () => {
    const it = await prepared()
    const owner = newAgent()
    owner.cookies.set('svc_link', 'x'.repeat(43))
    assertPage(await verifyBy(owner, it.token), 422)
    owner.cookies.set('svc_link', '')
    assertPage(await verifyBy(owner, it.token), 422)
    assert.equal(await isVerified(it.attacker), false)
  })

  test('an account that an operator has made keeps its roles, and loses the rest', async () => {
    const person = newPerson()
    await createUser(service, person)
    const { email } = newPerson()
    await runCommandOf(service, ['users', 'set-email', person.email, email])
    await setRoles(service, email, ['editor'])
    const attacker = await loggedIn(service, { ...person, email })
    await attacker.post('/auth/account/email/verify')
    const token = tokenOf((await smtp.receivedFor(email, 2)).link)
    const owner = newAgent()
    assertRedirect(await verifyBy(owner, token, { new_password: newPassword() }), '/')
    assert.deepEqual((await currentUser(owner)).roles, ['editor'])
    await assertSignedOut(attacker)
    await assertCannotLogIn(service, { ...person, email })
  })
})

test('§4.12 with `required`, a connected provider leads to a message too, unless the email is verified', async (t) => {
  const own = await startVerification({
    mode: 'optional',
    start: (options) => startServiceWith({ github }, options),
    t,
  })
  const { agent, person, token } = await own.signUp()
  const octo = newGitHubPerson()
  const visit = (url: string) => github.visit(url, { person: octo })
  assertRedirect(await signInBy(agent, 'github', visit, { intent: 'link' }), '/auth/account?done=linked')
  await own.service.restart({ env: { SVC_EMAIL_VERIFICATION: 'required' } })
  const browser = own.newAgent()
  const asked = await signInBy(browser, 'github', visit, { return_to: '/kept' })
  assertPage(asked)
  assert.match(asked.text, /<h1>Check your mail<\/h1>/)
  await assertSignedOut(browser)
  assertPage(await verifyBy(browser, token), 422)
  const mails = () => own.smtp.mails.filter(({ to, text }) => to === person.email && text.includes('/email/verify'))
  while (mails().length < 2) await own.smtp.received(own.smtp.mails.length + 1)
  assertRedirect(await verifyBy(browser, tokenOf(mails()[1]?.link ?? '')), '/kept')
  assert.equal(await isVerified(browser), true)
  assertRedirect(await signInBy(own.newAgent(), 'github', visit), '/')
})
