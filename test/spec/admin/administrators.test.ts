// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NAVIGATION, OWN_FORM } from '../../support/admin/machine-admin.ts'
import {
  ADMIN_URL,
  adminSettings,
  newAdminAuthenticator,
  newAdminBrowser,
  newAdministrator,
  proofFor,
  scriptTokenOf,
  sendJson,
  tryToJoin,
  tryToSignIn,
} from '../../support/admin/origin-admin.ts'
import { newPerson } from '../../support/client/accounts.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabase } from '../../support/database/database.ts'
import { startMailedService } from '../../support/email/email-change.ts'
import { createAuthenticator } from '../../support/passkeys/authenticator.ts'
import { runCommandOf, runJsonCommandOf } from '../../support/service/operator-commands.ts'
import { eventually } from '../../support/wait.ts'

const MINUTE = 60_000

const clock = turnedClock()
const mailed = await startMailedService({ clock, env: { ...(await adminSettings()), SVC_RATE_LIMIT: 'on' } })
const { service, operator, smtp } = mailed
const database = await openDatabase(service)

const newUser = async () => operator.users.create({ ...newPerson(), emailVerified: true })

const invite = async (name: string, role = 'look'): Promise<string> =>
  (await runCommandOf(service, ['admins', 'invite', name, '--email', `${name}@example.com`, '--role', role])).trim()

const recordsOf = async (type: string, name: string) => {
  const rows = await database.rows(
    'SELECT actor, address, request_id, details FROM audit_events WHERE type = ? AND details LIKE ? ORDER BY id',
    type,
    `%"administrator":"${name}"%`,
  )
  return rows.map(({ actor, address, request_id: requestId, details }) => ({
    actor,
    address,
    requestId,
    details: JSON.parse(String(details)) as Record<string, unknown>,
  }))
}

describe('an administrator', () => {
  test('is invited by command, makes a passkey in the link, and is in', async () => {
    const link = await invite('ada')
    assert.match(link, new RegExp(`^${ADMIN_URL}/join\\?token=[\\w-]{43}$`))
    const browser = newAdminBrowser(service)
    const page = await browser.open(link.slice(ADMIN_URL.length))
    assert.match(page.text, /<b>ada<\/b>/)
    const joined = await tryToJoin(browser, link, newAdminAuthenticator())
    assert.equal(joined.status, 201)
    assert.equal(joined.headers.location, '/passkeys')
    assert.deepEqual(joined.cookie('__Host-svc_admin')?.attributes, {
      path: '/',
      httponly: '',
      samesite: 'Strict',
      secure: '',
    })
    assert.match((await browser.open('/passkeys')).text, /You have one passkey\. Add a second one/)
    assert.match((await browser.open('/')).text, />ada<\/a> <span>only looks/)
    const again = await tryToJoin(newAdminBrowser(service), link, newAdminAuthenticator())
    assert.equal(again.status, 410)
    assert.match((await smtp.receivedFor('ada@example.com')).text, /added a passkey at admin\.example\.com/)
    assert.equal((await recordsOf('administrator.invited', 'ada'))[0]?.actor, 'cli')
    const [record] = await recordsOf('administrator.signed_in', 'ada')
    assert.deepEqual([record?.actor, record?.details.method], ['admin:ada', 'invitation'])
    assert.equal(record?.address, '203.0.113.50')
  })

  test('signs in with that passkey, and goes on with the page that they asked for', async () => {
    const { authenticator } = await newAdministrator(service, 'look')
    const browser = newAdminBrowser(service)
    const asked = await browser.open('/events?type=signup')
    assert.equal(asked.status, 401)
    assert.match(asked.text, /<h1>Sign in<\/h1>/)
    const answer = await tryToSignIn(browser, authenticator, '/events?type=signup')
    assert.deepEqual(answer.json(), { redirect_to: '/events?type=signup' })
    const { text, status } = await browser.open('/events?type=signup')
    assert.deepEqual([status, text.includes('Only what the filter leaves')], [200, true])
  })

  test('is told of each sign-in by mail, and it is recorded', async () => {
    const { name, authenticator } = await newAdministrator(service, 'look')
    assert.equal((await tryToSignIn(newAdminBrowser(service), authenticator)).status, 200)
    const mail = await smtp.receivedFor(`${name}@example.com`, 2)
    assert.match(mail.text, new RegExp(`The administrator ${name} signed in at admin\\.example\\.com`))
    assert.match(mail.text, /203\.0\.113\.50/)
    assert.match(mail.text, new RegExp(`svc admins reset ${name}`))
    const [, record] = await recordsOf('administrator.signed_in', name)
    assert.deepEqual([record?.actor, record?.details.method], [`admin:${name}`, 'passkey'])
    assert.match(String(record?.requestId), /^[0-9a-f]{20}$/)
  })

  test('never goes on with an address elsewhere', async () => {
    const { authenticator } = await newAdministrator(service, 'look')
    const addresses = [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example',
      '/%0d%0aX:1',
      'javascript:alert(1)',
      '',
    ]
    for (const to of addresses) {
      const browser = newAdminBrowser(service)
      const csrf = scriptTokenOf(await browser.open('/'))
      const options = await sendJson(browser, '/passkeys/login/options', {}, csrf)
      const response = authenticator.authenticate(options.json())
      const answer = await sendJson(browser, `/passkeys/login?to=${encodeURIComponent(to)}`, response, csrf)
      assert.equal(answer.status, 200)
      const { redirect_to: target } = answer.json<{ redirect_to: string }>()
      assert.equal(new URL(target, ADMIN_URL).origin, ADMIN_URL, to)
    }
  })

  test('comes with a link from elsewhere, to which the browser adds no cookie, by a page of this origin', async () => {
    const { browser } = await newAdministrator(service, 'look')
    const headers = { ...NAVIGATION, 'sec-fetch-site': 'cross-site', cookie: [] }
    const arrived = await browser.agent.send({ method: 'GET', path: '/users/x', headers })
    assert.equal(arrived.status, 401)
    assert.match(arrived.text, /http-equiv="refresh" content="0;url=\/users\/x"/)
    assert.equal((await browser.open('/', OWN_FORM)).status, 200)
  })

  test('signs out, and the session is over', async () => {
    const { browser, name } = await newAdministrator(service, 'look')
    const csrf = /name="csrf_token" value="([\w-]+)"/.exec((await browser.open('/')).text)?.[1] ?? ''
    const thief = browser.agent.copy()
    const answer = await browser.agent.send({
      method: 'POST',
      path: '/sign-out',
      headers: { ...OWN_FORM, 'content-type': 'application/x-www-form-urlencoded' },
      body: `csrf_token=${csrf}`,
    })
    assert.deepEqual([answer.status, answer.cleared], [303, ['__Host-svc_admin']])
    assert.equal((await thief.get('/', NAVIGATION)).status, 401)
    assert.equal((await recordsOf('administrator.signed_out', name)).length, 1)
  })
})

describe('a link of an invitation', () => {
  test('is good for an hour, and a newer one takes its place', async () => {
    const old = await invite('hour')
    const { url } = await runJsonCommandOf<{ url: string }>(service, ['admins', 'reset', 'hour'])
    assert.equal((await tryToJoin(newAdminBrowser(service), old, newAdminAuthenticator())).status, 410)
    await clock.turnTo(clock.aheadMs() + 60 * MINUTE)
    const late = await newAdminBrowser(service).open(url.slice(ADMIN_URL.length))
    assert.equal(late.status, 410)
    assert.match(late.text, /svc admins reset/)
    assert.equal((await tryToJoin(newAdminBrowser(service), url, newAdminAuthenticator())).status, 410)
  })

  test('is used once, however many follow it at the same time', async () => {
    const link = await invite('race')
    const answers = await Promise.all(
      [1, 2, 3].map(() => tryToJoin(newAdminBrowser(service), link, newAdminAuthenticator())),
    )
    const statuses = answers.map(({ status }) => status).toSorted((one, other) => one - other)
    assert.deepEqual(statuses, [201, 410, 410])
    const all = await runJsonCommandOf<{ name: string; passkeys: number }[]>(service, ['admins', 'list'])
    assert.equal(all.find(({ name }) => name === 'race')?.passkeys, 1)
  })
})

describe('the command', () => {
  test('refuses bad names, addresses and roles, and names that are taken', async () => {
    const run = (...args: string[]) => service.cli(['admins', ...args])
    for (const name of ['Ada', 'a b', '-x', '.x', 'x'.repeat(65), 'ä'])
      assert.equal((await run('invite', '--email', 'a@example.com', '--role', 'look', '--', name)).code, 1, name)
    assert.equal((await run('invite', 'ok', '--email', 'no address', '--role', 'look')).code, 1)
    assert.equal((await run('invite', 'ok', '--email', 'a@example.com', '--role', 'admin')).code, 2)
    assert.equal((await run('invite', 'ok', '--email', 'a@example.com')).code, 2)
    await invite('taken')
    const taken = await run('invite', 'taken', '--email', 'a@example.com', '--role', 'look')
    assert.deepEqual([taken.code, /reset gives them a new link/.test(taken.stderr)], [1, true])
    for (const args of [
      ['set-role', 'none', '--role', 'look'],
      ['reset', 'none'],
      ['remove', 'none'],
    ])
      assert.match((await run(...args)).stderr, /There is no administrator "none"/)
    const off = await service.cli(['admins', 'invite', 'ok', '--email', 'a@example.com', '--role', 'look'], {
      env: { SVC_ADMIN_URL: undefined, SVC_ADMIN_PORT: undefined },
    })
    assert.match(off.stderr, /set SVC_ADMIN_URL and SVC_ADMIN_PORT/)
  })

  test('takes effect with the next request: a role, a reset and a removal end what is open', async () => {
    for (const [args, isPasskeyGone, type] of [
      [['set-role', '--role', 'look'], false, 'administrator.role_changed'],
      [['reset'], true, 'administrator.reset'],
      [['remove'], true, 'administrator.removed'],
    ] as const) {
      const { name, browser, authenticator } = await newAdministrator(service, 'change')
      const user = await newUser()
      assert.equal((await browser.open(`/users/${user.id}`)).status, 200)
      await runCommandOf(service, ['admins', args[0], name, ...args.slice(1)])
      assert.equal((await browser.open(`/users/${user.id}`)).status, 401)
      assert.equal((await browser.submit(`/users/${user.id}/disable`)).status, 401)
      assert.equal((await operator.users.find(user.id))?.disabled, false)
      const signedIn = await tryToSignIn(browser, authenticator)
      assert.equal(signedIn.status, isPasskeyGone ? 401 : 200)
      if (!isPasskeyGone) assert.equal((await browser.submit(`/users/${user.id}/disable`)).status, 403)
      assert.match((await smtp.receivedFor(`${name}@example.com`, 2)).subject, /Your access to the administration/)
      const records = await recordsOf(type, name)
      assert.deepEqual(
        records.map(({ actor, details }) => [actor, details]),
        [['cli', { administrator: name, roles: [args[0] === 'set-role' ? 'look' : 'change'] }]],
      )
    }
  })

  test('lists who there is, and the system page shows the same', async () => {
    const { name, browser } = await newAdministrator(service, 'look')
    const all = await runJsonCommandOf<Record<string, unknown>[]>(service, ['admins', 'list'])
    const found = all.find((each) => each.name === name)
    assert.deepEqual(Object.keys(found ?? {}), [
      'id',
      'name',
      'email',
      'role',
      'passkeys',
      'created_at',
      'last_used_at',
      'invited_until',
    ])
    assert.match((await browser.open('/system')).text, new RegExp(`${name} <span class="badge plain">look`))
  })
})

describe('a session', () => {
  test('ends after 30 minutes without a request, and after 8 hours', async () => {
    const { browser } = await newAdministrator(service, 'look')
    const begin = clock.aheadMs()
    for (let minutes = 29; minutes < 8 * 60; minutes += 29) {
      await clock.turnTo(begin + minutes * MINUTE)
      assert.equal((await browser.open('/')).status, 200, String(minutes))
    }
    await clock.turnTo(begin + 8 * 60 * MINUTE)
    assert.equal((await browser.open('/')).status, 401)
    const idle = await newAdministrator(service, 'look')
    await clock.turnTo(clock.aheadMs() + 30 * MINUTE)
    assert.equal((await idle.browser.open('/')).status, 401)
  })

  test('changes nothing unless a passkey was shown in the last ten minutes', async () => {
    const admin = await newAdministrator(service, 'change')
    const { browser } = admin
    const user = await newUser()
    const page = `/users/${user.id}/username`
    assert.equal((await browser.submit(page, { username: newPerson().username })).status, 303)
    await clock.turnTo(clock.aheadMs() + 10 * MINUTE)
    assert.match((await browser.open(page)).text, /data-passkey="fill"/)
    const { username } = newPerson()
    const without = await browser.submit(page, { username, reason: 'kept' })
    assert.equal(without.status, 422)
    assert.match(without.text, /Show your passkey/)
    assert.match(without.text, /value="kept"/)
    const other = await newAdministrator(service, 'change')
    const foreign = await proofFor({ browser, authenticator: other.authenticator }, page)
    assert.equal((await browser.submit(page, { username, passkey_response: foreign })).status, 422)
    assert.notEqual((await operator.users.find(user.id))?.username, username)
    const proof = await proofFor(admin, page)
    assert.equal((await browser.submit(page, { username, passkey_response: proof })).status, 303)
    assert.equal((await operator.users.find(user.id))?.username, username)
    assert.equal((await browser.submit(page, { username: newPerson().username })).status, 303)
    await clock.turnTo(clock.aheadMs() + 10 * MINUTE)
    const twice = await browser.submit(page, { username: newPerson().username, passkey_response: proof })
    assert.equal(twice.status, 422)
  })

  test('has the actor and the client in the records of what it does', async () => {
    const { name, browser } = await newAdministrator(service, 'change')
    const user = await newUser()
    await browser.submit(`/users/${user.id}/disable`, { reason: 'Fraud' })
    const rows = await database.rows(
      'SELECT type, actor, address, details FROM audit_events WHERE user_id = ? AND actor <> ? ORDER BY id',
      user.id,
      'system',
    )
    assert.deepEqual(
      rows.map(({ type, actor, address, details }) => [type, actor, address, details]),
      [['user.disabled', `admin:${name}`, '203.0.113.50', '{"reason":"Fraud"}']],
    )
    const lines = service.logLines().filter(({ event, user_id: id }) => event === 'account_disable' && id === user.id)
    assert.deepEqual(
      lines.map(({ administrator }) => administrator),
      [name],
    )
  })

  test('never shows a link into an account', async () => {
    const { browser } = await newAdministrator(service, 'change')
    const user = await newUser()
    const answer = await browser.submit(`/users/${user.id}/reset-link`, { how: 'show' })
    assert.equal(answer.status, 303)
    assert.doesNotMatch((await browser.open(`/users/${user.id}`)).text, /token=/)
    assert.match((await smtp.receivedFor(user.email)).link, /token=/)
  })
})

const countOf = async (address: string): Promise<number> => {
  const rows = await database.rows(
    "SELECT details FROM audit_events WHERE type = 'administrator.sign_in_failed' AND address = ?",
    address,
  )
  const counts = rows.map(({ details }) => (JSON.parse(String(details)) as { count: number }).count)
  return counts.reduce((sum, count) => sum + count, 0)
}

describe('passkeys', () => {
  test('are those of this origin alone: one of the application does not work here', async () => {
    const { browser } = await newAdministrator(service, 'look')
    const link = await invite('foreign')
    for (const foreign of [
      createAuthenticator({ origin: service.url }),
      createAuthenticator({ origin: ADMIN_URL, relyingPartyId: 'example.com' }),
    ])
      assert.equal((await tryToJoin(newAdminBrowser(service), link, foreign)).status, 400)
    assert.equal((await browser.open('/.well-known/webauthn')).status, 404)
    const own = newAdminAuthenticator()
    assert.equal((await tryToJoin(newAdminBrowser(service), link, own)).status, 201)
    for (const ways of [{ origin: service.url }, { relyingPartyId: 'localhost' }, { userVerified: false }]) {
      const asked = newAdminBrowser(service)
      const csrf = scriptTokenOf(await asked.open('/'))
      const options = await sendJson(asked, '/passkeys/login/options', {}, csrf)
      const answer = await sendJson(asked, '/passkeys/login', own.authenticate(options.json(), ways), csrf)
      assert.equal(answer.status, 401, JSON.stringify(ways))
      assert.equal(answer.headers['x-svc-reason'], 'passkey_wrong')
      assert.equal(answer.cookie('__Host-svc_admin'), undefined)
    }
  })

  test('have challenges that are good once, in one browser, and with the token of its page', async () => {
    const { authenticator } = await newAdministrator(service, 'look')
    const browser = newAdminBrowser(service)
    const csrf = scriptTokenOf(await browser.open('/'))
    const options = await sendJson(browser, '/passkeys/login/options', {}, csrf)
    const response = authenticator.authenticate(options.json())
    const other = newAdminBrowser(service)
    assert.equal((await sendJson(other, '/passkeys/login', response, scriptTokenOf(await other.open('/')))).status, 400)
    assert.equal((await sendJson(browser, '/passkeys/login', response, 'x'.repeat(43))).status, 403)
    const thief = browser.agent.copy()
    assert.equal((await sendJson(browser, '/passkeys/login', response, csrf)).status, 200)
    assert.equal((await sendJson({ ...browser, agent: thief }, '/passkeys/login', response, csrf)).status, 400)
  })

  test('are added and removed, but for the last one; a removal ends other sessions', async () => {
    const admin = await newAdministrator(service, 'look')
    const { browser, authenticator, name } = admin
    const add = async () => {
      const csrf = scriptTokenOf(await browser.open('/passkeys'))
      const options = await sendJson(browser, '/passkeys/register/options', {}, csrf)
      if (options.status !== 200) return { status: options.status, second: authenticator }
      const second = newAdminAuthenticator()
      const { status } = await sendJson(browser, '/passkeys/register', second.register(options.json()), csrf)
      return { status, second }
    }
    const idsOf = async () =>
      [...(await browser.open('/passkeys')).text.matchAll(/\/passkeys\/([\w-]+)\/remove/g)].map(([, id]) => id)
    assert.deepEqual(await idsOf(), [])
    const { status, second } = await add()
    assert.equal(status, 201)
    assert.match((await browser.open('/passkeys')).text, /is added/)
    const elsewhere = newAdminBrowser(service)
    assert.equal((await tryToSignIn(elsewhere, second)).status, 200)
    const ids = await idsOf()
    assert.equal(ids.length, 2)
    const removed = await browser.follow(await browser.submit(`/passkeys/${ids[1]}/remove`))
    assert.match(removed.text, /is removed/)
    assert.equal((await elsewhere.open('/')).status, 401)
    assert.equal((await tryToSignIn(elsewhere, second)).status, 401)
    assert.equal((await browser.submit(`/passkeys/${ids[0]}/remove`)).status, 409)
    await clock.turnTo(clock.aheadMs() + 10 * MINUTE)
    assert.match((await browser.open('/passkeys')).text, /data-passkey="fill"/)
    assert.equal((await add()).status, 403)
    const proof = await proofFor(admin, '/passkeys')
    assert.equal((await browser.submit('/passkeys', { passkey_response: proof })).status, 303)
    assert.equal((await add()).status, 201)
    assert.equal((await recordsOf('administrator.passkey_added', name)).length, 3)
    assert.equal((await recordsOf('administrator.passkey_removed', name)).length, 1)
  })

  test('that are wrong are counted, and limited for the network', async () => {
    const browser = newAdminBrowser(service, { 'x-forwarded-for': '198.51.100.44' })
    const good = newAdminAuthenticator()
    await tryToJoin(newAdminBrowser(service), await invite('limited'), good)
    const wrong = newAdminAuthenticator()
    const csrf = scriptTokenOf(await browser.open('/'))
    const answers = []
    for (let count = 0; count < 101; count += 1) {
      const options = await sendJson(browser, '/passkeys/login/options', {}, csrf)
      answers.push((await sendJson(browser, '/passkeys/login', wrong.authenticate(options.json()), csrf)).status)
    }
    assert.deepEqual([answers.slice(0, 100).every((status) => status === 401), answers[100]], [true, 429])
    assert.equal((await tryToSignIn(newAdminBrowser(service), good)).status, 200)
    await eventually('all of them are counted', async () => (await countOf('198.51.100.44')) === 100)
  })
})
