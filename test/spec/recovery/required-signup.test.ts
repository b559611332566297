// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, logIn, newPerson, type Person, signUp as postSignup } from '../../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertCannotLogIn,
  assertPage,
  assertRedirect,
  assertSignedIn,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import { type Answer, createUserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { startSmtpServer } from '../../support/network/smtp-server.ts'
import { startWebhookReceiver } from '../../support/network/webhook-receiver.ts'
import { statusesOf } from '../../support/provider/provider-service.ts'
import { askForLink } from '../../support/recovery/reset.ts'
import {
  assertDead,
  isVerified,
  openVerify,
  startVerification,
  VERIFY,
  verifyBy,
} from '../../support/recovery/verification.ts'
import { createUser, listUsers, runCommandOf } from '../../support/service/operator-commands.ts'
import { at, startReplicas } from '../../support/service/replicas.ts'
import { eventually } from '../../support/wait.ts'

const receiver = await startWebhookReceiver()
const webhooks = { SVC_WEBHOOK_URL: receiver.url, SVC_WEBHOOK_SECRET: 'a secret of enough bytes' }
const { service, smtp, database, signUp, newAgent, tokenFor } = await startVerification({
  mode: 'required',
  env: webhooks,
})

const hasAccount = async ({ email }: Person): Promise<boolean> =>
  (await listUsers(service)).some((user) => user.email === email)

const pendingOf = ({ email }: Person) =>
  database.rows('SELECT id FROM pending_signups WHERE email_lower = ?', email.toLowerCase())

/** What a page says, without what differs between any two requests. */
const contentOf = ({ status, text, headers, setCookies }: Answer, email: string) => ({
  status,
  bytes: text.length,
  text: text.replaceAll(email, 'EMAIL').replaceAll(/value="[\w-]{43}"/g, 'TOKEN'),
  headers: Object.keys(headers).sort(),
  cookies: setCookies.map(({ name, value }) => [name, value.length]),
})

/** Another browser chooses the password, and has the account. */
const choose = async (token: string, form = {}) => {
  const owner = newAgent()
  const { password } = newPerson()
  return { owner, password, answer: await verifyBy(owner, token, { password, ...form }) }
}

describe('§4.12 SVC_EMAIL_VERIFICATION=required: signup', () => {
  test('makes no account before the link was followed; the account, its event and its session come with it', async () => {
    const { agent, person, answer, token } = await signUp()
    assertPage(answer)
    assert.ok(answer.text.includes(person.email))
    assert.equal(answer.cookie('svc_access'), undefined)
    await assertSignedOut(agent)
    await assertCannotLogIn(service, person)
    assert.equal(await hasAccount(person), false)

    const shown = await openVerify(agent, token)
    assert.ok(
      shown.text.indexOf(person.email) < shown.text.indexOf('<button class="svc-button first"'),
      'above the button',
    )
    assertRedirect(await verifyBy(agent, token), '/kept')
    const user = await currentUser(agent)
    assert.deepEqual([user.email, user.username, user.roles], [person.email, person.username, []])
    assert.equal(await isVerified(agent), true)
    await assertCanLogIn(service, person)
    await receiver.receivedEvent(({ event }) => event.data.user_id === user.id && event.type === 'user.created')
    assert.deepEqual(await pendingOf(person), [])
    assertDead(await verifyBy(agent, token))
  })

  test('scanners that follow the link, by GET and HEAD, make nothing and use nothing up', async () => {
    const { agent, person, token } = await signUp()
    for (const method of ['GET', 'HEAD', 'GET'])
      assert.equal((await newAgent().send({ method, path: `${VERIFY}?token=${token}` })).status, 200)
    assert.equal(await hasAccount(person), false)
    assertRedirect(await verifyBy(agent, token), '/kept')
  })

  test('is answered alike for an address that has an account, whose owner is told by mail', async () => {
    const { agent, person, token } = await signUp()
    assertRedirect(await verifyBy(agent, token), '/kept')
    const user = await currentUser(agent)
    const unknown = newPerson()
    const known = { ...newPerson(), email: person.email.toUpperCase() }
    const answers = await Promise.all([unknown, known].map((each) => postSignup(newAgent(), each)))
    const [one, other] = answers.map((answer, index) => contentOf(answer, [unknown, known][index]?.email ?? ''))
    assert.deepEqual(one, other)

    const mail = await smtp.receivedFor(known.email, 2)
    assert.match(mail.subject, /already/)
    assert.deepEqual(
      mail.links.filter((link) => link.includes('token=')),
      [],
    )
    assert.ok(
      mail.links.some((link) => link.startsWith(`${service.url}/auth/login?email=`)),
      mail.text,
    )
    await eventually('nothing of the signup is kept', async () => (await pendingOf(known)).length === 0)
    await assertCannotLogIn(service, { ...person, password: known.password })
    assert.deepEqual(await currentUser(agent), user)
  })

  test('tells of a taken username alone, alike for both kinds of address', async () => {
    const { agent, person, token } = await signUp()
    assertRedirect(await verifyBy(agent, token), '/kept')
    const emails = [newPerson().email, person.email]
    const answers = await Promise.all(
      emails.map((email) => postSignup(newAgent(), { ...newPerson(), email, username: person.username })),
    )
    for (const answer of answers) assertPage(answer, 409)
    const [one, other] = answers.map((answer, index) => contentOf(answer, emails[index] ?? ''))
    assert.deepEqual(one, other)
  })

  test('with a bad field is 422 for both kinds of address', async () => {
    const { agent, person, token } = await signUp()
    assertRedirect(await verifyBy(agent, token), '/kept')
    for (const email of [newPerson().email, person.email])
      assertPage(await postSignup(newAgent(), { ...newPerson(), email, password: 'short' }), 422)
    assertPage(await postSignup(newAgent(), { ...newPerson(), email: 'none' }), 422)
  })
})

describe('§4.12 a signup that was confirmed in another browser', () => {
  test('has the password that is chosen there, and never that of the signup', async () => {
    const { agent: attacker, person, token } = await signUp()
    const owner = newAgent()
    assertPage(await verifyBy(owner, token), 422)
    assertPage(await verifyBy(owner, token, { password: 'short' }), 422)
    assert.equal(await hasAccount(person), false, 'a press alone makes nothing')

    const { owner: browser, password, answer } = await choose(token)
    assertRedirect(answer, '/')
    assert.equal((await currentUser(browser)).email, person.email)
    await assertCannotLogIn(service, person)
    await assertCanLogIn(service, { ...person, password })
    await assertSignedOut(attacker)
    assertDead(await openVerify(attacker, token))
    assertDead(await verifyBy(attacker, token))
    await assertSignedOut(attacker)
  })

  test('of several signups with an address, the first that is confirmed ends the others', async () => {
    const person = newPerson()
    const attacker = { ...newPerson(), email: person.email }
    const theirs = newAgent()
    await postSignup(theirs, attacker)
    const first = await tokenFor(person.email)
    const own = newAgent()
    await postSignup(own, person)
    const second = await tokenFor(person.email, 2)
    assertRedirect(await verifyBy(own, second), '/')
    assert.deepEqual(await pendingOf(person), [])
    for (const agent of [theirs, own]) {
      assertDead(await openVerify(agent, first))
      assertDead(await verifyBy(agent, first, { password: attacker.password }))
    }
    await assertCannotLogIn(service, attacker)
    await assertCanLogIn(service, person)
    assert.equal((await currentUser(own)).username, person.username)
  })

  test('twice at once makes one account: with one link, and with two for the same address', async () => {
    for (const links of [1, 2]) {
      const person = newPerson()
      const [one, other] = [newAgent(), newAgent()]
      await postSignup(one, person)
      const first = await tokenFor(person.email)
      if (links === 2) await postSignup(other, { ...newPerson(), email: person.email })
      const second = links === 2 ? await tokenFor(person.email, 2) : first
      const answers = await Promise.all([
        verifyBy(one, first),
        verifyBy(other, second, { password: newPerson().password }),
      ])
      const [won = 0, lost = 0] = statusesOf(answers)
      assert.equal(won, 303)
      assert.equal(lost, 410)
      const rows = await database.rows('SELECT id FROM users WHERE email_lower = ?', person.email)
      assert.equal(rows.length, 1)
      await assertSignedIn(answers[0]?.status === 303 ? one : other)
      await assertSignedOut(answers[0]?.status === 303 ? other : one)
    }
  })
})

describe('§4.12 what was taken since the signup', () => {
  test('a username is chosen again, in either browser, and the link stays good', async () => {
    for (const where of ['own', 'another'] as const) {
      const { agent, person, token } = await signUp()
      await createUser(service, { ...newPerson(), username: person.username })
      const browser = where === 'own' ? agent : newAgent()
      const form = where === 'own' ? {} : { password: newPerson().password }
      const typed = where === 'own' ? {} : { username: person.username }
      const refused = await verifyBy(browser, token, { ...form, ...typed })
      assertPage(refused, 409)
      assert.match(refused.text, new RegExp(`name="username"[^>]* value="${person.username}"`))
      assert.equal(await hasAccount(person), false)
      assertPage(await verifyBy(browser, token, { ...form, username: 'no spaces' }), 422)
      const { username } = newPerson()
      assertRedirect(await verifyBy(browser, token, { ...form, username }), where === 'own' ? '/kept' : '/')
      assert.equal((await currentUser(browser)).username, username)
    }
  })

  test('that of the signup does not count in another browser: a stranger may have typed it', async () => {
    const { person, token } = await signUp({ ...newPerson(), username: `rude-${newPerson().username}`.slice(0, 30) })
    const owner = newAgent()
    const shown = (await openVerify(owner, token)).text
    assert.match(shown, /name="username"/)
    assert.ok(!shown.includes(person.username))
    assertRedirect(await verifyBy(owner, token, { password: newPerson().password }), '/')
    const [local = ''] = person.email.split('@')
    assert.ok((await currentUser(owner)).username.startsWith(local))
  })

  test('a username that is left empty then is made from the email', async () => {
    const { agent, person, token } = await signUp({ ...newPerson(), username: `u${newPerson().username}` })
    await createUser(service, { ...newPerson(), username: person.username })
    assertPage(await verifyBy(agent, token), 409)
    assertRedirect(await verifyBy(agent, token, { username: '' }), '/kept')
    const [local = ''] = person.email.split('@')
    assert.ok((await currentUser(agent)).username.startsWith(local))
  })

  test('an address: the page leads to the login, and nothing changes', async () => {
    const { agent, person, token } = await signUp()
    const other = { ...newPerson(), email: person.email }
    await createUser(service, other)
    const answer = await verifyBy(agent, token)
    assertPage(answer, 410)
    assert.match(answer.text, /href="\/auth\/login/)
    await assertSignedOut(agent)
    await assertCannotLogIn(service, person)
    await assertCanLogIn(service, other)
  })
})

test('§4.12 the link of a signup ends in time, and the signup is deleted', async (t) => {
  const clock = turnedClock()
  const env = { SVC_CLEANUP_INTERVAL: '100ms', SVC_VERIFY_TTL: '2h' }
  const own = await startVerification({ mode: 'required', env, clock, t })
  const { agent, token } = await own.signUp()
  await clock.turnTo(2 * 3_600_000 + 1000)
  assertDead(await openVerify(agent, token))
  assertDead(await verifyBy(agent, token))
  await eventually('the signup is deleted', async () => {
    const rows = await own.database.rows('SELECT id FROM pending_signups')
    return rows.length === 0
  })
})

test('§4.12 past the limits of an address nothing is sent, the page says the same, and links that were sent stay', async (t) => {
  const clock = turnedClock()
  const own = await startVerification({ mode: 'required', env: { SVC_RATE_LIMIT: 'on' }, clock, t })
  const { person, token } = await own.signUp()
  const ask = async (times: number) => {
    for (let count = 0; count < times; count += 1)
      assertPage(await postSignup(own.newAgent(), { ...newPerson(), email: person.email }))
  }
  await ask(6)
  await own.smtp.receivedFor(person.email, 5)
  await clock.turnTo(2 * 3_600_000)
  await ask(6)
  const { person: later } = await own.signUp()
  await own.smtp.receivedFor(later.email)
  assert.equal(own.smtp.mails.filter(({ to }) => to === person.email).length, 5)
  assertPage(await openVerify(own.newAgent(), token))
})

test('§4.12 a signup at one replica is confirmed at another', async (t) => {
  const mails = await startSmtpServer({ t })
  const [one, other] = await startReplicas({ t, env: { ...mails.env, SVC_EMAIL_VERIFICATION: 'required' } })
  const agent = createUserAgent(one)
  const person = newPerson()
  assertPage(await postSignup(agent, person))
  const { link } = await mails.receivedFor(person.email)
  const there = at(other, agent)
  assertRedirect(await verifyBy(there, new URL(link).searchParams.get('token') ?? ''), '/')
  assert.equal((await currentUser(at(one, there))).email, person.email)
})

describe('§4.12 turning required on', () => {
  test('sessions go on; the right password leads to a message, and its link to the session', async (t) => {
    const own = await startVerification({ mode: 'optional', t })
    const { agent, person } = await own.signUp()
    await own.service.restart({ env: { SVC_EMAIL_VERIFICATION: 'required' } })
    await assertSignedIn(agent)

    const browser = own.newAgent()
    assertPage(await logIn(browser, { ...person, password: 'wrong' }), 401)
    const asked = await logIn(browser, person, { return_to: '/kept' })
    assertPage(asked)
    assert.match(asked.text, /<h1>Check your mail<\/h1>/)
    await assertSignedOut(browser)
    const token = await own.tokenFor(person.email, 2)
    const elsewhere = own.newAgent()
    assertPage(await verifyBy(elsewhere, token), 422)
    await assertSignedOut(elsewhere)
    assertRedirect(await verifyBy(browser, token), '/kept')
    assert.equal(await isVerified(browser), true)
    assert.equal(await isVerified(agent), true)
    assertRedirect(await logIn(own.newAgent(), person), '/')
  })

  test('the right password gives a message, however many messages strangers have asked for', async (t) => {
    const env = { SVC_RATE_LIMIT: 'on' }
    const own = await startVerification({ mode: 'optional', env, t })
    const { person } = await own.signUp()
    await own.service.restart({ env: { ...env, SVC_EMAIL_VERIFICATION: 'required' } })
    for (let count = 0; count < 5; count += 1) {
      await askForLink(own.newAgent(), person.email)
      await postSignup(own.newAgent(), { ...newPerson(), email: person.email })
    }
    // Those of other accounts fill the limit of the network.
    for (let count = 0; count < 25; count += 1) await postSignup(own.newAgent(), newPerson())
    await eventually('all requests are looked up', async () => {
      const rows = await own.database.rows(`SELECT id FROM mail_messages WHERE state = 'requested'`)
      return rows.length === 0
    })
    const before = await own.database.rows(`SELECT id FROM mail_messages WHERE recipient = ?`, person.email)
    const browser = own.newAgent()
    assertPage(await logIn(browser, person))
    const token = await own.tokenFor(person.email, before.length + 1)
    assertRedirect(await verifyBy(browser, token), '/')
  })

  test('an account that an operator has verified logs in as before', async () => {
    const person = newPerson()
    await createUser(service, person)
    await assertCanLogIn(service, person)
    const moved = newPerson()
    await runCommandOf(service, ['users', 'set-email', person.email, moved.email])
    const asked = await logIn(newAgent(), { ...person, email: moved.email })
    assertPage(asked)
    assert.match(asked.text, /<h1>Check your mail<\/h1>/)
    await runCommandOf(service, ['users', 'verify-email', moved.email])
    await assertCanLogIn(service, { ...person, email: moved.email })
  })
})
