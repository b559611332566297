// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openMachineAdmin } from '../../support/admin/machine-admin.ts'
import { loggedIn, logIn, newAgent, newPerson } from '../../support/client/accounts.ts'
import { createBackend } from '../../support/client/backend.ts'
import { madeClient } from '../../support/clients/authorization.ts'
import { assertEnded, granted } from '../../support/clients/tokens.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabase } from '../../support/database/database.ts'
import { startMailedService } from '../../support/email/email-change.ts'
import { startWebhookReceiver, status } from '../../support/network/webhook-receiver.ts'
import { eventually } from '../../support/wait.ts'

const SECRET = 'a secret of enough bytes'

const clock = turnedClock()
const receiver = await startWebhookReceiver()
const mailed = await startMailedService({
  clock,
  env: {
    SVC_APP_NAME: '<Example>',
    SVC_CLIENTS: 'on',
    SVC_CLIENT_SCOPES: 'notes:read=Read your notes',
    SVC_MAIL_NOTICES: 'on',
    SVC_WEBHOOK_SECRET: SECRET,
    SVC_WEBHOOK_URL: receiver.url,
  },
})
const { service, operator, smtp } = mailed
const database = await openDatabase(service)
const admin = await openMachineAdmin(service, { clock })

const newUser = async () => {
  const person = newPerson()
  const { id } = await operator.users.create({ ...person, emailVerified: true })
  return { ...person, id }
}

/** What a person reads on a page. */
const textOf = ({ text }: { text: string }): string =>
  text
    .replaceAll(/<head>.*?<\/head>|<[^>]+>/gs, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()

const detailsOf = (row: Record<string, unknown> | undefined): unknown => JSON.parse(String(row?.details))

const titlesIn = ({ text }: { text: string }): string[] =>
  [...text.matchAll(/<b>([^<]+)<\/b>/g)].map(([, title = '']) => title)

const eventsOf = (query: string) => admin.open(`/events?${query}`)

describe('/events', () => {
  test('is narrowed down by type, user, actor, address, request and time', async () => {
    const user = await newUser()
    const site = { url: service.url, headers: { 'x-forwarded-for': '203.0.113.77', 'user-agent': 'Filter/1.0' } }
    await loggedIn(site, user)
    await operator.users.change(user.id, { disabled: true }, { actor: 'cli' })
    const [login = assert.fail('a record')] = await database.rows(
      "SELECT request_id FROM audit_events WHERE user_id = ? AND type = 'login.succeeded'",
      user.id,
    )
    const mine = `user=${user.id}`
    assert.deepEqual(titlesIn(await eventsOf(mine)), [
      'Session ended',
      'User disabled',
      'Login succeeded',
      'User created',
    ])
    for (const name of [user.email, user.username.toUpperCase(), user.id.toUpperCase()])
      assert.equal(titlesIn(await eventsOf(`user=${name}`)).length, 4, name)
    assert.deepEqual(titlesIn(await eventsOf(`${mine}&type=user.disabled`)), ['User disabled'])
    assert.deepEqual(titlesIn(await eventsOf(`${mine}&actor=cli`)), ['Session ended', 'User disabled'])
    assert.deepEqual(titlesIn(await eventsOf('address=203.0.113.77')), ['Login succeeded'])
    assert.deepEqual(titlesIn(await eventsOf(`request=${String(login.request_id)}`)), ['Login succeeded'])
    assert.deepEqual(titlesIn(await eventsOf(`${mine}&since=2999-01-01T00:00`)), [])
    assert.equal(titlesIn(await eventsOf(`${mine}&until=2999-01-01T00:00&since=2020-01-01T00:00:00%2B02:00`)).length, 4)
    assert.match((await eventsOf(mine)).text, new RegExp(`/users/${user.id}"[^>]*>${user.email}`))
  })

  test('says what a filter may be', async () => {
    for (const query of [
      'type=no.such',
      'address=example.com',
      'since=yesterday',
      'until=2026-13-01T00:00',
      'actor=user',
    ]) {
      const answer = await admin.open(`/events?${query}`)
      assert.equal(answer.status, 422, query)
      assert.match(textOf(answer), new RegExp(`The field &quot;${query.split('=')[0]}&quot;|"${query.split('=')[0]}"`))
    }
    assert.equal((await admin.open('/events?cursor=x')).status, 400)
  })

  test('goes on to older records', async () => {
    const user = await newUser()
    for (let count = 0; count < 53; count += 1)
      await operator.users.change(user.id, { roles: [`role-${count}`] }, { actor: 'cli' })
    const first = await admin.open(`/events?user=${user.id}`)
    assert.equal(titlesIn(first).length, 50)
    const [, next = ''] = /rel="next" href="([^"]*)"/.exec(first.text) ?? []
    const second = await admin.agent.get(next.replaceAll('&amp;', '&'), { 'sec-fetch-site': 'same-origin' })
    assert.equal(titlesIn(second).length, 4)
    assert.match(second.text, />Newest</)
  })

  test('is exported whole, safe for spreadsheets and terminals, and that is a record', async () => {
    const user = await newUser()
    const agents = ['=cmd|calc', '+1', '-1', '@x', '"quoted", and more', "'=1"]
    for (const agent of agents) await logIn(newAgent({ url: service.url, headers: { 'user-agent': agent } }), user)
    const csv = await admin.submit(`/events/export?user=${user.id}`, { format: 'csv', reason: 'Court order 7' })
    assert.equal(csv.status, 200)
    assert.equal(csv.headers['content-type'], 'text/csv; charset=utf-8')
    assert.equal(csv.headers['content-disposition'], 'attachment; filename="records.csv"')
    const lines = csv.text.split('\r\n')
    assert.equal(lines[0], 'id,at,type,user_id,actor,address,user_agent,request_id,session_id,details')
    assert.equal(lines.length, agents.length + 3)
    assert.doesNotMatch(csv.text, /(?:^|,)"?\s*[=+\-@\t]/m)
    assert.doesNotMatch(csv.text.replaceAll('\r\n', ''), /[\p{Cc}\u202e]/u)
    const jsonl = await admin.submit(`/events/export?user=${user.id}&type=login.succeeded`, { format: 'jsonl' })
    const rows = jsonl.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { user_agent: string; type: string })
    assert.equal(rows.length, agents.length)
    assert.ok(rows.some(({ user_agent: agent }) => agent === '=cmd|calc'))
    assert.doesNotMatch(jsonl.text.replaceAll('\n', ''), /[\p{Cc}\u202e]/u)
    const records = await database.rows(
      "SELECT actor, details FROM audit_events WHERE type = 'audit.exported' ORDER BY id",
    )
    assert.deepEqual(
      records.map(({ actor, details }) => [actor, details]),
      [
        ['cli', '{"reason":"Court order 7"}'],
        ['cli', '{}'],
      ],
    )
    assert.equal((await admin.submit('/events/export', { reason: 'two\nlines' })).status, 422)
  })
})

describe('/deliveries', () => {
  test('shows webhooks by their state, one with its attempts, and sends it again', async () => {
    receiver.answerWith(status(410))
    const user = await newUser()
    const shown = async (query: string) => textOf(await admin.open(`/deliveries?${query}`))
    await eventually('it has failed', async () => (await shown('state=failed')).includes('user.created'))
    const list = await admin.open('/deliveries?state=failed')
    const [, id = ''] = /\/deliveries\/webhooks\/([\w-]+)"/.exec(list.text) ?? []
    assert.ok(!(await shown('state=done')).includes(id))
    const one = await admin.open(`/deliveries/webhooks/${id}`)
    assert.match(textOf(one), /Attempt 1 failed/)
    assert.match(one.text, new RegExp(`/users/${user.id}`))
    assert.doesNotMatch(one.text, new RegExp(SECRET))
    receiver.answerWith(status(204))
    const again = await admin.follow(await admin.submit(`/deliveries/webhooks/${id}/again`, { reason: 'Mended' }))
    assert.match(textOf(again), /It waits for the running service/)
    await eventually('it is delivered', async () =>
      textOf(await admin.open(`/deliveries/webhooks/${id}`)).includes('Attempt 2'),
    )
    const [record] = await database.rows("SELECT user_id, details FROM audit_events WHERE type = 'webhook.redelivered'")
    assert.deepEqual([record?.user_id, detailsOf(record)], [user.id, { webhook_id: id, reason: 'Mended' }])
  })

  test('shows messages without what they say, and sends failed ones again', async () => {
    smtp.failAt('rcpt', 550)
    const user = await newUser()
    await admin.submit(`/users/${user.id}/reset-link`)
    const failed = async () => admin.open('/deliveries?kind=messages&state=failed')
    await eventually('it has failed', async () => (await failed()).text.includes(user.email))
    const [, id = ''] = /\/deliveries\/messages\/([\w-]+)"/.exec((await failed()).text) ?? []
    const one = await admin.open(`/deliveries/messages/${id}`)
    assert.match(textOf(one), /What a message says is not shown/)
    assert.doesNotMatch(one.text, /token=/)
    smtp.mend()
    const all = await admin.follow(
      await admin.submit('/deliveries/again?kind=messages', { since: '1', reason: 'Mended' }),
    )
    assert.match(textOf(all), /[1-9]\d* deliver(?:y waits|ies wait) for the running service/)
    assert.match((await smtp.receivedFor(user.email)).link, /token=/)
    const records = await database.rows(
      "SELECT details FROM audit_events WHERE type = 'mail.resent' AND user_id = ?",
      user.id,
    )
    assert.deepEqual(records.map(detailsOf), [{ message_id: id, reason: 'Mended' }])
  })

  test('what is not there is not found', async () => {
    const id = '00000000-0000-7000-8000-000000000000'
    for (const page of [`webhooks/${id}`, `messages/${id}`, `webhooks/${id}/again`, 'webhooks/x', 'messages/%00'])
      assert.ok([404, 400].includes((await admin.open(`/deliveries/${page}`)).status), page)
    assert.equal((await admin.open('/deliveries?cursor=1')).status, 400)
  })
})

describe('/clients', () => {
  test('shows the grants of each in number, ends them, and disables the client', async () => {
    const client = await madeClient(service, { name: '<i>Notes</i>' })
    const user = await newUser()
    const agent = await loggedIn(service, user)
    const tokens = await granted(service, agent, client, 'openid offline_access')
    const list = await admin.open('/clients')
    assert.match(textOf(list), /1 grant /)
    assert.match(list.text, /&lt;i>Notes|&lt;i&gt;Notes/)
    const ended = await admin.follow(await admin.submit(`/clients/end-grants?id=${client.id}`, { reason: 'Leaked' }))
    assert.match(textOf(ended), /1 grant of .* ended\. Users can connect it again/)
    await assertEnded(service, client, tokens)
    const disabled = await admin.follow(await admin.submit(`/clients/disable?id=${client.id}`, { reason: 'Leaked' }))
    assert.match(textOf(disabled), /is disabled, and its grants have ended\. To take it back, enable it/)
    assert.match(disabled.text, new RegExp(`/clients/enable\\?id=${client.id}`))
    await admin.follow(await admin.submit(`/clients/enable?id=${client.id}`))
    await granted(service, agent, client, 'openid offline_access')
    const records = await database.rows(
      "SELECT type, actor, details FROM audit_events WHERE type IN ('client.changed', 'grant.ended') ORDER BY id",
    )
    assert.ok(records.every(({ actor }) => actor === 'cli'))
    assert.equal(records.filter(({ details }) => String(details).includes('"reason":"Leaked"')).length, 2)
    for (const id of ['none', '', '%00']) assert.equal((await admin.open(`/clients/disable?id=${id}`)).status, 404, id)
  })
})

describe('/system', () => {
  test('says which processes serve, and what is set, without a secret', async () => {
    const backend = await createBackend(service, ['users:read'])
    await eventually('the process is seen', async () =>
      textOf(await admin.open('/system')).includes('serves in 1 process'),
    )
    const page = await admin.open('/system')
    const text = textOf(page)
    assert.match(text, /SVC_WEBHOOK_SECRET set environment/)
    assert.match(text, /all are applied/)
    assert.match(text, /users:read · made .* never used/)
    await backend.call('GET', '/users')
    await eventually('the key was used', async () => !textOf(await admin.open('/system')).includes('never used'))
    for (const secret of [SECRET, backend.key, backend.key.slice(-20)]) assert.ok(!page.text.includes(secret))
  })

  test('looks for problems when it is told to', async () => {
    assert.match(textOf(await admin.open('/system')), /Nobody has looked yet/)
    const { text } = await admin.open('/system')
    const [, csrf = ''] = /name="csrf_token" value="([\w-]+)"/.exec(text) ?? []
    const headers = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' }
    const send = (body: string) =>
      admin.agent.send({ method: 'POST', path: `${admin.base}/system/examine`, headers, body })
    assert.equal((await send('')).status, 403)
    assert.equal((await send(`csrf_token=${csrf}`)).status, 303)
    assert.match(textOf(await admin.open('/system')), /The clock differs\. clock_differs Set it\./)
  })
})

test('the names of the application and of people are text on every page', async () => {
  const { text } = await admin.open('/')
  assert.match(text, /&lt;Example>|&lt;Example&gt;/)
  assert.doesNotMatch(text, /<Example>/)
})
