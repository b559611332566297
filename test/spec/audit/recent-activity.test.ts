// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { loggedIn, logIn, newAgent, newPerson } from '../../support/client/accounts.ts'
import { createUserAgent, type UserAgent } from '../../support/client/user-agent.ts'
import { startMailedService, VERIFY } from '../../support/email/email-change.ts'
import { runCommandOf } from '../../support/service/operator-commands.ts'
import { eventually } from '../../support/wait.ts'

const mailed = await startMailedService({ env: { SVC_EMAIL_VERIFICATION: 'optional', SVC_APP_NAME: 'Acme' } })
const { service, operator } = mailed

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

/** The service, as a client of this address reaches it. */
const from = (address: string, userAgent = FIREFOX) => ({
  url: service.url,
  headers: { 'user-agent': userAgent, 'x-forwarded-for': address },
})

const newUser = async () => {
  const person = newPerson()
  const { id } = await operator.users.create({ ...person, emailVerified: true })
  return { id, person, agent: await loggedIn(from('203.0.113.1'), person) }
}

const sectionOf = async (agent: UserAgent): Promise<string> => {
  const { text } = await agent.get('/auth/account')
  const section = /<section aria-labelledby="activity-title"[^>]*>.*?<\/section>/s.exec(text)?.[0]
  assert.ok(section, text)
  return section
}

const EVENT = /<li class="event">.*?<b>(.*?)<\/b>(.*?)<span class="about">(.*?)<\/span>/gs

const eventsOf = (html: string): string[] =>
  [...html.matchAll(EVENT)].map(
    ([, what, badge = '', origin]) => `${what}${badge.includes('This device') ? ' here' : ''}: ${origin}`,
  )

/** What the account page lists: what happened, and from where. */
const listed = async (agent: UserAgent): Promise<string[]> => eventsOf(await sectionOf(agent))

/** What the page of all activity lists. */
const listedAll = async (agent: UserAgent): Promise<string[]> =>
  eventsOf((await agent.get('/auth/account/activity')).text)

describe('recent activity on the account page', () => {
  test('is not pushed out by strangers who fail to log in from many networks', async () => {
    const { id, person, agent } = await newUser()
    await agent.post('/auth/account/username', { username: newPerson().username })
    for (let network = 1; network <= 12; network += 1)
      await logIn(newAgent(from(`198.51.100.${network}`)), { ...person, password: 'not this one' })
    const failures = async () => (await listed(agent)).filter((row) => row.startsWith('Wrong password'))
    const last = /198\.51\.100\.12$/
    await eventually('the last failed login is recorded', async () => (await failures()).some((row) => last.test(row)))
    const activity = await listed(agent)
    assert.deepEqual(
      activity.map((row) => row.replace(/:? .*/, '')),
      ['Wrong', 'Username', 'Logged', 'Account'],
    )
    assert.match(activity.at(-1) ?? '', /^Account created: Automatic$/)

    for (let changes = 0; changes < 6; changes += 1) await operator.users.change(id, { roles: [`role:${changes}`] })
    assert.deepEqual(await failures(), [], 'they are older than what is shown')
    await logIn(newAgent(from('198.51.100.13')), { ...person, password: 'not this one' })
    await eventually('another failed login is recorded', async () => (await failures()).length === 1)
    assert.equal((await listed(agent)).filter((row) => row.startsWith('Roles changed')).length, 3)
    const all = await listedAll(agent)
    assert.equal(all.filter((row) => row.startsWith('Wrong password')).length, 13)
    assert.equal(all.length, 13 + 6 + 3)
  })

  test('is the user’s own, the latest first, and says what an operator has done', async () => {
    const { person, agent } = await newUser()
    await newUser()
    const thief = from('198.51.100.9', 'curl/8.14.1')
    for (let tries = 0; tries < 3; tries += 1) await logIn(newAgent(thief), { ...person, password: 'not this one' })
    await runCommandOf(service, ['users', 'set-roles', person.email, 'admin'])
    await agent.post('/auth/account/username', { username: newPerson().username })
    const expected = [
      'Username changed here: Firefox on Linux · 203.0.113.1',
      'Roles changed: By an administrator',
      'Wrong password · 3 times: curl · 198.51.100.9',
      'Logged in with your password here: Firefox on Linux · 203.0.113.1',
    ]
    await eventually('the failed logins are recorded', async () =>
      (await listedAll(agent)).some((each) => each.startsWith('Wrong password · 3 times')),
    )
    const activity = await listedAll(agent)
    assert.deepEqual(activity.slice(0, -1).toSorted(), expected.toSorted())
    assert.equal(activity[0], expected[0])
    assert.match(activity.at(-1) ?? '', /^Account created: Automatic$/)
  })

  test('has four entries, and leads to the page of all', async () => {
    const { agent } = await newUser()
    for (let changes = 0; changes < 12; changes += 1)
      await operator.users.change(await idOf(agent), { roles: [`role:${changes}`] })
    assert.equal((await listed(agent)).length, 4)
    assert.match(await sectionOf(agent), /<a href="\/auth\/account\/activity">Show more<\/a>/)
    assert.equal((await listedAll(agent)).length, 14)
  })

  test('begins where the account became the user’s: what a stranger did there is not shown', async () => {
    const person = newPerson()
    const stranger = newAgent(from('198.51.100.7'))
    assert.equal((await stranger.post('/auth/signup', person)).status, 303)
    await stranger.post('/auth/account/username', { username: newPerson().username })
    const owner = createUserAgent(from('203.0.113.2'))
    const token = await mailed.tokenTo(person.email)
    const taken = await owner.post(VERIFY, { token, new_password: `owned ${person.password}` })
    assert.equal(taken.status, 303, taken.text)
    for (const list of [listed, listedAll]) {
      const activity = await list(owner)
      assert.match(
        (await listedAll(owner)).at(-1) ?? '',
        /^You confirmed your email address and took over the account: /,
      )
      assert.ok(!activity.join('\n').includes('198.51.100.7'))
      assert.ok(activity.some((each) => each.startsWith('Logged in with a link here: ')))
    }
  })

  test('“Something here wasn’t me” leads to a new password and to the end of all other sessions', async () => {
    const { person, agent } = await newUser()
    const thief = await loggedIn(from('198.51.100.8'), person)
    const account = (await agent.get('/auth/account')).text
    for (const [path, html] of [
      ['', await sectionOf(agent)],
      ['/auth/account', (await agent.get('/auth/account/activity')).text],
    ] as const) {
      assert.match(html, /<summary[^>]*>Something here wasn’t me<\/summary>/)
      assert.match(html, new RegExp(`<a [^>]*href="${path}#change-password">Change password</a>`))
      assert.match(html, new RegExp(`<a [^>]*href="${path}#devices">See your devices</a>`))
    }
    for (const id of ['change-password', 'devices']) assert.ok(account.includes(` id="${id}"`), id)
    assert.equal((await agent.post('/auth/account/sessions', { all_others: '1' })).status, 303)
    assert.equal((await thief.get('/auth/api/v1/user')).status, 401)
    assert.match((await listed(agent))[0] ?? '', /^Device logged out here: /)
  })

  test('a request for the page records nothing', async () => {
    const { agent } = await newUser()
    const before = await listed(agent)
    assert.deepEqual(await listed(agent), before)
  })
})

const idOf = async (agent: UserAgent): Promise<string> =>
  (await agent.get('/auth/api/v1/user')).json<{ id: string }>().id
