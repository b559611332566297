// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, newAgent as newAgentOf, newPerson, type Person, signedUp } from '../../support/client/accounts.ts'
import { assertPage, assertRedirect } from '../../support/client/assertions.ts'
import { createBackend } from '../../support/client/backend.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { startSmtpServer } from '../../support/network/smtp-server.ts'
import { runCommandOf } from '../../support/service/operator-commands.ts'
import { startService } from '../../support/service/service.ts'
import { holdHashQueue } from '../../support/service/held-hash-queue.ts'
import { startMeteredService } from '../../support/service/metrics.ts'

const smtp = await startSmtpServer()
const service = await startService({ env: { ...smtp.env, SVC_LOGIN_WITH: 'both', SVC_RATE_LIMIT: 'on' } })
const database = await openDatabase(service)
const backend = await createBackend(service, ['audit:read'])

let networks = 0
const newNetwork = (): string => `198.51.100.${++networks}`
const browserIn = (network: string): UserAgent =>
  newAgentOf({ url: service.url, headers: { 'x-forwarded-for': network } })
const newAgent = () => browserIn(newNetwork())

/** A new account, and the browser in which it was made. */
const account = async () => {
  const { agent, person } = await signedUp({ url: service.url, headers: { 'x-forwarded-for': newNetwork() } })
  return { agent, person, id: (await currentUser(agent)).id }
}

const logInAs = (agent: UserAgent, name: string, { password }: Pick<Person, 'password'>) =>
  agent.post('/auth/login', { email: name, password, return_to: '/kept' })
const guess = (agent: UserAgent, name: string) => logInAs(agent, name, { password: 'a wrong pass phrase' })

/** The limits of logins that were counted since, without what is counted. */
const kindsSince = async (before: Set<unknown>): Promise<string[]> => {
  const rows = await database.rows('SELECT id FROM counters')
  return rows
    .filter(({ id }) => !before.has(id) && String(id).startsWith('login'))
    .map(({ id }) => String(id).replaceAll(/[\w-]{43}|\d+(?:\.\d+){3}/g, 'KEY'))
    .sort()
}

const eventsOf = async (query: string) => {
  const answer = await backend.call('GET', `/audit?${query}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<{ events: { user_id: string | null; address: string; details: Record<string, unknown> }[] }>()
    .events
}

describe('§4.2 SVC_LOGIN_WITH=both', () => {
  test('the username logs in as the email does, in any case and with spaces around it', async () => {
    const { person, id } = await account()
    for (const name of [person.username, person.username.toUpperCase(), ` ${person.username} `, person.email]) {
      const agent = newAgent()
      assertRedirect(await logInAs(agent, name, person), '/kept')
      assert.equal((await currentUser(agent)).id, id, name)
    }
  })

  test('a name that changed is good under its new one alone, and another account may take the old one', async () => {
    const { agent, person, id } = await account()
    const { username } = newPerson()
    assert.equal((await agent.post('/auth/account/username', { username })).status, 303)
    assertPage(await logInAs(newAgent(), person.username, person), 401)
    const other = await signedUp(service, { ...newPerson(), username: person.username })
    const browser = newAgent()
    assertRedirect(await logInAs(browser, person.username, other.person), '/kept')
    assert.notEqual((await currentUser(browser)).id, id)
    const own = newAgent()
    assertRedirect(await logInAs(own, username, person), '/kept')
    assert.equal((await currentUser(own)).id, id)
  })

  test('a disabled account answers as a wrong password does, by either name', async () => {
    const { person, id } = await account()
    await runCommandOf(service, ['users', 'disable', id])
    const answers = [
      await logInAs(newAgent(), person.username, person),
      await logInAs(newAgent(), person.email, person),
    ]
    assert.deepEqual(
      answers.map(({ status }) => status),
      [401, 401],
    )
  })

  test('what was typed stays in the field, and only an email goes on to the other pages', async () => {
    const { person } = await account()
    const byName = await guess(newAgent(), person.username)
    assertPage(byName, 401)
    assert.match(byName.text, new RegExp(`name="email"[^>]* value="${person.username}"`))
    assert.match(byName.text, /href="\/auth\/password\/forgot\?return_to=%2Fkept"/)
    const byEmail = await guess(newAgent(), person.email)
    assert.ok(byEmail.text.includes(`href="/auth/password/forgot?email=${person.email}&amp;return_to=%2Fkept"`))
  })

  test('the page asks for either, in a field that takes both and that password managers know', async () => {
    const { text } = await newAgent().get('/auth/login')
    assert.match(text, /<label for="email">Email or username<\/label>/)
    const [input = ''] = /<input id="email"[^>]*>/.exec(text) ?? []
    for (const attribute of ['name="email"', 'type="text"', 'inputmode="email"', 'autocapitalize="none"'])
      assert.ok(input.includes(attribute), input)
    assert.match(input, /autocomplete="username webauthn"/)
    const empty = await newAgent().post('/auth/login', { email: ' ', password: 'x' })
    assertPage(empty, 422)
    assert.match(empty.text, /Enter your email address or username\./)
    assert.match((await guess(newAgent(), newPerson().username)).text, /Wrong email, username or password\./)
  })

  test('no username has an @, so that what has one is an email', async () => {
    for (const username of ['a@b', 'ada@example.com', '@ada'])
      assertPage(await newAgent().post('/auth/signup', { ...newPerson(), username }), 422)
  })
})

describe('the limits of an account', () => {
  test('count its email and its username apart: the one does not tell whose the other is', async () => {
    for (const swap of [false, true]) {
      const { person } = await account()
      const [one, other] = swap ? [person.username, person.email] : [person.email, person.username]
      const network = newNetwork()
      for (let count = 0; count < 10; count += 1) assertPage(await guess(browserIn(network), one), 401)
      for (const name of [one, one.toUpperCase()]) assertPage(await logInAs(browserIn(network), name, person), 429)
      assertPage(await guess(browserIn(network), other), 401)
      assertRedirect(await logInAs(browserIn(network), other, person), '/kept')
    }
  })

  test('end for both names when an operator unlocks the user', async () => {
    const { person, id } = await account()
    const network = newNetwork()
    for (const name of [person.email, person.username])
      for (let count = 0; count <= 10; count += 1) await guess(browserIn(network), name)
    for (const name of [person.email, person.username]) assertPage(await logInAs(browserIn(network), name, person), 429)
    await runCommandOf(service, ['users', 'unlock', id])
    for (const name of [person.email, person.username])
      assertRedirect(await logInAs(browserIn(network), name, person), '/kept')
  })

  test('a browser that the account knows has tries of its own by the username, too', async () => {
    const { person } = await account()
    const network = newNetwork()
    const known = browserIn(network)
    assertRedirect(await logInAs(known, person.username, person), '/kept')
    await known.post('/auth/logout')
    for (let count = 0; count < 10; count += 1) assertPage(await guess(browserIn(network), person.username), 401)
    assertPage(await guess(browserIn(network), person.username), 429)
    assertRedirect(await logInAs(known, person.username, person), '/kept')
  })

  test('hold for a username that nobody has, and leave the same rows as for such an email', async () => {
    const left: string[][] = []
    for (const name of [newPerson().username, newPerson().email]) {
      const before = new Set((await database.rows('SELECT id FROM counters')).map(({ id }) => id))
      const network = newNetwork()
      for (let count = 0; count < 10; count += 1) assertPage(await guess(browserIn(network), name), 401)
      assertPage(await guess(browserIn(network), name), 429)
      left.push(await kindsSince(before))
    }
    assert.ok(
      left[0]?.some((kind) => kind.startsWith('loginLimitNotice')),
      String(left[0]),
    )
    assert.deepEqual(left[0], left[1])
  })

  test('tell the owner when they are reached by the username', async () => {
    const { person } = await account()
    const network = newNetwork()
    for (let count = 0; count <= 10; count += 1) await guess(browserIn(network), person.username)
    const told = async () => (await smtp.receivedFor(person.email, 2)).text
    assert.match(await told(), /password/)
  })
})

describe('records', () => {
  test('of a failed login by the username are those of its user', async () => {
    const { person, id } = await account()
    const network = newNetwork()
    for (let count = 0; count < 11; count += 1) await guess(browserIn(network), person.username)
    for (const type of ['login.failed', 'login.limited']) {
      const [event] = await eventsOf(`user_id=${id}&type=${type}`)
      assert.deepEqual([event?.address, event?.details.account], [network, undefined], type)
    }
  })

  test('hold a keyed hash of a name that nobody has, and the name itself stands nowhere', async () => {
    const { username } = newPerson()
    const network = newNetwork()
    for (let count = 0; count < 12; count += 1) await guess(browserIn(network), username)
    const events = (await eventsOf('type=login.failed')).filter(({ address }) => address === network)
    assert.deepEqual(
      events.map(({ user_id }) => user_id),
      [null],
    )
    assert.match(String(events[0]?.details.account), /^[0-9a-f]{16}$/)
    assert.ok(!(await database.contents()).includes(username))
    assert.doesNotMatch(JSON.stringify(service.logLines()), new RegExp(username))
  })
})

test('a password for a username that nobody has waits for its turn to be hashed, too', async (t) => {
  const metered = await startMeteredService({ t, env: { SVC_LOGIN_WITH: 'both', SVC_HASHES_AT_ONCE: '1' } })
  const { person } = await signedUp(metered)
  const { isFollowedBy, released } = await holdHashQueue(metered, t)
  const answers = [guess(newAgentOf(metered), person.username), guess(newAgentOf(metered), newPerson().username)]
  await isFollowedBy(2)
  await released()
  assert.deepEqual(
    (await Promise.all(answers)).map(({ status }) => status),
    [401, 401],
  )
})

test('by default, a username is no email, and logs nobody in', async (t) => {
  const usual = await startService({ t })
  const { person } = await signedUp(usual)
  assertPage(await logInAs(newAgentOf(usual), person.username, person), 401)
  assertRedirect(await logInAs(newAgentOf(usual), person.email, person), '/kept')
})
