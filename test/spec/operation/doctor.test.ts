// Runs on SQLite.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, get } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import path from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { checkArrival, checkSentCookies } from '../../../src/cli/doctor/checks.ts'
import { FINDING_CODES } from '../../../src/cli/doctor/findings.ts'
import { inspectDisk } from '../../../src/cli/doctor/installation.ts'
import type { ProbeAnswer } from '../../../src/lib/probe.ts'
import { signedUp } from '../../support/client/accounts.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabase } from '../../support/database/database.ts'
import { afterwards } from '../../support/cleanup.ts'
import { createAuthority } from '../../support/network/certificates.ts'
import { freePort } from '../../support/network/free-port.ts'
import { type Meddling, startMeddlingProxy } from '../../support/network/meddling-proxy.ts'
import { startSmtpServer } from '../../support/network/smtp-server.ts'
import { startWebhookReceiver, status } from '../../support/network/webhook-receiver.ts'
import { providerSettings } from '../../support/provider/provider-service.ts'
import { type Environment, runSvc } from '../../support/service/command.ts'
import { type Service, startService } from '../../support/service/service.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

type Result = { findings: { code: string; message: string; cure: string }[]; redirect_uris?: string[] }

const SECRET = randomBytes(32).toString('base64')
const service = await startService({ env: { SVC_SECRET: SECRET } })

const examine = async (
  of: Service,
  args: string[] = [],
  options: Parameters<Service['cli']>[1] = {},
): Promise<Result> => {
  const { code, stdout, stderr } = await of.cli(['doctor', '--json', ...args], options)
  assert.ok(stdout.startsWith('{'), stderr)
  const result: Result = JSON.parse(stdout)
  assert.equal(code, result.findings.length === 0 ? 0 : 1)
  return result
}
const databaseFileOf = ({ directory }: Service): string => path.join(directory, 'data/svc.db')

const codesOf = ({ findings }: Result): string[] => findings.map(({ code }) => code)

/** A proxy with TLS at https://localhost, which leads to the pages of administrators. */
const startAdminProxy = async (t: TestContext, adminPort: number) => {
  let way: 'whole' | 'without Host' | 'elsewhere' = 'whole'
  const authority = createAuthority('Authority of the tests')
  const { certificate: cert, key } = authority.issue('localhost', 'localhost')
  const server = createHttpsServer({ cert, key }, ({ url, headers: { host } }, response) => {
    const headers = { host: way === 'whole' ? host : 'backend.internal' }
    if (way === 'elsewhere') response.end('<h1>Welcome</h1>')
    else
      get({ host: '127.0.0.1', port: adminPort, path: url, headers, agent: false }, (answer) => {
        answer.pipe(response.writeHead(answer.statusCode ?? 0, answer.headers))
      })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  afterwards(t, () => server.close())
  const ca = path.join(temporaryDirectory(t), 'ca.pem')
  writeFileSync(ca, authority.root)
  return { url: `https://localhost:${(server.address() as AddressInfo).port}`, ca, set: (to: typeof way) => (way = to) }
}

test('§8.5 admin_unreachable and admin_host_lost: SVC_ADMIN_URL leads elsewhere, or its host does not arrive', async (t) => {
  const port = await freePort()
  const proxy = await startAdminProxy(t, port)
  const env = { SVC_ADMIN_URL: proxy.url, SVC_ADMIN_PORT: String(port) }
  const own = await startService({ t, env: { ...env, SVC_BASE_URL: 'http://127.0.0.1:1' } })
  await own.restart({ env: { SVC_BASE_URL: `http://127.0.0.1:${own.port}` } })
  const found = async (args = ['--ca', proxy.ca]) =>
    codesOf(await examine(own, args)).filter((code) => code.startsWith('admin_'))
  assert.deepEqual(await found(), [])
  assert.deepEqual(await found([]), ['admin_unreachable'], 'the certificate is of an authority that is not known')
  proxy.set('without Host')
  assert.deepEqual(await found(), ['admin_host_lost'])
  proxy.set('elsewhere')
  assert.deepEqual(await found(), ['admin_unreachable'])
})

describe('svc doctor', () => {
  test('finds nothing without a proxy, by the default address', async () => {
    assert.deepEqual(await examine(service), { findings: [] })
    const { code, stdout, stderr } = await service.cli(['doctor', `${service.url}/`])
    assert.deepEqual([code, stdout, stderr], [0, `${service.url}: nothing to complain about.\n`, ''])
  })

  test('prints one line for each finding, with its cure', async () => {
    const { code, stdout } = await service.cli(['doctor', `http://127.0.0.1:${service.port}`])
    assert.equal(code, 1)
    assert.match(stdout, /^base_url_differs: The service has SVC_BASE_URL \S+, and not \S+\. Set SVC_BASE_URL to .+\n$/)
  })

  test('its codes are those of the list in faults.md, in the same order', () => {
    const document = readFileSync(new URL('../../../docs/faults.md', import.meta.url), 'utf8')
    const [, section = ''] = /^## svc doctor\n(.*?)^## /ms.exec(document) ?? []
    const listed = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code)
    assert.deepEqual(listed, FINDING_CODES)
  })

  for (const address of ['example.com', 'ftp://example.com', 'http://example.com/auth', 'http://a:b@example.com', ''])
    test(`is wrong usage with the address "${address}"`, async () => {
      const { code, stderr } = await service.cli(['doctor', address])
      assert.equal(code, 2)
      assert.match(stderr, /address without a path/)
    })

  test('names a file of authorities that it cannot use', async () => {
    for (const file of ['/nowhere.pem', '/dev/null']) {
      const { code, stderr } = await service.cli(['doctor', '--ca', file])
      assert.equal(code, 1)
      assert.match(stderr, new RegExp(`--ca: ${file}`))
    }
  })

  test('prints the redirect URIs of providers', async (t) => {
    const corp = { issuer: 'https://login.example.com', clientId: 'client', clientSecret: 'secret' }
    const company = await startService({ t, env: providerSettings({ corp }) })
    const uri = `${company.url}/auth/oauth/corp/callback`
    assert.deepEqual(await examine(company), { findings: [], redirect_uris: [uri] })
    assert.ok((await company.cli(['doctor'])).stdout.includes(`\n  ${uri}\n`))
  })
})

describe('svc doctor finds in an installation', () => {
  test('database_missing, and creates none', async (t) => {
    const folder = temporaryDirectory(t)
    const env = { SVC_DATABASE_URL: `sqlite:${folder}/svc.db`, SVC_SECRET: SECRET }
    assert.deepEqual(codesOf(await examine(service, [], { env })), ['database_missing'])
    assert.deepEqual(codesOf(await examine(service, [], { env: { ...env, SVC_SECRET: undefined } })), [
      'database_missing',
    ])
    assert.deepEqual(readdirSync(folder), [])
  })

  test('database_unreachable', async () => {
    const env = { SVC_DATABASE_URL: `postgres://svc@127.0.0.1:${await freePort()}/svc` }
    assert.deepEqual(codesOf(await examine(service, [], { env })), ['database_unreachable'])
  })

  test('migrations_pending, and applies none', async (t) => {
    const old = await startService({ t })
    const database = await openDatabase(old, t)
    const newest = 'SELECT max(name) AS name FROM migrations'
    const [{ name } = { name: '' }] = await database.rows(newest)
    await database.rows('DELETE FROM migrations WHERE name = ?', String(name))
    const { findings } = await examine(old)
    assert.deepEqual(
      findings.map(({ code, message }) => [code, message.includes(String(name))]),
      [['migrations_pending', true]],
    )
    assert.notDeepEqual(await database.rows(newest), [{ name }])
  })

  test('keys_unreadable', async (t) => {
    const lost = await startService({ t, env: { SVC_SECRET: SECRET } })
    const env = { SVC_SECRET: randomBytes(32).toString('base64') }
    assert.deepEqual(codesOf(await examine(lost, [], { env })), ['probe_unanswered', 'keys_unreadable'])
  })

  test('keys_unreadable: the file of the root secret is broken, or gone', async (t) => {
    const lost = await startService({ t })
    const file = path.join(path.dirname(databaseFileOf(lost)), 'svc.secret')
    writeFileSync(file, 'short')
    assert.deepEqual(codesOf(await examine(lost)), ['keys_unreadable'])
    rmSync(file)
    assert.deepEqual(codesOf(await examine(lost)), ['keys_unreadable'])
    assert.equal(existsSync(file), false)
  })

  test('keys_differ', async (t) => {
    const other = await startService({ t, env: { SVC_SECRET: SECRET } })
    assert.deepEqual(codesOf(await examine(other, [service.url])), ['keys_differ'])
  })

  test('hashes_uncheckable, and how many', async (t) => {
    const own = await startService({ t })
    await signedUp(own)
    const hash = `$6$rounds=999999999$salt$${'A'.repeat(86)}`
    await (await openDatabase(own, t)).rows('UPDATE users SET password_hash = ?', hash)
    const { findings } = await examine(own)
    const found = findings.find(({ code }) => code === 'hashes_uncheckable')
    assert.match(found?.message ?? '', /^1 user has a password hash too expensive to check here/)
  })

  test('disk_low', () => {
    assert.deepEqual(
      inspectDisk('data/svc.db', (file) => ({ folder: file, bytes: 255 * 1_048_576 })).map(({ code }) => code),
      ['disk_low'],
    )
    assert.deepEqual(
      inspectDisk('data/svc.db', (file) => ({ folder: file, bytes: 256 * 1_048_576 })),
      [],
    )
  })

  test('webhook_failed', async (t) => {
    const receiver = await startWebhookReceiver({ t })
    const env = { SVC_WEBHOOK_URL: receiver.url, SVC_WEBHOOK_SECRET: 'a secret of enough bytes' }
    const announcing = await startService({ t, env })
    assert.deepEqual(codesOf(await examine(announcing)), [])
    assert.equal(receiver.deliveries.length, 1)
    receiver.answerWith(status(500))
    const { findings } = await examine(announcing)
    assert.deepEqual(
      findings.map(({ code, message }) => [code, /500/.test(message)]),
      [['webhook_failed', true]],
    )
  })

  test('smtp_failed, with a cure for what has failed, and sends no message', async (t) => {
    const smtp = await startSmtpServer({ t, user: 'svc', password: 'right' })
    const mailing = await startService({ t, env: smtp.env })
    assert.deepEqual(codesOf(await examine(mailing)), [])
    const env = { SVC_SMTP_URL: smtp.url.replace('right', 'wrong') }
    const { findings } = await examine(mailing, [], { env })
    assert.deepEqual(
      findings.map(({ code, cure }) => [code, /user and password/.test(cure)]),
      [['smtp_failed', true]],
    )
    await smtp.stop()
    assert.deepEqual(codesOf(await examine(mailing)), ['smtp_failed'])
    assert.deepEqual(smtp.mails, [])
  })
})

const withVia: Meddling['response'] = (headers) => ({ ...headers, via: '1.1 proxy' })

const startBehind = async (t: TestContext, meddling: Meddling, env: Environment = {}, host = 'localhost') => {
  const port = await freePort()
  const proxy = await startMeddlingProxy(t, port, meddling)
  return startService({ t, env: { SVC_PORT: String(port), SVC_BASE_URL: `http://${host}:${proxy}`, ...env } })
}

/** The doctor where every name under corp.example is this machine. */
const codesAt = async ({ directory, env }: Service): Promise<string[]> => {
  const tap = new URL('../../support/network/host-name-tap.ts', import.meta.url).href
  const tapped = { ...env, NODE_OPTIONS: `--import=${tap}` }
  const { stdout, stderr } = await runSvc({ args: ['doctor', '--json'], cwd: directory, env: tapped })
  assert.ok(stdout.startsWith('{'), stderr)
  return codesOf(JSON.parse(stdout))
}

const cutOnCookies: Meddling['request'] = (headers) => {
  if (headers.cookie !== undefined) throw new Error('cut')
  return { ...headers, host: 'other.example' }
}

const codes = (...cookies: string[]) =>
  checkSentCookies(['a_one', 'b_two'], { cookies } as ProbeAnswer).map(({ code }) => code)

describe('svc doctor finds through the address', () => {
  const LONE: [code: string, what: string, meddling: Meddling, env?: Environment][] = [
    [
      'set_cookie_lost',
      'cookies come in one header',
      {
        response: (headers) => ({
          ...headers,
          ...(headers['set-cookie'] && { 'set-cookie': headers['set-cookie'].join(', ') }),
        }),
      },
    ],
    [
      'cookies_renamed',
      'their names come in capitals',
      {
        request: (headers) => ({ ...headers, ...(headers.cookie && { cookie: headers.cookie.toUpperCase() }) }),
      },
    ],
    [
      'proxy_not_trusted',
      'the proxy is another than those of SVC_TRUST_PROXY',
      {
        request: (headers) => ({ ...headers, 'x-forwarded-for': '192.0.2.1' }),
      },
      { SVC_TRUST_PROXY: '10.0.0.0/8' },
    ],
    [
      'probe_unanswered',
      'the proxy removes headers that it does not know',
      {
        request: (headers) => Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'svc-probe')),
      },
    ],
  ]
  for (const [expected, what, meddling, env] of LONE) {
    test(`${expected}: ${what}`, async (t) => {
      const behind = await startBehind(t, meddling, env)
      assert.deepEqual(codesOf(await examine(behind)), [expected])
    })
  }

  test('what it has found before the proxy cuts connections', async (t) => {
    const { findings } = await examine(await startBehind(t, { request: cutOnCookies }))
    assert.deepEqual(
      findings.map(({ code }) => code),
      ['host_lost', 'unreachable'],
    )
  })

  test('not_svc: something that answers probes in its own way, and does not steer the terminal', async (t) => {
    const answers = ['{"probe":{}}', '{"probe":null}', '[]', '{"probe":{"nonce":"a","path":"/","forwarded":{}}}']
    const seen = {
      nonce: 'a',
      path: '/\u001b[2J',
      host: 'a',
      scheme: 'http',
      address: 'a',
      base_url: 'a',
      time: 'never',
    }
    const lists = { cookies: [], cookie_names: [], set_cookies: [], forwarded: {} }
    let body = ''
    const server = createServer((_, response) => response.end(body)).listen(0, '127.0.0.1')
    t.after(() => server.close())
    await once(server, 'listening')
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    for (body of answers) assert.deepEqual(codesOf(await examine(service, [origin])), ['not_svc'], body)
    body = JSON.stringify({ probe: { ...seen, ...lists } })
    const { stdout } = await service.cli(['doctor', origin])
    assert.ok(stdout.includes('path_changed') && !stdout.includes('\u001b'), stdout)
  })

  for (const [what, meddling, expected] of [
    ['the proxy names itself', { response: withVia }, ['client_addresses_alike']],
    ['nothing shows that there is a proxy', {}, ['client_addresses_alike']],
    ['it does', { request: (headers) => ({ ...headers, 'x-forwarded-for': '192.0.2.1' }), response: withVia }, []],
  ] as [string, Meddling, string[]][])
    test(`client_addresses_alike: no X-Forwarded-For arrives: ${what}`, async (t) => {
      assert.deepEqual(await codesAt(await startBehind(t, meddling, {}, 'svc.corp.example')), expected)
    })

  test('no client_addresses_alike without a proxy, at another name of this machine', async (t) => {
    const port = String(await freePort())
    const env = { SVC_PORT: port, SVC_BASE_URL: `http://svc.corp.example:${port}` }
    assert.deepEqual(await codesAt(await startService({ t, env })), [])
  })

  const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const own = interfaces.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1'
  const ends = { localAddress: `::ffff:${own}`, localPort: 50_000, remoteAddress: '203.0.113.9' }
  for (const [what, address, port, isFound, origin = 'http://example.com'] of [
    ["the doctor's end of the connection", own, 50_000, false],
    ["the doctor's address, as a service of an earlier version says it", own, undefined, false],
    ["the doctor's address, from another connection", own, 50_001, true],
    ['a private address', '10.0.0.5', 50_000, true],
    ['a private address of IPv6', 'fd00::5', 50_000, true],
    ['an address of a carrier', '100.64.0.5', 50_000, true],
    ['the machine of svc', '127.0.0.1', 50_000, true],
    ['the address that the doctor connected to', '203.0.113.9', 50_000, true],
    ["another public address, as that of the doctor's router", '198.51.100.4', 50_000, false],
    ['another public address, where TLS has ended', '198.51.100.4', 50_000, true, 'https://example.com'],
    ['a private address, at localhost', '10.0.0.5', 50_000, false, 'http://localhost:8080'],
  ] as [string, string, number | undefined, boolean, string?][])
    test(`client_addresses_alike: ${isFound ? 'svc sees' : 'not where svc sees'} ${what}`, () => {
      const scheme = new URL(origin).protocol.slice(0, -1)
      const forwarded = { for: false, host: null, proto: null, trusted: true }
      const seen = { scheme, host: new URL(origin).host, base_url: origin, address, port, forwarded } as ProbeAnswer
      const found = checkArrival(origin, seen, { status: 200, headers: {}, bodyMs: 0, body: '', ends })
      assert.deepEqual(
        found.map(({ code }) => code),
        isFound ? ['client_addresses_alike'] : [],
      )
    })

  test('clock_differs, by a little, and by so much that the first probe is too old', async (t) => {
    const clock = turnedClock()
    const response: Meddling['response'] = (headers) => ({ ...headers, date: new Date(clock.now()).toUTCString() })
    const port = await freePort()
    const proxy = await startMeddlingProxy(t, port, { response })
    const env = { SVC_PORT: String(port), SVC_BASE_URL: `http://localhost:${proxy}` }
    const behind = await startService({ t, clock, env })
    for (const [aheadMs, said] of [
      [20_000, /20 s ahead of/],
      [3_600_000, /3\d{3} s ahead of/],
      [-3_600_000, /3\d{3} s behind/],
    ] as const) {
      clock.setWallClockTo(aheadMs)
      const { findings } = await examine(behind, [], { clock: turnedClock() })
      assert.deepEqual(
        findings.map(({ code }) => code),
        ['clock_differs'],
      )
      assert.match(findings[0]?.message ?? '', said)
    }
  })

  for (const lies of ['in its header Date', 'in its answer to the probe']) {
    test(`clock_differs: a server that is a year ahead ${lies} gets no probe that is good for longer`, async (t) => {
      const yearAhead = new Date(Date.now() + 365 * 86_400_000)
      const probes: string[] = []
      const server = createServer(({ headers }, response) => {
        const probe = headers['svc-probe']
        if (typeof probe === 'string') probes.push(probe)
        const [, nonce] = String(probe).split('.')
        const forwarded = { for: true, host: null, proto: null, trusted: true }
        const facts = {
          nonce,
          path: '/',
          scheme: 'http',
          address: '192.0.2.1',
          base_url: 'x',
          time: yearAhead,
          forwarded,
        }
        const lists = { cookies: [], cookie_names: [], set_cookies: [] }
        if (lies.includes('header')) response.setHeader('date', yearAhead.toUTCString())
        const answersProbe = lies.includes('answer') && probe !== undefined
        response.end(JSON.stringify(answersProbe ? { probe: { ...facts, ...lists } } : { status: 'ok' }))
      })
      t.after(() => server.close())
      await once(server.listen(0, '127.0.0.1'), 'listening')
      const found = await examine(service, [`http://127.0.0.1:${(server.address() as AddressInfo).port}`])
      assert.ok(codesOf(found).includes('clock_differs'), JSON.stringify(found))
      assert.ok(probes.length > 0)
      for (const probe of probes) assert.ok(Number(probe.split('.')[0]) < Date.now() + 86_400_000 + 60_000, probe)
    })
  }

  test('cookies that are renamed in part', () => {
    assert.deepEqual(codes('a_one', 'b_two', 'other'), [])
    assert.deepEqual(codes('a_one'), ['cookies_lost'])
    assert.deepEqual(codes('other', 'a_one', 'x_b_two'), ['cookies_renamed'])
    assert.deepEqual(codes('A_ONE', 'b_two'), ['cookies_renamed'])
  })
})
