// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ADMIN_ROWS, nameOfRow, pathOfRow, reads, writes } from '../../support/admin/admin-rows.ts'
import { csrfTokenOf, NAVIGATION, openMachineAdmin, OWN_FORM } from '../../support/admin/machine-admin.ts'
import { adminSettings, newAdministrator, sendJson } from '../../support/admin/origin-admin.ts'
import { logIn, newAgent, newPerson, signedUp } from '../../support/client/accounts.ts'
import { createBackend } from '../../support/client/backend.ts'
import { createUserAgent, urlEncoded } from '../../support/client/user-agent.ts'
import { madeClient } from '../../support/clients/authorization.ts'
import { granted } from '../../support/clients/tokens.ts'
import { openDatabase } from '../../support/database/database.ts'
import { startMailedService } from '../../support/email/email-change.ts'
import { startWebhookReceiver } from '../../support/network/webhook-receiver.ts'
import { runCommandOf } from '../../support/service/operator-commands.ts'
import { eventually } from '../../support/wait.ts'

/** It would be an element, end an attribute, begin a formula, and turn the direction of what follows. */
const HOSTILE = `=1+1<b id=xss onclick=alert(1)>"'&`
const TURNED = `${HOSTILE}\u202e\u001b[31m\t`

const receiver = await startWebhookReceiver()
const SECRET = 'a secret of enough bytes'
const { service, operator, smtp } = await startMailedService({
  env: {
    ...(await adminSettings()),
    SVC_APP_NAME: HOSTILE,
    SVC_CLIENTS: 'on',
    SVC_CLIENT_SCOPES: 'notes:read=Read your notes',
    SVC_EMAIL_VERIFICATION: 'optional',
    SVC_NAMES: 'optional',
    SVC_OAUTH_PROVIDERS: 'corp',
    SVC_OAUTH_CORP_ISSUER: receiver.url.replace(/\/$/, ''),
    SVC_OAUTH_CORP_CLIENT_ID: 'x',
    SVC_OAUTH_CORP_CLIENT_SECRET: 'y',
    SVC_OAUTH_CORP_LABEL: HOSTILE,
    SVC_WEBHOOK_SECRET: SECRET,
    SVC_WEBHOOK_URL: receiver.url,
  },
})
const database = await openDatabase(service)
const run = (sql: string, ...values: (string | number)[]) =>
  operator.db.inTransaction(async (transaction) => transaction.run(sql, ...values))

const newUser = async (changes: Record<string, unknown> = {}) => {
  const person = newPerson()
  const { id } = await operator.users.create({ ...person, emailVerified: true, ...changes })
  return { ...person, id }
}

const oneOf = async (sql: string, ...values: string[]): Promise<string> => {
  const [row] = await database.rows(sql, ...values)
  return typeof row?.id === 'string' ? row.id : assert.fail(sql)
}

const look = await newAdministrator(service, 'look')
const change = await newAdministrator(service, 'change')

/** No element is made of it, no attribute ends in it, and what it turns is inside a `<bdi>`. */
const assertIsText = (text: string, where: string): void => {
  assert.doesNotMatch(text, /<b id=xss|1\+1<|"'&/, where)
  assert.doesNotMatch(
    text.replaceAll(/\n|value="[^"]*"|<bdi>[^<]*<\/bdi>|aria-label="[^"]*"/g, ''),
    /[\u202e\p{Cc}]/u,
    where,
  )
}

const user = await newUser({ name: HOSTILE })
const agent = newAgent({ url: service.url, headers: { 'user-agent': `${HOSTILE}\t` } })
await logIn(agent, user)
const client = await madeClient(service, { name: HOSTILE })
await granted(service, agent, client, 'openid offline_access')
await operator.links.reset.createByOperator(user.id, { isMailed: true }, { actor: 'cli', reason: HOSTILE })
await eventually('messages and webhooks are there', async () => {
  const sent = await database.rows(
    `SELECT id FROM mail_messages WHERE user_id = ?
    UNION ALL SELECT event_id AS id FROM webhook_attempts`,
    user.id,
  )
  return sent.length >= 2
})
// What providers, receivers and mail servers say, as it could be in a row.
await run(
  "INSERT INTO identities (id, user_id, provider, issuer, subject, email, created_at) VALUES ('00000000-0000-7000-8000-00000000000a', ?, 'corp', 'https://x', ?, ?, 1)",
  user.id,
  TURNED,
  TURNED,
)
await run('UPDATE webhook_events SET problem = ?', TURNED)
await run('UPDATE webhook_attempts SET problem = ?', TURNED)
await run('UPDATE mail_messages SET problem = ?, recipient = ?', TURNED, TURNED)
await run(
  "UPDATE audit_events SET user_agent = ?, details = ? WHERE type = 'login.succeeded'",
  TURNED,
  JSON.stringify({ reason: TURNED, method: TURNED, [HOSTILE]: TURNED }),
)
await run('UPDATE administrator_passkeys SET name = ?', TURNED)

const subjects = {
  ids: {
    '/users/{id}': user.id,
    '/deliveries/webhooks/{id}': await oneOf('SELECT id FROM webhook_events LIMIT 1'),
    '/deliveries/messages/{id}': await oneOf('SELECT id FROM mail_messages WHERE user_id = ?', user.id),
    '/passkeys/{id}': await oneOf(
      'SELECT p.id FROM administrator_passkeys p JOIN administrators a ON a.id = p.administrator_id WHERE a.name = ?',
      change.name,
    ),
    '/assets/{file}': 'x',
  },
  queries: {
    '/users/{id}/end-session': `?session=${agent.cookies.get('svc_refresh')?.split('.')[0]}`,
    '/users/{id}/end-grant': `?grant=${await oneOf('SELECT id FROM grants WHERE user_id = ?', user.id)}`,
    '/clients/end-grants': `?id=${client.id}`,
    '/clients/disable': `?id=${client.id}`,
    '/clients/enable': `?id=${client.id}`,
  },
}

describe('hostile text', () => {
  test('is text on every page and form of the table', async () => {
    const { agent: administrator } = change.browser
    for (const row of ADMIN_ROWS.origin.filter(reads).filter(({ path }) => path !== '/assets/{file}')) {
      const { text } = await administrator.get(pathOfRow(row, subjects), OWN_FORM)
      assert.match(text, /&lt;b id=xss/, nameOfRow(row))
      assertIsText(text, nameOfRow(row))
    }
    for (const page of ['/deliveries?kind=messages', `/events?user=${user.id}`, '/?q=b+id%3Dxss'])
      assertIsText((await administrator.get(page, OWN_FORM)).text, page)
  })

  test('is text where an address, a form or a header is shown again', async () => {
    const { agent: administrator } = change.browser
    const text = encodeURIComponent(HOSTILE)
    for (const page of [
      '/?q=',
      '/?role=',
      '/?show=',
      '/?created=',
      '/events?type=',
      '/events?user=',
      '/events?actor=',
      '/events?address=',
      '/events?since=',
      '/users/',
      '/users/x?',
      '/clients/disable?id=',
      '/nothing/',
      '/join?token=',
    ])
      assertIsText((await administrator.get(page + text, NAVIGATION)).text, page)
    for (const header of ['origin', 'sec-fetch-site'])
      assertIsText((await administrator.get('/', { ...OWN_FORM, [header]: HOSTILE })).text, header)
    const csrf = csrfTokenOf(await change.browser.open('/system'))
    for (const row of ADMIN_ROWS.origin.filter(({ method }) => method === 'FORM').filter(writes)) {
      const fields = {
        reason: `${HOSTILE}\u0007`,
        email: HOSTILE,
        username: HOSTILE,
        roles: HOSTILE,
        confirmation: HOSTILE,
        since: HOSTILE,
        format: HOSTILE,
      }
      const headers = { ...OWN_FORM, 'content-type': 'application/x-www-form-urlencoded' }
      const body = urlEncoded({ csrf_token: csrf, ...fields })
      const answer = await administrator.send({ method: 'POST', path: pathOfRow(row, subjects), headers, body })
      assertIsText(answer.text, nameOfRow(row))
      if (!row.path.startsWith('/passkeys')) assert.ok(answer.status >= 400, nameOfRow(row))
    }
  })

  test('is no formula in CSV, one line in JSON Lines, and obeyed by no terminal', async () => {
    const csv = await change.browser.submit('/events/export', { format: 'csv', reason: HOSTILE })
    assert.equal(csv.status, 200)
    assert.doesNotMatch(csv.text, /(?:^|,)"?\s*[=+\-@\t]/m)
    assertNoControls(csv.text.replaceAll('\r\n', ''))
    const jsonl = await change.browser.submit('/events/export', { format: 'jsonl' })
    const lines = jsonl.text.trimEnd().split('\n')
    assert.ok(lines.map((line) => JSON.parse(line) as { type: string }).some(({ type }) => type === 'login.succeeded'))
    assertNoControls(lines.join(''))
    for (const args of [
      ['audit', 'list'],
      ['users', 'show', user.id],
      ['users', 'list'],
      ['admins', 'list'],
      ['mail', 'list'],
      ['webhooks', 'list'],
      ['clients', 'list'],
    ])
      assertNoControls((await runCommandOf(service, args)).replaceAll('\n', ''))
  })
})

const assertNoControls = (text: string): void => assert.doesNotMatch(text, /[\p{Cc}\u202e]/u)

const administrators = async (): Promise<string> =>
  JSON.stringify([
    await database.rows('SELECT id, name, role, invite_hash FROM administrators ORDER BY id'),
    await database.rows('SELECT id, administrator_id FROM administrator_passkeys ORDER BY id'),
    await database.rows('SELECT id FROM api_keys ORDER BY id'),
  ])

/** No form of these pages makes an administrator, and none takes more than it shows. */
const OWNER = { role: 'change', roles: 'change owner administrator', administrator: 'eve', is_admin: '1', actor: 'cli' }

describe('advisories of other servers', () => {
  test('CVE-2026-9795: nobody gives themselves or others more by way of a client or of roles', async () => {
    const client = await madeClient(service, { name: 'Plain' })
    const row = () => database.rows('SELECT * FROM clients WHERE id = ?', client.id)
    const [before] = await row()
    const more = {
      scopes: 'notes:read',
      first_party: '1',
      require_mfa: '0',
      redirect_uris: 'https://evil.example',
      ...OWNER,
    }
    for (const act of ['disable', 'enable'])
      assert.equal((await change.browser.submit(`/clients/${act}?id=${client.id}`, more)).status, 303)
    assert.deepEqual((await row())[0], before)
    const user = await newUser({ roles: ['change', 'admin'] })
    const agent = newAgent(service)
    await logIn(agent, user)
    const headers = { ...NAVIGATION, cookie: `__Host-svc_admin=${agent.cookies.get('svc_refresh')}` }
    assert.equal(
      (await createUserAgent({ url: look.browser.agent.url, headers: { host: 'admin.example.com' } }).get('/', headers))
        .status,
      401,
    )
  })

  test('CVE-2026-11577: no form that makes users makes an administrator, or more than its role allows', async () => {
    const before = await administrators()
    const { email } = newPerson()
    assert.equal((await look.browser.submit('/invite', { email, ...OWNER })).status, 403)
    assert.equal(await operator.users.find(email), undefined)
    assert.equal((await change.browser.submit('/invite', { email, ...OWNER })).status, 303)
    assert.ok(await operator.users.find(email))
    assert.equal(await administrators(), before)
    for (const path of ['/administrators', '/admins', '/system/administrators', '/import', '/api-keys', '/system'])
      assert.ok([404, 405].includes((await change.browser.submit(path, OWNER)).status), path)
    assert.equal(await administrators(), before)
  })

  test('CVE-2026-37978: what an address names beside its path shows nothing of another user', async () => {
    const [one, other] = [await newUser({ name: 'Grace' }), await newUser({ name: 'Hidden' })]
    const agent = newAgent({ url: service.url, headers: { 'user-agent': 'Hidden/1.0' } })
    await logIn(agent, other)
    const client = await madeClient(service, { name: 'Hidden client' })
    await granted(service, agent, client, 'openid offline_access')
    const session = agent.cookies.get('svc_refresh')?.split('.')[0] ?? ''
    const grant = await oneOf('SELECT id FROM grants WHERE user_id = ?', other.id)
    const owned = await oneOf(
      'SELECT p.id FROM administrator_passkeys p JOIN administrators a ON a.id = p.administrator_id WHERE a.name = ?',
      look.name,
    )
    for (const path of [
      `/users/${one.id}/end-session?session=${session}`,
      `/users/${one.id}/end-grant?grant=${grant}`,
      `/users/${one.id}/disable?id=${other.id}&user_id=${other.id}`,
      `/clients?user=${other.id}&user_id=${other.id}`,
      `/clients/disable?id=${client.id}&user=${other.id}`,
      `/passkeys/${owned}/remove`,
    ]) {
      const { text } = await change.browser.open(path)
      assert.doesNotMatch(text.replaceAll('Hidden client', ''), new RegExp(`Hidden|${other.email}|${look.name}<`), path)
    }
    for (const path of [`/users/${one.id}/end-session?session=${session}`, `/users/${one.id}/end-grant?grant=${grant}`])
      assert.ok([404, 409].includes((await change.browser.submit(path)).status), path)
    assert.equal((await change.browser.submit(`/passkeys/${owned}/remove`)).status, 404)
    assert.equal((await agent.get('/auth/api/v1/user')).status, 200)
    assert.equal((await look.browser.open('/')).status, 200)
  })

  test('CVE-2025-13881: no second door shows what the first one hides', async () => {
    const user = await newUser()
    await change.browser.submit(`/users/${user.id}/reset-link`, { how: 'show' })
    const { link } = await smtp.receivedFor(user.email)
    const token = new URL(link).searchParams.get('token') ?? assert.fail(link)
    const message = await oneOf('SELECT id FROM mail_messages WHERE user_id = ?', user.id)
    const backend = await createBackend(service, ['users:read', 'audit:read'])
    const pages = ['/', `/users/${user.id}`, `/events?user=${user.id}`, `/deliveries/messages/${message}`, '/system']
    for (const { browser } of [look, change])
      for (const accept of ['text/html', 'application/json', '*/*'])
        for (const page of pages) {
          const { text, headers } = await browser.open(page, { ...NAVIGATION, accept })
          assert.match(String(headers['content-type']), /^text\/html/)
          for (const secret of [token, SECRET, backend.key]) assert.ok(!text.includes(secret), `${page} ${accept}`)
        }
    for (const format of ['csv', 'jsonl']) {
      const exported = await change.browser.submit(`/events/export?user=${user.id}`, { format })
      assert.ok(!exported.text.includes(token) && exported.text.includes(user.id), format)
      for (const accept of ['text/csv', 'application/json', 'application/jsonl'])
        assert.equal(
          (await look.browser.open(`/events/export?format=${format}`, { ...NAVIGATION, accept })).status,
          403,
        )
      assert.equal((await look.browser.submit('/events/export', { format })).status, 403)
    }
    assert.ok(!(await backend.call('GET', `/audit?user_id=${user.id}`)).text.includes(token))
  })

  test('CVE-2026-27946: nobody vouches for their own address, and no form does so beside what it is for', async () => {
    const { agent, person } = await signedUp(service)
    const { id } = (await operator.users.find(person.email)) ?? assert.fail('the user is there')
    const isVerified = async (): Promise<boolean> =>
      (await database.rows('SELECT email_verified_at FROM users WHERE id = ?', id))[0]?.email_verified_at !== null
    const vouched = { email: person.email, verified: '1', email_verified: 'true', emailVerified: '1' }
    await agent.post('/auth/account/email', vouched)
    await agent.post(`/users/${id}/verify-email`, vouched)
    for (const act of ['username', 'roles', 'unlock', 'end-sessions'])
      await change.browser.submit(`/users/${id}/${act}`, { ...vouched, username: newPerson().username })
    assert.equal(await isVerified(), false)
    assert.equal((await look.browser.submit(`/users/${id}/verify-email`, vouched)).status, 403)
    assert.equal((await look.browser.submit(`/users/${id}/email`, vouched)).status, 403)
    assert.equal(await isVerified(), false)
    assert.equal((await change.browser.submit(`/users/${id}/verify-email`)).status, 303)
    assert.equal(await isVerified(), true)
  })

  test('CVE-2025-61928: a body does not say which user sends it: without a session, nothing is made', async () => {
    const before = await administrators()
    const headers = {
      host: 'admin.example.com',
      'x-svc-user': change.name,
      'x-forwarded-user': change.name,
      'remote-user': change.name,
    }
    const stranger = { ...change.browser, agent: createUserAgent({ url: change.browser.agent.url, headers }) }
    const page = await stranger.agent.get('/', NAVIGATION)
    const csrf = /data-csrf="([\w-]+)"/.exec(page.text)?.[1] ?? ''
    const named = { ...OWNER, administrator: change.name, user_id: change.name, name: change.name }
    for (const row of ADMIN_ROWS.origin.filter(writes)) {
      if (!('takesJson' in row) || !row.takesJson || row.path === '/passkeys/login/options') continue
      const { status } = await sendJson(stranger, row.path, named, csrf)
      assert.ok(status >= 400 && status < 500, `${nameOfRow(row)} ${status}`)
    }
    assert.equal(await administrators(), before)
  })

  test('a stored script does nothing for svc admin on the machine of an operator either', async (t) => {
    const user = await newUser({ name: '<script>alert(1)</script>' })
    const machine = await openMachineAdmin(service, { t })
    const { text, headers } = await machine.open(`/users/${user.id}`)
    assert.match(text, /&lt;script/)
    assert.doesNotMatch(text, /<script>/)
    assert.match(String(headers['content-security-policy']), /script-src 'self'/)
  })
})
