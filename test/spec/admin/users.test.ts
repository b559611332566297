// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { USER_ACTS } from '../../../src/admin/users/user-acts.ts'
import { openMachineAdmin } from '../../support/admin/machine-admin.ts'
import { loggedIn, logIn, newAgent, newPerson, signedUp } from '../../support/client/accounts.ts'
import type { Form } from '../../support/client/user-agent.ts'
import { madeClient } from '../../support/clients/authorization.ts'
import { assertEnded, granted } from '../../support/clients/tokens.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabase } from '../../support/database/database.ts'
import { startMailedService } from '../../support/email/email-change.ts'
import { eventually } from '../../support/wait.ts'
import { setUpCodes } from '../../support/second-factor/account-with-codes.ts'

const HOUR = 3_600_000

const clock = turnedClock()
const mailed = await startMailedService({
  clock,
  env: {
    SVC_CLIENTS: 'on',
    SVC_CLIENT_SCOPES: 'notes:read=Read your notes',
    SVC_EMAIL_VERIFICATION: 'optional',
    SVC_MAIL_NOTICES: 'on',
    SVC_NAMES: 'optional',
    SVC_RATE_LIMIT: 'on',
  },
})
const { service, operator, smtp } = mailed
const database = await openDatabase(service)
const admin = await openMachineAdmin(service, { clock })

/** The service, as a client of an own network reaches it. */
const far = { url: service.url, headers: { 'x-forwarded-for': '203.0.113.9' } }

interface Person {
  id: string
  email: string
  username: string
  password: string
}

const newUser = async (changes: Record<string, unknown> = {}): Promise<Person> => {
  const person = newPerson()
  const { id } = await operator.users.create({ ...person, emailVerified: true, ...changes })
  return { ...person, id }
}

const show = async (id: string) => (await (await operator.loadDirectory()).find(id)) ?? assert.fail('the user is there')

const recordsOf = async (id: string, type: string) => {
  const rows = await database.rows(
    'SELECT actor, details FROM audit_events WHERE user_id = ? AND type = ? ORDER BY id',
    id,
    type,
  )
  return rows.map(({ actor, details }) => ({ actor, details: String(details) }))
}

/** Does what a form offers, with a reason, and gives the text that says what was done. */
const done = async (page: string, form: Form = {}): Promise<string> => {
  const answer = await admin.submit(page, { reason: 'Ticket 4711: <b>lost</b>', ...form })
  const { text } = await admin.follow(answer)
  return /<p class="box[^"]*"[^>]*>(.*?)<\/p>/s.exec(text)?.[1] ?? assert.fail(text)
}

/** The record names the operator, and why they did it. */
const assertRecorded = async (id: string, type: string, details: Record<string, unknown> = {}): Promise<void> => {
  const rows = await recordsOf(id, type)
  const latest = rows.at(-1) ?? assert.fail(`a record ${type}`)
  assert.equal(latest.actor, 'cli')
  const { reason, ...rest } = JSON.parse(latest.details) as Record<string, unknown>
  assert.equal(reason, 'Ticket 4711: <b>lost</b>')
  for (const [name, value] of Object.entries(details)) assert.deepEqual(rest[name], value, name)
}

const idsIn = (text: string) => [...text.matchAll(/href="[^"]*\/users\/([\w-]+)"/g)].map(([, id]) => id)

describe('the list', () => {
  test('has the newest users first, and goes on', async () => {
    const made = []
    for (let count = 0; count < 52; count += 1) made.push(await newUser())
    const first = await admin.open('/')
    const shown = idsIn(first.text)
    assert.equal(shown.length, 50)
    // Several are created in one millisecond.
    const order = await database.rows('SELECT id FROM users ORDER BY created_at DESC, id DESC')
    const newest = order.map(({ id }) => id).slice(0, made.length)
    assert.deepEqual(new Set(newest), new Set(made.map(({ id }) => id)))
    assert.deepEqual(shown, newest.slice(0, 50))
    const [, next = ''] = /rel="next" href="([^"]*)"/.exec(first.text) ?? []
    const second = await admin.agent.get(next.replaceAll('&amp;', '&'), { 'sec-fetch-site': 'same-origin' })
    assert.deepEqual(idsIn(second.text).slice(0, 2), newest.slice(50))
  })

  test('is narrowed down by filters', async () => {
    const disabled = await newUser()
    await operator.users.change(disabled.id, { disabled: true }, {})
    const unverified = await newUser({ emailVerified: false })
    const editor = await newUser()
    await operator.users.change(editor.id, { roles: ['editor-in-chief'] }, {})
    await loggedIn(service, editor)
    const of = async (query: string) => (await admin.open(`/?${query}`)).text
    const all = [disabled, unverified, editor]
    const shows = async (query: string, expected: Person[]) => {
      const text = await of(query)
      for (const { email } of all)
        assert.equal(
          text.includes(email),
          expected.some((user) => user.email === email),
          `${query} ${email}`,
        )
    }
    await shows('show=disabled', [disabled])
    await shows('show=unverified', [unverified])
    await shows('show=never', [disabled, unverified])
    await shows('role=editor-in-chief', [editor])
    await shows('created=2020-01-01', all)
    await shows('created=2999-01-01', [])
    await shows(`q=${editor.email.slice(1, 9)}&role=editor-in-chief`, [editor])
    await shows(`q=${editor.email.slice(1, 9)}&show=disabled`, [])
    assert.equal((await admin.open('/?cursor=x')).status, 400)
    assert.equal((await admin.open('/?show=disabled&show=never')).status, 400)
  })
})

const leadsTo = async (pasted: string, page: string) => {
  const answer = await admin.open(`/?q=${encodeURIComponent(pasted)}`)
  assert.equal(answer.location, admin.base + page, pasted)
}

describe('the box finds', () => {
  test('a user, by a whole address or id, as it was copied from anywhere', async () => {
    const { id, email } = await newUser()
    for (const pasted of [
      email,
      ` ${email.toUpperCase()}\n`,
      `<${email}>`,
      `mailto:${email}`,
      `"${email}",`,
      id,
      id.toUpperCase(),
      `${id},`,
    ])
      await leadsTo(pasted, `/users/${id}`)
  })

  test('users by a part of three letters, and asks for more letters', async () => {
    const user = await newUser()
    const part = await admin.open(`/?q=${user.username.slice(2, 12)}`)
    assert.equal(part.status, 200)
    assert.match(part.text, new RegExp(user.email))
    assert.match((await admin.open('/?q=ab')).text, /3 letters or more/)
    assert.match((await admin.open('/?q=nosuchuser%25')).text, /There are no such users/)
    assert.match(
      (await admin.open(`/?q=${encodeURIComponent('<script>x')}`)).text,
      /value="&lt;script>x"|value="&lt;script&gt;x"/,
    )
  })

  test('sessions and grants, live and ended, and what has a reference', async () => {
    const user = await newUser()
    const agent = await loggedIn(service, user)
    const session = agent.cookies.get('svc_refresh')?.split('.')[0] ?? ''
    await leadsTo(session, `/users/${user.id}#sessions`)
    const client = await madeClient(service)
    await granted(service, agent, client, 'openid offline_access')
    const [{ id: grant } = assert.fail('a grant')] = await database.rows(
      'SELECT id FROM grants WHERE user_id = ?',
      user.id,
    )
    await leadsTo(String(grant), `/users/${user.id}#applications`)
    await operator.sessions.endAll(user.id, {})
    await leadsTo(session, `/users/${user.id}#events`)
    await leadsTo('0123456789abcdef0123', '/events?request=0123456789abcdef0123')
    await leadsTo('198.51.100.7', '/events?address=198.51.100.7')
    await leadsTo('2001:DB8::1', '/events?address=2001%3Adb8%3A%3A1')
    const nothing = '00000000-0000-7000-8000-000000000000'
    await leadsTo(nothing, `/events?user=${nothing}`)
    assert.equal((await admin.open(`/events?user=${nothing}`)).status, 200)
  })
})

describe('the page of a user', () => {
  test('says first how it is with the account', async () => {
    const user = await newUser()
    const page = async () => (await admin.open(`/users/${user.id}`)).text
    assert.match(await page(), /Can sign in by password\. Has never signed in\./)
    await loggedIn(service, user)
    assert.match(await page(), /Last seen .*ago.* in /s)
    for (let count = 0; count < 11; count += 1) await logIn(newAgent(far), { ...user, password: 'wrong wrong wrong' })
    await eventually('the refusal is recorded', async () => (await recordsOf(user.id, 'login.limited')).length > 0)
    assert.match(await page(), /Logins were refused .*after too many wrong passwords/s)
    assert.match(await done(`/users/${user.id}/unlock`), /can log in again/)
    assert.doesNotMatch(await page(), /Logins were refused/)
    await loggedIn(far, user)
    await assertRecorded(user.id, 'user.unlocked')
    await operator.users.change(user.id, { disabled: true }, {})
    assert.match(await page(), /Cannot sign in: the account is disabled/)
    const { person } = await signedUp(service)
    const stranger = (await operator.users.find(person.email)) ?? assert.fail('the user is there')
    assert.match((await admin.open(`/users/${stranger.id}`)).text, /anybody may have made this account/)
  })

  test('is a record, once an hour, and not for the user to read', async () => {
    const user = await newUser()
    const agent = await loggedIn(service, user)
    await Promise.all([1, 2, 3].map(() => admin.open(`/users/${user.id}`)))
    assert.deepEqual(await recordsOf(user.id, 'user.viewed'), [{ actor: 'cli', details: '{}' }])
    await clock.turnTo(clock.aheadMs() + HOUR)
    await admin.open(`/users/${user.id}`)
    assert.equal((await recordsOf(user.id, 'user.viewed')).length, 2)
    for (const page of ['/auth/account', '/auth/account/activity']) {
      const { text } = await agent.get(page)
      assert.doesNotMatch(text, /viewed/i)
    }
  })

  test('of nobody is not there, and says where its records are', async () => {
    const id = '00000000-0000-7000-8000-000000000000'
    const answer = await admin.open(`/users/${id}`)
    assert.equal(answer.status, 404)
    assert.match(answer.text, new RegExp(`/events\\?user=${id}`))
    for (const act of USER_ACTS) assert.equal((await admin.submit(`/users/${id}/${act.path}`)).status, 404, act.path)
  })
})

/** Each act, with what follows from it. */
const CASES: Record<string, (user: Person) => Promise<void>> = {
  async disable(user) {
    const agent = await loggedIn(service, user)
    assert.match((await admin.open(`/users/${user.id}/disable`)).text, /1 session ends, at once and everywhere/)
    assert.match(await done(`/users/${user.id}/disable`), /disabled, and 1 session ended\. To take it back, enable/)
    assert.equal((await agent.get('/auth/api/v1/user')).status, 401)
    await assertRecorded(user.id, 'user.disabled')
    const again = await admin.submit(`/users/${user.id}/disable`)
    assert.equal(again.status, 409)
    assert.match(again.text, /disabled already/)
  },

  async enable(user) {
    await operator.users.change(user.id, { disabled: true }, {})
    assert.match(await done(`/users/${user.id}/enable`), /To take it back, disable/)
    await loggedIn(service, user)
    await assertRecorded(user.id, 'user.enabled')
  },

  async delete(user) {
    for (const confirmation of ['', 'other@example.com', user.username]) {
      const refused = await admin.submit(`/users/${user.id}/delete`, { confirmation, reason: 'Kept' })
      assert.equal(refused.status, 422)
      assert.match(refused.text, /aria-invalid="true"/)
      assert.match(refused.text, /value="Kept"/)
    }
    assert.match(
      await done(`/users/${user.id}/delete`, { confirmation: user.email.toUpperCase() }),
      /Nobody can take it back/,
    )
    assert.equal(await operator.users.find(user.id), undefined)
    await assertRecorded(user.id, 'user.deleted')
  },

  async 'end-session'(user) {
    const [agent, other] = [await loggedIn(service, user), await loggedIn(service, user)]
    const session = agent.cookies.get('svc_refresh')?.split('.')[0]
    assert.match(
      await done(`/users/${user.id}/end-session?session=${session}`),
      /has ended\. The user can sign in again/,
    )
    assert.equal((await agent.get('/auth/api/v1/user')).status, 401)
    assert.equal((await other.get('/auth/api/v1/user')).status, 200)
    await assertRecorded(user.id, 'session.ended')
    const stranger = await newUser()
    const strangers = await loggedIn(service, stranger)
    const foreign = strangers.cookies.get('svc_refresh')?.split('.')[0]
    assert.equal((await admin.submit(`/users/${user.id}/end-session?session=${foreign}`)).status, 404)
    assert.equal((await strangers.get('/auth/api/v1/user')).status, 200)
  },

  async 'end-sessions'(user) {
    const agents = [await loggedIn(service, user), await loggedIn(service, user)]
    assert.match(await done(`/users/${user.id}/end-sessions`), /2 sessions ended/)
    for (const agent of agents) assert.equal((await agent.get('/auth/api/v1/user')).status, 401)
    await assertRecorded(user.id, 'session.ended')
  },

  async 'end-grant'(user) {
    const agent = await loggedIn(service, user)
    const client = await madeClient(service)
    const tokens = await granted(service, agent, client, 'openid offline_access')
    const [{ id: grant } = assert.fail('a grant')] = await database.rows(
      'SELECT id FROM grants WHERE user_id = ?',
      user.id,
    )
    const stranger = await newUser()
    assert.equal((await admin.submit(`/users/${stranger.id}/end-grant?grant=${String(grant)}`)).status, 409)
    assert.match(await done(`/users/${user.id}/end-grant?grant=${String(grant)}`), /disconnected/)
    await assertEnded(service, client, tokens)
    await assertRecorded(user.id, 'grant.ended')
  },

  async roles(user) {
    await operator.users.change(user.id, { roles: ['admin'] }, {})
    assert.match(
      await done(`/users/${user.id}/roles`, { roles: 'editor, author' }),
      /To take it back, change them to: admin\./,
    )
    assert.deepEqual((await show(user.id)).roles.toSorted(), ['author', 'editor'])
    await assertRecorded(user.id, 'user.roles_changed')
    const refused = await admin.submit(`/users/${user.id}/roles`, { roles: 'no*role' })
    assert.equal(refused.status, 422)
    assert.match(refused.text, /value="no\*role"/)
  },

  async email(user) {
    const email = newPerson().email
    assert.match(await done(`/users/${user.id}/email`, { email, verified: '1' }), /and verified\. To take it back/)
    const changed = await show(user.id)
    assert.deepEqual([changed.email, changed.emailVerifiedAtMs !== undefined], [email, true])
    await assertRecorded(user.id, 'email.changed')
    assert.match((await smtp.receivedFor(user.email)).text, /undo/i)
    const other = await newUser()
    assert.equal((await admin.submit(`/users/${user.id}/email`, { email: other.email })).status, 409)
    assert.equal((await admin.submit(`/users/${user.id}/email`, { email: 'no address' })).status, 422)
  },

  async 'verify-email'() {
    const user = await newUser({ emailVerified: false })
    assert.match(await done(`/users/${user.id}/verify-email`), /counts as verified/)
    assert.notEqual((await show(user.id)).emailVerifiedAtMs, undefined)
    await assertRecorded(user.id, 'email.verified')
  },

  async username(user) {
    const { username } = newPerson()
    assert.match(await done(`/users/${user.id}/username`, { username }), new RegExp(`change it to ${user.username}`))
    assert.equal((await show(user.id)).username, username)
    await assertRecorded(user.id, 'username.changed')
    assert.equal((await admin.submit(`/users/${user.id}/username`, { username: '-' })).status, 422)
  },

  async unlock(user) {
    assert.match(await done(`/users/${user.id}/unlock`), /count from zero/)
    await assertRecorded(user.id, 'user.unlocked')
  },

  async 'reset-second-factor'(user) {
    await setUpCodes({ core: operator, clock }, { id: user.id, person: user })
    assert.match(await done(`/users/${user.id}/reset-second-factor`), /Removed: the app and 10 recovery codes/)
    assert.equal((await show(user.id)).hasCodes, false)
    await assertRecorded(user.id, 'second_factor.reset')
  },

  async 'reset-link'(user) {
    assert.match(await done(`/users/${user.id}/reset-link`), /is mailed to/)
    assert.match((await smtp.receivedFor(user.email)).link, /\/auth\/password\/reset\?token=/)
    await assertRecorded(user.id, 'password.reset_link_created')
    const shown = await admin.submit(`/users/${user.id}/reset-link`, { how: 'show' })
    assert.equal(shown.status, 200)
    assert.match(shown.text, /\/auth\/password\/reset\?token=/)
    assert.equal(shown.headers['cache-control'], 'no-store')
  },

  async 'invite-again'() {
    const { email } = newPerson()
    const invited = await admin.follow(await admin.submit('/invite', { email, roles: 'author', reason: 'New here' }))
    assert.match(invited.text, /gets an invitation by mail/)
    const user = (await operator.users.find(email)) ?? assert.fail('the user is there')
    assert.deepEqual((await show(user.id)).roles, ['author'])
    assert.match(invited.text, /has not entered the account yet/)
    assert.match(await done(`/users/${user.id}/invite-again`), /gets an invitation by mail/)
    assert.match((await smtp.receivedFor(email, 2)).link, /token=/)
    await assertRecorded(user.id, 'user.invited')
    const entered = await newUser()
    assert.equal((await admin.submit(`/users/${entered.id}/invite-again`)).status, 409)
  },
}

describe('what can be done to an account', () => {
  test('is in the table, and each of it is tested', () => {
    assert.deepEqual(Object.keys(CASES).sort(), USER_ACTS.map(({ path }) => path).sort())
  })

  for (const [name, run] of Object.entries(CASES)) test(name, async () => run(await newUser()))

  test('takes a reason of one line, and none that would hide something', async () => {
    const user = await newUser()
    for (const reason of ['x'.repeat(201), 'two\nlines', 'turned \u202e round', 'a\u001b[2Jb', 'a\u2028b']) {
      const refused = await admin.submit(`/users/${user.id}/disable`, { reason })
      assert.equal(refused.status, 422, JSON.stringify(reason))
      assert.match(refused.text, /<p class="problem" role="alert" id="reason-problem">/)
    }
    assert.equal((await show(user.id)).disabled, false)
    assert.match(await done(`/users/${user.id}/disable`, { reason: '\u{1f600}'.repeat(200) }), /disabled/)
    const without = await newUser()
    await admin.submit(`/users/${without.id}/disable`, { reason: '  ' })
    assert.deepEqual(await recordsOf(without.id, 'user.disabled'), [{ actor: 'cli', details: '{}' }])
  })

  test('is done once, and only from the page that asked', async () => {
    const user = await newUser()
    const answer = await admin.submit(`/users/${user.id}/disable`, { csrf_token: 'x'.repeat(43) })
    assert.equal(answer.status, 403)
    assert.match(answer.text, /This page was too old, and nothing was done/)
    assert.equal((await show(user.id)).disabled, false)
    const twice = await Promise.all([1, 2].map(() => admin.submit(`/users/${user.id}/disable`)))
    assert.ok(twice.every(({ status }) => status === 303 || status === 409))
    assert.equal((await recordsOf(user.id, 'user.disabled')).length, 1)
  })

  test('is said once, in the browser that did it', async () => {
    const user = await newUser()
    const answer = await admin.submit(`/users/${user.id}/disable`)
    const page = await admin.follow(answer)
    assert.match(page.text, /id="done"[^>]*>|class="box[^"]*"[^>]*id="done"/)
    assert.doesNotMatch((await admin.open(`/users/${user.id}`)).text, /To take it back, enable/)
    admin.agent.cookies.set(
      'svc_admin_done',
      `${Buffer.from(JSON.stringify([`/users/${user.id}`, 'Forged'])).toString('base64url')}.x`,
    )
    assert.doesNotMatch((await admin.open(`/users/${user.id}`)).text, /Forged/)
  })
})
