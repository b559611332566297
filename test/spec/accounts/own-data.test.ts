// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, loggedIn, logIn, newAgent, newPerson } from '../../support/client/accounts.ts'
import { assertPage, assertRedirect } from '../../support/client/assertions.ts'
import { createUserAgent, type UserAgent } from '../../support/client/user-agent.ts'
import { startMailedService, VERIFY } from '../../support/email/email-change.ts'
import { openDatabase } from '../../support/database/database.ts'
import { runCommandOf } from '../../support/service/operator-commands.ts'
import { eventually } from '../../support/wait.ts'

const mailed = await startMailedService({ env: { SVC_RATE_LIMIT: 'on', SVC_EMAIL_VERIFICATION: 'optional' } })
const { service, operator, smtp, newUser } = mailed
const database = await openDatabase(service)

const DATA = '/auth/account/data'

interface OwnData {
  account: Record<string, unknown>
  ways_in: { password: boolean; passkeys: unknown[]; authenticator_app: boolean; recovery_codes_left: number }
  connections: unknown[]
  devices: { sessions: Record<string, unknown>[]; known_browsers: Record<string, unknown>[] }
  activity: Record<string, unknown>[]
}

const download = async (agent: UserAgent): Promise<OwnData & { text: string }> => {
  const answer = await agent.post(DATA)
  assert.equal(answer.status, 200, answer.text)
  return { ...answer.json<OwnData>(), text: answer.text }
}

describe('a copy of the own data', () => {
  test('is a file of JSON that no cache keeps, with what is known of the account', async () => {
    const { agent, person, id } = await newUser()
    await loggedIn(service, person)
    await runCommandOf(service, ['users', 'set-roles', person.email, 'writer'])
    const answer = await agent.post(DATA)
    assert.equal(answer.headers['content-type'], 'application/json')
    assert.equal(answer.headers['content-disposition'], 'attachment; filename="account-data.json"')
    assert.equal(answer.headers['cache-control'], 'no-store')
    const { account, ways_in, connections, devices, activity } = answer.json<OwnData>()
    assert.deepEqual(
      { ...account, email_verified_at: '', created_at: '' },
      {
        id,
        email: person.email,
        email_verified_at: '',
        email_change_requested: null,
        username: person.username,
        name: null,
        language: null,
        roles: ['writer'],
        created_at: '',
      },
    )
    assert.deepEqual(ways_in, { password: true, passkeys: [], authenticator_app: false, recovery_codes_left: 0 })
    assert.deepEqual(connections, [])
    assert.deepEqual(
      devices.sessions.map(({ current }) => current),
      [true, false],
    )
    assert.equal(devices.known_browsers.length, 2)
    assert.deepEqual(
      activity.map(({ type, by }) => [type, by]),
      [
        ['account.exported', 'user'],
        ['user.roles_changed', 'operator'],
        ['login.succeeded', 'user'],
        ['login.succeeded', 'user'],
        ['user.created', 'service'],
      ],
    )
    assert.deepEqual(activity[1]?.roles, ['writer'])
    assert.ok(!('address' in (activity[1] ?? {})), 'the address of an operator is not the user’s')
  })

  test('has every kept record, of which there can be many more than one page', async () => {
    const { agent, id } = await newUser()
    for (let changes = 0; changes < 1100; changes += 1) await operator.users.change(id, { roles: [`role:${changes}`] })
    const { activity } = await download(agent)
    assert.equal(activity.length, 1100 + 3)
    const times = activity.map(({ at }) => String(at))
    assert.deepEqual(times, times.toSorted().toReversed())
    assert.equal(new Set(activity.map(({ roles }) => String(roles))).size, 1101)
  })

  test('holds no secret, no hash, and no id but that of the user', async () => {
    const { agent, id, person } = await newUser()
    await agent.post('/auth/account/sessions', { all_others: '1' })
    await logIn(newAgent(service), { ...person, password: 'not this one' })
    await eventually('the failed login is recorded', async () =>
      (await download(agent)).activity.some(({ type }) => type === 'login.failed'),
    )
    const { text } = await download(agent)
    const ids = new Set(text.match(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g))
    assert.deepEqual([...ids], [id])
    const [user] = await database.rows('SELECT password_hash FROM users WHERE id = ?', id)
    const rows = await database.rows('SELECT salt, device_hash FROM sessions WHERE user_id = ?', id)
    for (const secret of [user?.password_hash, ...rows.flatMap(({ salt, device_hash }) => [salt, device_hash])])
      assert.ok(typeof secret === 'string' && !text.includes(secret))
    for (const name of ['svc_access', 'svc_refresh', 'svc_csrf', 'svc_device']) {
      const cookie = agent.cookies.get(name)
      assert.ok(cookie && !text.includes(cookie), name)
    }
  })

  test('begins where the account became the user’s: a stranger’s address is not in it', async () => {
    const person = newPerson()
    const stranger = newAgent({ url: service.url, headers: { 'user-agent': 'stranger/1.0' } })
    assert.equal((await stranger.post('/auth/signup', person)).status, 303)
    const owner = createUserAgent(service)
    const token = await mailed.tokenTo(person.email)
    assert.equal((await owner.post(VERIFY, { token, new_password: `owned ${person.password}` })).status, 303)
    const { text, activity } = await download(owner)
    assert.equal(activity.at(-1)?.type, 'identity.taken_over')
    assert.ok(!text.includes('stranger/1.0'))
  })

  test('needs a recent sign-in and a CSRF token; without them nothing is recorded or sent', async () => {
    const { agent, id, person } = await newUser()
    await database.rows('UPDATE sessions SET authenticated_at = 0 WHERE user_id = ?', id)
    assertRedirect(await agent.post(DATA), '/auth/account/confirm')
    assert.match(
      (await agent.get('/auth/account')).text,
      /href="\/auth\/account\/confirm\?return_to=%2Fauth%2Faccount%23download-data"/,
    )
    assertPage(await agent.post(DATA, { csrf_token: 'x'.repeat(43) }), 403)
    assertRedirect(await agent.get(DATA), '/auth/account')
    const cross = await agent.post(DATA, {}, { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' })
    assert.equal(cross.status, 403)
    assert.ok(!(await typesOf(id)).includes('account.exported'))
    const back = await agent.post('/auth/account/confirm', {
      password: person.password,
      return_to: '/auth/account#download-data',
    })
    assert.equal(back.location, '/auth/account?done=confirmed&at=download-data#done')
    assert.match(
      (await agent.get(back.location)).text,
      /id="delete"[^]*class="box done"[^]*action="\/auth\/account\/data"/,
    )
    assert.equal((await agent.post(DATA)).status, 200)
    assert.equal((await typesOf(id)).filter((type) => type === 'account.exported').length, 1)
    const told = await smtp.receivedFor(person.email)
    assert.match(told.subject, /data was downloaded/)
  })

  test('is limited to five in an hour; the page says so in its section', async () => {
    const { agent } = await newUser()
    for (let tries = 0; tries < 5; tries += 1) assert.equal((await agent.post(DATA)).status, 200)
    const refused = await agent.post(DATA)
    assertPage(refused, 429)
    assert.match(refused.text, /id="delete"[^]*<p class="box wrong"[^]*action="\/auth\/account\/data"/)
    assert.equal((await currentUser(agent)).roles.length, 0)
  })
})

const typesOf = async (userId: string): Promise<unknown[]> =>
  (await database.rows('SELECT type FROM audit_events WHERE user_id = ?', userId)).map(({ type }) => type)
