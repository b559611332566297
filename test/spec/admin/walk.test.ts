// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AdminRoute } from '../../../src/admin/http/context.ts'
import { may } from '../../../src/admin/policy.ts'
import { TABLE_COLUMNS } from '../../../src/storage/tables.ts'
import { ADMIN_ROWS as ROWS, nameOfRow as nameOf, pathOfRow, reads, writes } from '../../support/admin/admin-rows.ts'
import {
  type AdminBrowser,
  csrfTokenOf,
  NAVIGATION,
  openMachineAdmin,
  OWN_FORM,
} from '../../support/admin/machine-admin.ts'
import {
  ADMIN_URL,
  adminSettings,
  newAdminBrowser,
  newAdministrator,
  scriptTokenOf,
} from '../../support/admin/origin-admin.ts'
import { loggedIn, newPerson } from '../../support/client/accounts.ts'
import { createBackend } from '../../support/client/backend.ts'
import { type Answer, createUserAgent, urlEncoded } from '../../support/client/user-agent.ts'
import { madeClient } from '../../support/clients/authorization.ts'
import { openDatabase } from '../../support/database/database.ts'
import { startMailedService } from '../../support/email/email-change.ts'
import { startWebhookReceiver } from '../../support/network/webhook-receiver.ts'
import { eventually } from '../../support/wait.ts'

/** The administration is a subdomain of the application: cookies of a parent domain reach it. */
const APPLICATION = 'https://example.com'

const receiver = await startWebhookReceiver()
const { service, operator } = await startMailedService({
  env: {
    ...(await adminSettings()),
    SVC_BASE_URL: APPLICATION,
    SVC_CLIENTS: 'on',
    SVC_CLIENT_SCOPES: 'notes:read=Read your notes',
    SVC_MAIL_NOTICES: 'on',
    SVC_WEBHOOK_SECRET: 'a secret of enough bytes',
    SVC_WEBHOOK_URL: receiver.url,
  },
})
const database = await openDatabase(service)
const site = { url: service.url, headers: { host: 'example.com' } }

const person = newPerson()
const { id: userId } = await operator.users.create({ ...person, emailVerified: true, roles: ['admin'] })
const userAgent = await loggedIn(site, person)
const client = await madeClient(service)
const backend = await createBackend(service, ['users:read', 'users:write', 'audit:read', 'sessions:write'])
await operator.links.reset.createByOperator(userId, { isMailed: true }, {})
const change = await newAdministrator(service, 'change')
const look = await newAdministrator(service, 'look')
const machine = await openMachineAdmin(service)
const readOnly = await openMachineAdmin(service, { role: 'look' })

const oneOf = async (sql: string, ...values: string[]): Promise<string> => {
  const [row] = await database.rows(sql, ...values)
  return typeof row?.id === 'string' ? row.id : assert.fail(sql)
}

/** Waits until the service has sent everything. */
const settled = () =>
  eventually('nothing changes by itself', async () => {
    const waiting = await database.rows(`SELECT id FROM webhook_events WHERE closed_at IS NULL
      UNION SELECT id FROM mail_messages WHERE state IN ('requested', 'waiting')`)
    return waiting.length === 0
  })
await settled()

const ids: Record<string, string> = {
  '/users/{id}': userId,
  '/deliveries/webhooks/{id}': await oneOf('SELECT id FROM webhook_events LIMIT 1'),
  '/deliveries/messages/{id}': await oneOf('SELECT id FROM mail_messages WHERE user_id = ? LIMIT 1', userId),
  '/passkeys/{id}': await oneOf(
    'SELECT p.id FROM administrator_passkeys p JOIN administrators a ON a.id = p.administrator_id WHERE a.name = ?',
    look.name,
  ),
  '/assets/{file}': 'x.css',
}

const QUERIES: Record<string, string> = {
  '/users/{id}/end-session': `?session=${userAgent.cookies.get('__Host-svc_refresh')?.split('.')[0] ?? ''}`,
  '/users/{id}/end-grant': '?grant=00000000-0000-7000-8000-000000000000',
  '/clients/end-grants': `?id=${client.id}`,
  '/clients/disable': `?id=${client.id}`,
  '/clients/enable': `?id=${client.id}`,
}

const pathOf = (row: AdminRoute): string => pathOfRow(row, { ids, queries: QUERIES })

/** These are in every form at once: any row that took one of them would change something. */
const FIELDS = {
  reason: 'An attack',
  email: 'eve@evil.example',
  username: 'eve-of-evil',
  roles: 'admin owner',
  confirmation: person.email,
  verified: '1',
  passkeys: '1',
  how: 'show',
  format: 'csv',
  since: '',
  role: 'change',
  name: 'eve',
  administrator: 'eve',
  actor: 'cli',
  user_id: userId,
}

type Visit = { base?: string; csrf?: string; headers: Record<string, string> }

const readRow = ({ agent }: Pick<AdminBrowser, 'agent'>, row: AdminRoute, { base = '', headers }: Visit) =>
  agent.send({ method: 'GET', path: base + pathOf(row), headers: { ...NAVIGATION, ...headers } })

const writeRow = (
  { agent }: Pick<AdminBrowser, 'agent'>,
  row: AdminRoute,
  { base = '', csrf = '', headers }: Visit,
): Promise<Answer> => {
  const isJson = row.method === 'POST' && row.takesJson === true
  const type = isJson ? 'application/json' : 'application/x-www-form-urlencoded'
  const own = { ...OWN_FORM, 'content-type': type, 'x-csrf-token': csrf, ...headers }
  const body = isJson ? JSON.stringify(FIELDS) : urlEncoded({ csrf_token: csrf, ...FIELDS })
  return agent.send({ method: 'POST', path: base + pathOf(row), headers: own, body })
}

/** Processes say that they live, and sessions that they were used; looks are recorded. */
const RESTLESS = new Set(['replicas', 'installation', 'administrator_sessions', 'audit_events'])

/** The first list gives users their places in it. */
const unplaced = ({ position: _position, ...row }: Record<string, unknown>) => row

/** All rows of all tables, but for what a look may change. */
const stateOf = async (): Promise<Record<string, unknown>> => {
  const tables = Object.keys(TABLE_COLUMNS).filter((table) => !RESTLESS.has(table))
  const rows = await Promise.all(
    tables.map(async (table) => [table, (await database.rows(`SELECT * FROM ${table}`)).map(unplaced)]),
  )
  const records = await database.rows(
    "SELECT type, actor FROM audit_events WHERE type NOT IN ('user.viewed', 'administrator.sign_in_failed') ORDER BY id",
  )
  return { ...Object.fromEntries(rows), records }
}

const changesNothing = async (attack: () => Promise<void>): Promise<void> => {
  await settled()
  const before = await stateOf()
  await attack()
  assert.deepEqual(await stateOf(), before)
}

/** Nothing of a user, of a secret or of the installation. */
const assertTellsNothing = ({ text }: Answer, what: string): void => {
  for (const word of [person.email, person.username, 'SVC_', look.name, receiver.url])
    assert.ok(!text.includes(word), `${what} tells ${word}`)
}

/** Sends every row, to read and to write, and expects the same refusal. */
const refusesAll = (
  rows: readonly AdminRoute[],
  browser: Pick<AdminBrowser, 'agent'>,
  visit: Visit,
  expected: readonly number[],
) =>
  changesNothing(async () => {
    for (const row of rows) {
      const answers = [
        ...(reads(row) ? [await readRow(browser, row, visit)] : []),
        ...(writes(row) ? [await writeRow(browser, row, visit)] : []),
      ]
      for (const answer of answers) {
        assert.ok(expected.includes(answer.status), `${nameOf(row)}: ${answer.status}`)
        assertTellsNothing(answer, nameOf(row))
        assert.equal(answer.cookie('__Host-svc_admin'), undefined)
        assert.equal(answer.headers['access-control-allow-origin'], undefined)
      }
    }
  })

const openToAll = (rows: readonly AdminRoute[]) => rows.filter(({ does }) => does === 'none').map(nameOf)

const mayLook = ({ does }: AdminRoute): boolean => does !== 'none' && may('look', does)

const guarded = (rows: readonly AdminRoute[]): AdminRoute[] => rows.filter(({ does }) => does !== 'none')

describe('the tables of routes', () => {
  test('name what is there before anybody has come in, and what looks alone may send', () => {
    assert.deepEqual(openToAll(ROWS.machine), ['GET /enter', 'GET /assets/{file}'])
    assert.deepEqual(openToAll(ROWS.origin), [
      'GET /assets/{file}',
      'POST /passkeys/login/options',
      'POST /passkeys/login',
      'GET /join',
      'POST /join/register/options',
      'POST /join/register',
    ])
    const sent = guarded(ROWS.origin).filter((row) => writes(row) && mayLook(row))
    assert.deepEqual(sent.map(nameOf), [
      'POST /system/examine',
      'POST /sign-out',
      'FORM /passkeys',
      'POST /passkeys/register/options',
      'POST /passkeys/register',
      'FORM /passkeys/{id}/remove',
    ])
  })
})

describe('every route and form at the origin of the administration', () => {
  test('refuses nobody', async () => {
    const browser = newAdminBrowser(service)
    const csrf = scriptTokenOf(await browser.open('/'))
    await refusesAll(guarded(ROWS.origin), browser, { csrf, headers: {} }, [401])
  })

  test('refuses the cookies of a user with the role "admin" of the application, a parent domain of this host', async () => {
    const browser = newAdminBrowser(service)
    const csrf = scriptTokenOf(await browser.open('/'))
    const cookies = userAgent.cookies.header('/auth/') ?? ''
    assert.match(cookies, /svc_refresh=/)
    for (const [, value] of cookies.matchAll(/=([^;]+)/g)) {
      const headers = { cookie: `${cookies}; svc_admin=${value}; __Host-svc_admin=${value}` }
      await refusesAll(guarded(ROWS.origin), browser, { csrf, headers }, [401])
    }
  })

  test('refuses an API key with the scopes of the server API, and the token of a user', async () => {
    const token = userAgent.cookies.get('__Host-svc_access') ?? userAgent.cookies.get('svc_access') ?? ''
    for (const secret of [backend.key, token]) {
      const browser = newAdminBrowser(service)
      const csrf = scriptTokenOf(await browser.open('/'))
      const headers = { authorization: `Bearer ${secret}`, cookie: `__Host-svc_admin=${secret}` }
      await refusesAll(guarded(ROWS.origin), browser, { csrf, headers }, [401])
    }
  })

  test('refuses a session that has ended, by a thief who has copied it, and a cookie that comes twice', async () => {
    const { browser } = await newAdministrator(service, 'change')
    const csrf = csrfTokenOf(await browser.open('/system'))
    const live = browser.agent.cookies.get('__Host-svc_admin') ?? ''
    const twice = { cookie: `__Host-svc_admin=${live}; __Host-svc_admin=${live}` }
    await refusesAll(guarded(ROWS.origin), newAdminBrowser(service), { csrf, headers: twice }, [401])
    const agent = browser.agent.copy()
    const signOut = { ...OWN_FORM, 'content-type': 'application/x-www-form-urlencoded' }
    const body = urlEncoded({ csrf_token: csrf })
    const out = await browser.agent.send({ method: 'POST', path: '/sign-out', headers: signOut, body })
    assert.equal(out.status, 303)
    await refusesAll(guarded(ROWS.origin), { agent }, { csrf, headers: {} }, [401])
  })

  test('refuses an administrator who looks what needs the role "change", and shows the rest', async () => {
    const csrf = csrfTokenOf(await look.browser.open('/system'))
    const rows = guarded(ROWS.origin)
    await changesNothing(async () => {
      for (const row of rows.filter((each) => !mayLook(each))) {
        const { agent } = look.browser
        const answers = [
          await readRow(look.browser, row, { headers: {} }),
          await agent.send({ method: 'HEAD', path: pathOf(row), headers: OWN_FORM }),
          await agent.get(pathOf(row), { ...OWN_FORM, accept: 'application/json' }),
          await writeRow(look.browser, row, { csrf, headers: {} }),
          await writeRow(look.browser, row, { csrf, headers: { accept: 'application/json' } }),
        ]
        for (const { status } of answers) assert.equal(status, 403, nameOf(row))
      }
      for (const row of rows.filter((each) => mayLook(each) && reads(each)))
        assert.ok([200, 409].includes((await readRow(look.browser, row, { headers: {} })).status), nameOf(row))
    })
  })

  test('refuses an administrator of another origin, whatever their cookies and tokens', async () => {
    const { browser } = change
    const csrf = csrfTokenOf(await browser.open('/system'))
    const sites = ['same-site', 'cross-site', 'none']
    const foreign = [
      ...sites.map((from) => ({ 'sec-fetch-site': from })),
      { origin: APPLICATION },
      { origin: 'null' },
      { origin: `${ADMIN_URL}:8443` },
      { origin: ADMIN_URL.replace('https', 'http') },
    ]
    for (const headers of foreign)
      await changesNothing(async () => {
        for (const row of ROWS.origin.filter(writes))
          assert.equal((await writeRow(browser, row, { csrf, headers })).status, 403, nameOf(row))
      })
    const framed = { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }
    const fetched = { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }
    for (const headers of [framed, fetched])
      for (const row of ROWS.origin.filter(reads)) {
        const answer = await readRow(browser, row, { headers })
        assert.equal(answer.status, 403, nameOf(row))
        assertTellsNothing({ ...answer, text: answer.text.replaceAll(look.name, '') }, nameOf(row))
      }
  })

  test('refuses an administrator without the token of a page of their own session', async () => {
    const others = csrfTokenOf(await look.browser.open('/system'))
    await changesNothing(async () => {
      for (const row of guarded(ROWS.origin).filter(writes))
        for (const csrf of ['', 'x'.repeat(43), others]) {
          const { status } = await writeRow(change.browser, row, { csrf, headers: {} })
          // The passkey is that of another administrator.
          assert.equal(status, row.path === '/passkeys/{id}/remove' ? 404 : 403, nameOf(row))
        }
    })
  })

  test('is misdirected with another host, also one that was forwarded', async () => {
    const csrf = csrfTokenOf(await change.browser.open('/system'))
    for (const host of ['example.com', 'admin.example.com.evil.example', 'admin.example.com:443', '127.0.0.1']) {
      const headers = { host, 'x-forwarded-host': 'admin.example.com', forwarded: 'host=admin.example.com' }
      await refusesAll(ROWS.origin, change.browser, { csrf, headers }, [421])
    }
  })

  test('has no other methods', async () => {
    await changesNothing(async () => {
      for (const row of ROWS.origin)
        for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
          const headers = { ...OWN_FORM, 'x-http-method-override': 'POST' }
          const { status } = await change.browser.agent.send({ method, path: pathOf(row), headers })
          assert.ok([405, 501].includes(status), `${method} ${row.path}: ${status}`)
        }
    })
  })

  test('is nowhere at the port of users', async () => {
    for (const host of ['example.com', 'admin.example.com'])
      for (const row of ROWS.origin) {
        const agent = createUserAgent({ url: service.url, headers: { host } })
        const { status } = await agent.get(pathOf(row), NAVIGATION)
        assert.equal(status, 404, `${host} ${row.path}`)
      }
  })
})

const at = (admin: typeof machine, headers: Record<string, string>, csrf = ''): Visit => ({
  base: admin.base,
  csrf,
  headers,
})

describe('every route and form of svc admin', () => {
  test('refuses other programs and users of the machine: nobody, a cookie of the application, a key', async () => {
    const cookies = userAgent.cookies.header('/auth/') ?? ''
    const strangers = [
      {},
      { cookie: cookies },
      { cookie: `svc_admin=${'x'.repeat(43)}` },
      { authorization: `Bearer ${backend.key}`, cookie: `svc_admin=${backend.key}` },
      { cookie: `svc_admin=${change.browser.agent.cookies.get('__Host-svc_admin') ?? ''}` },
    ]
    for (const headers of strangers) {
      const agent = createUserAgent({ url: machine.agent.url })
      await refusesAll(guarded(ROWS.machine), { agent }, at(machine, headers), [401])
    }
  })

  test('is misdirected by a name that leads to this address (DNS rebinding), with the cookie too', async () => {
    const csrf = csrfTokenOf(await machine.open('/system'))
    const { port } = new URL(machine.agent.url)
    for (const host of [`rebound.example:${port}`, `localhost:${port}`, `127.0.0.1`, `127.0.0.1:1`])
      await refusesAll(ROWS.machine, machine, at(machine, { host }, csrf), [421])
  })

  test('refuses a page of another port of this machine, which is of the same site', async () => {
    const csrf = csrfTokenOf(await machine.open('/system'))
    await changesNothing(async () => {
      for (const headers of [{ 'sec-fetch-site': 'same-site' }, { origin: 'http://127.0.0.1:1' }, { origin: 'null' }])
        for (const row of ROWS.machine.filter(writes))
          assert.equal((await writeRow(machine, row, at(machine, headers, csrf))).status, 403, nameOf(row))
    })
  })

  test('with --read-only shows, and refuses what changes something', async () => {
    const csrf = csrfTokenOf(await readOnly.open('/system'))
    await changesNothing(async () => {
      for (const row of guarded(ROWS.machine)) {
        const isAllowed = mayLook(row)
        if (!isAllowed) assert.equal((await writeRow(readOnly, row, at(readOnly, {}, csrf))).status, 403, nameOf(row))
        if (reads(row))
          assert.equal((await readRow(readOnly, row, at(readOnly, {}))).status, isAllowed ? 200 : 403, nameOf(row))
      }
    })
  })
})

test('the same requests of an administrator with the role "change" and the token of their page are done', async () => {
  const csrf = csrfTokenOf(await change.browser.open('/system'))
  const before = await stateOf()
  const rows = guarded(ROWS.origin).filter(({ path }) => !['/sign-out', '/users/{id}/delete'].includes(path))
  const deletion = ROWS.origin.filter(({ path }) => path === '/users/{id}/delete')
  for (const row of [...rows, ...deletion].filter(writes)) {
    const { status } = await writeRow(change.browser, row, { csrf, headers: {} })
    assert.ok(![401, 403, 405, 421].includes(status), `${nameOf(row)}: ${status}`)
  }
  const after = await stateOf()
  for (const table of ['users', 'sessions', 'links', 'mail_messages', 'records'])
    assert.notDeepEqual(after[table], before[table], table)
})
