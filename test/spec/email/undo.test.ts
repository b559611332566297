// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, loggedIn, newPerson, signUp } from '../../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertCannotLogIn,
  assertPage,
  assertRedirect,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabase } from '../../support/database/database.ts'
import {
  askFor,
  asked,
  changed,
  confirm,
  type MailedUser,
  startMailedService,
  UNDO,
  undo,
} from '../../support/email/email-change.ts'
import { startOpenIdProvider } from '../../support/provider/openid-provider.ts'
import { newOpenIdUser } from '../../support/provider/openid-provider-users.ts'
import { statusesOf } from '../../support/provider/provider-service.ts'
import { signInBy } from '../../support/provider/provider-sign-in.ts'
import { resetBy, tokenOf } from '../../support/recovery/reset.ts'

const corp = await startOpenIdProvider()
const mailed = await startMailedService({ providers: { corp } })
const { service, smtp, operator, newUser, tokenTo } = mailed
const database = await openDatabase(service)
const newAgent = () => createUserAgent(service)

/** Connects a provider; resolves to what signs in with it. */
const connect = async ({ agent }: Pick<MailedUser, 'agent'>) => {
  const person = newOpenIdUser()
  const visit = (url: string) => corp.visit(url, { person })
  assertRedirect(await signInBy(agent, 'corp', visit, { intent: 'link' }), '/auth/account?done=linked')
  return { email: person.email }
}

const providersOf = async (id: string) =>
  (await database.rows('SELECT email FROM identities WHERE user_id = ? ORDER BY id', id)).map(({ email }) => email)

/**
 * The tokens that undo a change, that of the request first, once so many messages have arrived: messages may overtake one
 * another, and one has told a new address of the change before.
 */
const undoTokensTo = async (address: string, messages: number): Promise<string[]> => {
  await smtp.receivedFor(address, messages)
  const undoing = smtp.mails.filter(({ to, text }) => to === address && text.includes(`${UNDO}?token=`))
  return undoing.toSorted((one, other) => one.subject.localeCompare(other.subject)).map(({ link }) => tokenOf(link))
}

/** An account whose address was changed; tokens undo the change, from the request and from the change itself. */
const moved = async () => {
  const user = await newUser()
  const { email } = newPerson()
  await changed(mailed, user.agent, email)
  const [atRequest, atChange] = [await tokenTo(user.person.email), await tokenTo(user.person.email, 2)]
  return { ...user, email, atRequest, atChange }
}

/** The same, and the address was changed once more. */
const movedTwice = async () => {
  const first = await moved()
  const { email } = newPerson()
  await changed(mailed, first.agent, email)
  return { ...first, third: email, ofSecond: await undoTokensTo(first.email, 4) }
}

const emailOf = async (id: string) => (await operator.users.find(id))?.email
const isDead = async (token: string) => (await newAgent().get(`${UNDO}?token=${token}`)).status === 410

describe('§4.11 undo before the change', () => {
  test('ends the request and every session, and logs in with a new password', async () => {
    const { agent, person, id } = await newUser()
    const other = await loggedIn(service, person)
    const { email } = newPerson()
    const request = await asked(mailed, agent, email)
    const token = await tokenTo(person.email)
    const browser = newAgent()
    const shown = await browser.get(`${UNDO}?token=${token}`)
    assertPage(shown)
    assert.equal(shown.headers['referrer-policy'], 'strict-origin')
    assert.ok(shown.text.indexOf(person.email) < shown.text.indexOf('<button class="svc-button first"'))
    assert.ok(shown.text.includes(email))

    const next = { ...person, password: newPerson().password }
    assertRedirect(await undo(browser, token, next.password), '/')
    assert.equal((await currentUser(browser)).email, person.email)
    for (const old of [agent, other]) await assertSignedOut(old)
    assert.equal((await confirm(agent, request)).status, 410)
    assert.equal(await emailOf(id), person.email)
    await assertCanLogIn(service, next)
    await assertCannotLogIn(service, person)
    assert.ok(!(await browser.get('/auth/account')).text.includes(email))
    assert.ok(await isDead(token))
  })

  test('is asked for with every request, and a link of an earlier one stays good', async () => {
    const { agent, person } = await newUser()
    const tokens: string[] = []
    for (let count = 1; count <= 7; count += 1) {
      await askFor(agent, newPerson().email)
      tokens.push(await tokenTo(person.email, count))
    }
    for (const token of tokens) assert.equal(await isDead(token), false)
  })
})

describe('§4.11 undo after the change', () => {
  for (const step of ['atRequest', 'atChange'] as const) {
    test(`puts the address back and verifies it, by the link that was sent ${step}; both are used up then`, async () => {
      const it = await moved()
      const browser = newAgent()
      assertRedirect(await undo(browser, it[step], newPerson().password), '/')
      const { email } = await currentUser(browser)
      assert.equal(email, it.person.email)
      assert.notEqual((await operator.users.find(it.id))?.emailVerifiedAtMs, undefined)
      await assertSignedOut(it.agent)
      assert.ok((await isDead(it.atRequest)) && (await isDead(it.atChange)))
      assert.equal((await signUp(newAgent(), { ...newPerson(), email: it.email })).status, 303, 'the new one is free')
      assert.ok((await smtp.receivedFor(it.person.email, 4)).text.length > 0, 'both changes are told')
    })
  }

  test('the row `undo link` of the table: sessions, links, browsers and newer providers end; older ones stay', async () => {
    const user = await newUser()
    const { agent, person, id } = user
    const older = await connect(user)
    await changed(mailed, agent, newPerson().email)
    const newer = await connect(user)
    assert.deepEqual(await providersOf(id), [older.email, newer.email])
    const { url } = await operator.links.reset.createByOperator(id, { isMailed: false })
    const pending = newPerson().email
    const request = await asked(mailed, agent, pending)
    assert.ok((await database.rows('SELECT id FROM known_browsers WHERE user_id = ?', id)).length > 0)

    const browser = newAgent()
    const token = await tokenTo(person.email, 3)
    assertRedirect(await undo(browser, token, newPerson().password), '/auth/account/ways-in?return_to=%2F')
    await assertSignedOut(agent)
    assertPage(await newAgent().get(new URL(url).pathname + new URL(url).search), 410)
    assert.equal((await confirm(agent, request)).status, 410)
    assert.deepEqual(await providersOf(id), [older.email])
    const browsers = await database.rows('SELECT id FROM known_browsers WHERE user_id = ?', id)
    assert.equal(browsers.length, 1, 'the one that has undone it')
  })

  test('is not used up by scanners or by a bad password, and works once, even for two presses at once', async () => {
    const { id, person, atChange } = await moved()
    const path = `${UNDO}?token=${atChange}`
    for (let count = 0; count < 3; count += 1) {
      assertPage(await newAgent().get(path))
      assert.equal((await newAgent().send({ method: 'HEAD', path })).status, 200)
    }
    for (const password of ['', 'short', 'password1', person.email])
      assertPage(await undo(newAgent(), atChange, password), 422)
    assert.notEqual(await emailOf(id), person.email)
    const { password } = newPerson()
    const answers = await Promise.all([undo(newAgent(), atChange, password), undo(newAgent(), atChange, password)])
    assert.deepEqual(statusesOf(answers), [303, 410])
    await assertCanLogIn(service, { ...person, password })
  })

  test('works after the password was changed, set and reset, and waits while the account is disabled', async () => {
    const { id, person, agent, email, atChange } = await moved()
    const next = newPerson().password
    const form = { current_password: person.password, new_password: next }
    assertRedirect(await agent.post('/auth/account/password', form), '/auth/account?done=password')
    await operator.users.setPassword(id, newPerson().password)
    const { url } = await operator.links.reset.createByOperator(id, { isMailed: false })
    assert.equal((await resetBy(newAgent(), tokenOf(url), newPerson().password)).status, 303)
    assert.equal(await isDead(atChange), false)
    await operator.users.change(id, { disabled: true })
    const browser = newAgent()
    for (const answer of [await browser.get(`${UNDO}?token=${atChange}`), await undo(browser, atChange, next)]) {
      assertPage(answer, 403)
      assert.ok(answer.text.includes(person.email) && !answer.text.includes(email))
    }
    assert.equal(browser.cookies.get('svc_access'), undefined)
    assert.equal(await emailOf(id), email)
    assert.equal((await operator.users.find(id))?.disabled, true)
    await operator.users.change(id, { disabled: false })
    assertRedirect(await undo(browser, atChange, newPerson().password), '/')
    assert.equal(await emailOf(id), person.email)
    assert.ok(await isDead(atChange))
  })

  test('ends with the account', async () => {
    const { id, person, atChange, atRequest } = await moved()
    await operator.users.delete(id)
    for (const token of [atChange, atRequest]) assertPage(await undo(newAgent(), token, newPerson().password), 410)
    assert.equal((await signUp(newAgent(), { ...newPerson(), email: person.email })).status, 303, 'the address is free')
  })
})

describe('§4.11 of two changes, A to B to C', () => {
  test('the link of A wins: it puts A back, ends the links of B, and frees B', async () => {
    const it = await movedTwice()
    assertRedirect(await undo(newAgent(), it.atChange, newPerson().password), '/')
    assert.equal(await emailOf(it.id), it.person.email)
    for (const token of [...it.ofSecond, it.atRequest]) assert.ok(await isDead(token))
    assert.equal((await signUp(newAgent(), { ...newPerson(), email: it.email })).status, 303)
  })

  test('a link of B puts B back, and leaves the links of A, which put A back', async () => {
    const it = await movedTwice()
    const [ofRequest = '', ofChange = ''] = it.ofSecond
    assertRedirect(await undo(newAgent(), ofChange, newPerson().password), '/')
    assert.equal(await emailOf(it.id), it.email)
    assert.ok(await isDead(ofRequest))
    assert.equal((await signUp(newAgent(), { ...newPerson(), email: it.person.email })).status, 409, 'A is reserved')
    assertRedirect(await undo(newAgent(), it.atRequest, newPerson().password), '/')
    assert.equal(await emailOf(it.id), it.person.email)
    assert.ok(await isDead(it.atChange))
  })

  test('the link of A ends those of B also where the second change was made by a clock that is behind', async () => {
    const it = await moved()
    const args = ['users', 'set-email', it.person.username, newPerson().email, '--verified']
    assert.equal((await service.cli(args, { clock: turnedClock().skewed(-3_600_000) })).code, 0)
    const [ofB = ''] = await undoTokensTo(it.email, 3)
    assert.equal(await isDead(ofB), false)
    assertRedirect(await undo(newAgent(), it.atChange, newPerson().password), '/')
    assert.equal(await emailOf(it.id), it.person.email)
    assert.ok(await isDead(ofB))
  })

  test('back to A by another change: the links of A still work, and those of B end with them', async () => {
    const it = await moved()
    await askFor(it.agent, it.person.email)
    assert.equal((await confirm(it.agent, await tokenTo(it.person.email, 3))).status, 200)
    assert.equal(await emailOf(it.id), it.person.email)
    const [, ofB = ''] = await undoTokensTo(it.email, 4)
    assert.equal(await isDead(ofB), false)
    assertRedirect(await undo(newAgent(), it.atChange, newPerson().password), '/')
    assert.equal(await emailOf(it.id), it.person.email)
    assert.ok(await isDead(ofB))
  })
})
