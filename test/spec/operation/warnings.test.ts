// Runs on SQLite.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { type TestContext, describe, test } from 'node:test'
import { readConfig } from '../../../src/config/config.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { testOnSqlite } from '../../support/database/database-choice.ts'
import { connectRaw } from '../../support/network/raw-connection.ts'
import type { Environment } from '../../support/service/command.ts'
import { loggedRequest } from '../../support/service/request-log.ts'
import { type Service, startService } from '../../support/service/service.ts'
import { startServiceProcess } from '../../support/service/service-process.ts'
import { runCommand } from '../../support/service/warm-command.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import path from 'node:path'

const secret = randomBytes(32).toString('hex')
const BEGIN = 'svc: warning: '

/** The warnings of `svc config`. */
const warningsOf = async (t: TestContext, env: Environment, cwd = temporaryDirectory(t)): Promise<string[]> => {
  const { code, stderr } = await runCommand({ args: ['config'], cwd, env })
  assert.equal(code, 0, stderr)
  const lines = stderr.split('\n').filter(Boolean)
  for (const line of lines) assert.ok(line.startsWith(BEGIN), line)
  return lines.map((line) => line.slice(BEGIN.length))
}

/** The same without a process, for tables of values. */
const readWarnings = (env: Record<string, string>): string[] => readConfig(env, () => '').warnings

const webhookWarnings = (url: string): string[] => readWarnings({ SVC_WEBHOOK_URL: url, SVC_WEBHOOK_SECRET: secret })

/** Resolves when the line of the request is in the log, after all earlier lines. */
const loggedRequestWith = async (service: Service, headers: Record<string, string>) => {
  const answer = await createUserAgent(service).get('/auth/login', headers)
  assert.equal(answer.status, 200)
  await loggedRequest(service, answer)
}

const readPasskeyWarnings = (host: string, domain: string) =>
  readWarnings({ SVC_BASE_URL: `https://${host}`, SVC_WEBAUTHN_RP_ID: domain })

const warned = (service: Service, word: string) =>
  service.logLines().filter((line) => line.level === 'warn' && JSON.stringify(line).includes(word))

describe('§8.2 warnings at the start', { concurrency: 3 }, () => {
  test('there are none by default, and none for safe settings', async (t) => {
    assert.deepEqual(await warningsOf(t, {}), [])
    const protecting = {
      SVC_BASE_URL: 'https://app.example.com',
      SVC_TRUST_PROXY: 'loopback,10.0.0.0/8,2001:db8::/32',
      SVC_SECRET: secret,
      SVC_DATABASE_URL: 'postgres://svc@db.example.com/svc?sslmode=verify-full&sslrootcert=system',
    }
    assert.deepEqual(await warningsOf(t, protecting), [])
  })

  test('svc config shows them too, each with its variable and what to do', async (t) => {
    const env = {
      SVC_BASE_URL: 'http://app.example.com',
      SVC_PASSKEYS: 'off',
      SVC_TRUST_PROXY: '0.0.0.0/0',
      SVC_RATE_LIMIT: 'off',
    }
    const database = { SVC_DATABASE_URL: 'postgres://svc@db.example.com/svc', SVC_SECRET: secret }
    const warnings = await warningsOf(t, { ...env, ...database })
    for (const expected of [
      /^SVC_BASE_URL=.*by https/,
      /^SVC_RATE_LIMIT=.*take it away/,
      /^SVC_TRUST_PROXY=.*name the addresses/,
      /^SVC_DATABASE_URL .*use sslmode=verify-full/,
    ])
      assert.ok(
        warnings.some((line) => expected.test(line)),
        String(expected),
      )
    assert.equal(warnings.length, 4)
  })

  test('the log contains each of them once, at level warn', async (t) => {
    const env = {
      SVC_BASE_URL: 'http://app.example.com',
      SVC_PASSKEYS: 'off',
      SVC_TRUST_PROXY: '0.0.0.0/0,::/0',
      SVC_POTR: '1',
    }
    const service = await startServiceProcess({ t, env })
    for (const name of ['SVC_BASE_URL', 'SVC_TRUST_PROXY', 'SVC_RATE_LIMIT', 'SVC_POTR'])
      assert.equal(warned(service, name).length, 1, name)
    assert.match(String(warned(service, 'SVC_BASE_URL')[0]?.message), /http:\/\/app\.example\.com.*https/)
    assert.match(String(warned(service, 'SVC_TRUST_PROXY')[0]?.message), /X-Forwarded-For.*your own proxies/)
    assert.match(String(warned(service, 'SVC_RATE_LIMIT')[0]?.message), /"off"/)
    assert.match(String(warned(service, 'SVC_POTR')[0]?.message), /did you mean SVC_PORT\?/)
  })

  for (const url of [
    'http://app.example.com',
    'http://203.0.113.5:8080',
    'http://[2001:db9::1]',
    'http://127.example.com',
  ]) {
    test(`a public http base URL: ${url}`, () => {
      const [warning, ...more] = readWarnings({ SVC_BASE_URL: url, SVC_PASSKEYS: 'off' })
      assert.match(warning ?? '', /^SVC_BASE_URL=.*https/)
      assert.deepEqual(more, [])
    })
  }

  for (const url of ['http://127.0.0.1:8080', 'https://192.0.2.1', 'http://app-localhost', 'https://[2001:db8::1]'])
    test(`a base URL that allows no passkeys: ${url}`, () => {
      const warnings = readWarnings({ SVC_BASE_URL: url }).filter((line) => line.includes('passkeys'))
      assert.equal(warnings.length, 1)
      assert.match(String(warnings[0]), /^SVC_BASE_URL=.* SVC_PASSKEYS=off/)
      assert.deepEqual(
        readWarnings({ SVC_BASE_URL: url, SVC_PASSKEYS: 'off' })
          .join()
          .match(/passkeys/),
        null,
      )
    })

  test('a domain of passkeys under which anybody can have one', () => {
    for (const suffix of ['co.uk', 'com.au', 'or.jp'])
      assert.match(
        readPasskeyWarnings(`app.example.${suffix}`, suffix).join(),
        new RegExp(`"${suffix}" .* such as example.${suffix}$`),
      )
    for (const [host = '', domain = ''] of [
      ['app.example.co.uk', 'example.co.uk'],
      ['login.bbc.tv', 'bbc.tv'],
      ['app.example.com', 'example.com'],
      ['co.uk', 'co.uk'],
    ])
      assert.deepEqual(readPasskeyWarnings(host, domain), [])
  })

  for (const url of ['https://app.example.com', 'http://localhost:8080', 'https://localhost', 'http://shop.localhost'])
    test(`a base URL that allows passkeys: ${url}`, () => assert.deepEqual(readWarnings({ SVC_BASE_URL: url }), []))

  for (const url of ['http://localhost:8080', 'http://127.0.0.7', 'http://[::1]:8080', 'http://app.localhost']) {
    test(`not a base URL of this machine: ${url}`, () =>
      assert.deepEqual(readWarnings({ SVC_BASE_URL: url, SVC_PASSKEYS: 'off' }), []))
  }

  for (const url of [
    'http://192.168.1.5',
    'http://[fd00::1]',
    'http://svc:8080',
    'http://nas.local',
    'http://a.test',
  ]) {
    test(`not a base URL in a private network: ${url}`, () =>
      assert.deepEqual(readWarnings({ SVC_BASE_URL: url, SVC_PASSKEYS: 'off' }), []))
  }

  test('webhooks by http: a warning where they leave private networks', () => {
    const [warning = '', ...more] = webhookWarnings('http://app.example.com/hooks?token=hunter2')
    assert.match(warning, /^SVC_WEBHOOK_URL .*app\.example\.com.*https/)
    assert.doesNotMatch(warning, /hunter2/)
    assert.deepEqual(more, [])
    for (const url of [
      'https://app.example.com/',
      'http://localhost:3000/hooks',
      'http://app:3000/',
      'http://10.0.0.5/',
    ])
      assert.deepEqual(webhookWarnings(url), [], url)
  })

  const everybody = [
    '0.0.0.0/0',
    '::/0',
    'loopback,::/0',
    '0.0.0.0/1,128.0.0.0/1',
    '128.0.0.0/1, 64.0.0.0/2, 0.0.0.0/2',
    '2000::/3',
    '::ffff:0:0/96',
    '::ffff:0.0.0.0/96',
    '0.0.0.0/2,0.0.0.0/3,96.0.0.0/3,128.0.0.0/3',
  ]
  for (const networks of everybody) {
    test(`all addresses trusted as proxies: ${networks}`, () => {
      const [warning, ...more] = readWarnings({ SVC_TRUST_PROXY: networks })
      assert.match(warning ?? '', /^SVC_TRUST_PROXY=/)
      assert.deepEqual(more, [])
    })
  }

  test('no trusted networks that cover most addresses', () => {
    const some =
      '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10,fc00::/7,fe80::/10,2001:db8::/32,173.245.48.0/20,none'
    for (const networks of ['none', some, '224.0.0.0/3', '0.0.0.0/3,0.0.0.0/4', 'fe00::/7'])
      assert.deepEqual(readWarnings({ SVC_TRUST_PROXY: networks }), [], networks)
  })

  for (const [where, tls, expected] of [
    ['db.example.com', 'sslmode=require', /db\.example\.com.*sslmode=require.*verify-full/],
    ['10.0.0.5', '', /10\.0\.0\.5.*sslmode=prefer.*verify-full/],
    ['db.example.com', 'sslmode=verify-full&sslrootcert=system', undefined],
    ['127.0.0.1', '', undefined],
    ['localhost', 'sslmode=disable', undefined],
    ['[::1]', '', undefined],
    ['', 'host=/run/postgresql', undefined],
  ] as const) {
    test(`PostgreSQL at "${where}" with ${tls || 'no sslmode'}: ${expected ? 'a warning' : 'none'}`, () => {
      const url = `postgres://svc:hunter2@${where}/svc?${tls}`.replace(/\?$/, '')
      const [warning, ...more] = readWarnings({ SVC_DATABASE_URL: url, SVC_SECRET: secret })
      if (expected) assert.match(warning ?? '', expected)
      else assert.equal(warning, undefined)
      assert.deepEqual(more, [])
      assert.doesNotMatch(warning ?? '', /hunter/)
    })
  }
})

describe('§8.2 a root secret that others can read', { concurrency: 3 }, () => {
  testOnSqlite('svc.secret: a warning that names the file, its mode and what to do', async (t) => {
    const service = await startServiceProcess({ t })
    const file = path.join(service.directory, 'data', 'svc.secret')
    assert.deepEqual(warned(service, 'svc.secret'), [])
    for (const mode of [0o640, 0o604, 0o644]) {
      chmodSync(file, mode)
      const [warning = ''] = await warningsOf(t, {}, service.directory)
      assert.match(warning, new RegExp(`^SVC_SECRET.*${file} \\(mode 0${mode.toString(8)}\\): chmod 600 ${file}$`))
    }
    await service.restart()
    assert.equal(warned(service, 'mode 0644').length, 1, 'in the log of the service too')
    chmodSync(file, 0o600)
    assert.deepEqual(await warningsOf(t, {}, service.directory), [])
  })

  test('the file of SVC_SECRET_FILE, and .env with SVC_SECRET in it; both may be readable by a group', async (t) => {
    const cwd = temporaryDirectory(t)
    const file = path.join(cwd, 'root')
    writeFileSync(file, secret)
    const warningsAt = (mode: number, changed: string, env: Environment) => {
      chmodSync(path.join(cwd, changed), mode)
      return warningsOf(t, env, cwd)
    }
    const named = { SVC_SECRET_FILE: file }
    assert.deepEqual(await warningsAt(0o640, 'root', named), [])
    const [warning = ''] = await warningsAt(0o644, 'root', named)
    assert.match(warning, new RegExp(`^SVC_SECRET_FILE: .*${file} \\(mode 0644\\): chmod 600 ${file}$`))
    writeFileSync(path.join(cwd, '.env'), `SVC_SECRET=${secret}\n`)
    assert.deepEqual(await warningsAt(0o600, '.env', {}), [])
    const [ofEnv = ''] = await warningsAt(0o644, '.env', {})
    assert.match(ofEnv, /^SVC_SECRET: .*\.env \(mode 0644\)/)
    assert.deepEqual(await warningsAt(0o644, '.env', { SVC_SECRET: secret }), [], 'the environment goes before it')
  })
})

describe('§8.2 a root secret that could be guessed', { concurrency: 3 }, () => {
  const guessable = {
    'one byte': Buffer.alloc(32, 7).toString('hex'),
    'a word over and over': 'changeme'.repeat(6),
    'words, as hex': Buffer.from('correct horse battery staple, twice').toString('hex'),
    'counting up': Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString('base64'),
  }
  for (const [what, value] of Object.entries(guessable)) {
    test(`is refused, and neither shown nor used: ${what}`, async (t) => {
      const cwd = temporaryDirectory(t)
      const file = path.join(cwd, 'root')
      writeFileSync(file, `${value}\n`)
      for (const env of [{ SVC_SECRET: value }, { SVC_SECRET_FILE: file }]) {
        const { code, stdout, stderr } = await runCommand({ args: ['serve'], cwd, env: { SVC_PORT: '99999', ...env } })
        assert.equal(code, 78, stderr)
        assert.match(stderr, /^svc: SVC_SECRET is not accepted: it could be guessed.*openssl rand -hex 32/m)
        assert.match(stderr, /SVC_PORT/, 'with all other mistakes')
        assert.ok(!(stdout + stderr).includes(value))
      }
    })
  }

  test('is accepted as SVC_SECRET_PREVIOUS, so that it can be rotated away', async (t) => {
    assert.deepEqual(
      await warningsOf(t, { SVC_SECRET: secret, SVC_SECRET_PREVIOUS: Buffer.alloc(32, 7).toString('hex') }),
      [],
    )
  })

  testOnSqlite('is refused in svc.secret too, with the name of the file', async (t) => {
    const cwd = temporaryDirectory(t)
    mkdirSync(path.join(cwd, 'data'))
    const file = path.join(cwd, 'data', 'svc.secret')
    writeFileSync(file, `${'A'.repeat(43)}\n`, { mode: 0o600 })
    const { code, stderr } = await runCommand({ args: ['serve'], cwd, env: { SVC_PORT: '0' } })
    assert.equal(code, 1)
    assert.match(stderr, new RegExp(`^svc: ${file} could be guessed`))
  })
})

describe('§8.2 a misspelt setting', { concurrency: 3 }, () => {
  test('is reported together with errors; alone it does not prevent a start', async (t) => {
    const env = { SVC_PORT: 'x', SVC_BASEURL: 'https://app.example.com', SVC_SESION_TTL: '1h' }
    const { code, stderr } = await runCommand({ args: ['serve'], cwd: temporaryDirectory(t), env })
    assert.equal(code, 78)
    const lines = stderr.split('\n').filter(Boolean)
    assert.equal(lines.length, 3, stderr)
    assert.match(lines[0] ?? '', /^svc: SVC_PORT="x" is not accepted/)
    assert.deepEqual(lines.slice(1), [
      'svc: warning: SVC_BASEURL is not a setting of svc; did you mean SVC_BASE_URL?',
      'svc: warning: SVC_SESION_TTL is not a setting of svc; did you mean SVC_SESSION_TTL?',
    ])
  })

  test('is reported with the most similar name, also of a provider or a file, or with none', async (t) => {
    const meant = {
      SVC_PROT: 'SVC_PORT',
      SVC_WEBHOOKS_URL: 'SVC_WEBHOOK_URL',
      SVC_TRUSTED_PROXY: 'SVC_TRUST_PROXY',
      SVC_SECRETFILE: 'SVC_SECRET_FILE',
      svc_log_level: 'SVC_LOG_LEVEL',
      SVC_OAUTH_GOOGLE_CLIENT_SECERT: 'SVC_OAUTH_GOOGLE_CLIENT_SECRET',
      SVC_OAUTH_GOGLE_LABEL: 'SVC_OAUTH_GOOGLE_LABEL',
    }
    const unlike = ['SVC_MAGIC_BEANS', 'SVC_WORKERS', 'SVC_X', 'SVC_']
    const google = {
      SVC_OAUTH_PROVIDERS: 'google',
      SVC_OAUTH_GOOGLE_CLIENT_ID: 'x',
      SVC_OAUTH_GOOGLE_CLIENT_SECRET: 'x',
    }
    const names = [...Object.keys(meant), ...unlike]
    const ofSdk = { SVC_URL: 'http://127.0.0.1:8080', SVC_API_KEY: 'x', SVC_BIN: 'x', SVC_NODE: 'x' }
    const unknown = Object.fromEntries(names.map((name) => [name, 'x']))
    const warnings = await warningsOf(t, { ...google, ...unknown, ...ofSdk })
    for (const [name, right] of Object.entries(meant)) {
      const [line] = warnings.filter((each) => each.startsWith(`${name} `))
      assert.ok(line?.endsWith(`; did you mean ${right}?`), `${name}: ${line}`)
    }
    for (const name of unlike) assert.ok(warnings.includes(`${name} is not a setting of svc`), name)
    assert.equal(warnings.length, names.length)
  })
})

describe('§8.2 settings that do not fit the proxy', { concurrency: 3 }, () => {
  const UNSET = 'another origin than SVC_BASE_URL'
  const PEER = 'X-Forwarded-For came from'

  test('SVC_BASE_URL left at its default while requests come for another Host: once', async (t) => {
    const service = await startService({ t })
    await loggedRequestWith(service, {})
    await loggedRequestWith(service, { host: `127.0.0.1:${service.port}` })
    await loggedRequestWith(service, { host: `[::1]:${service.port}` })
    for (const probe of ['/auth/health', '/auth/ready'])
      assert.equal((await createUserAgent(service).get(probe, { host: '10.1.2.3' })).status, 200)
    await loggedRequestWith(service, {})
    assert.deepEqual(warned(service, UNSET), [])
    for (let round = 0; round < 3; round++) await loggedRequestWith(service, { host: 'app.example.com' })
    await loggedRequestWith(service, { 'x-forwarded-proto': 'https' })
    const lines = warned(service, UNSET)
    assert.equal(lines.length, 1)
    assert.equal(lines[0]?.host, 'app.example.com')
    assert.equal(lines[0]?.base_url, service.url)
    assert.equal(lines[0]?.setting, 'SVC_BASE_URL')
  })

  test('a form from an address that is no visitor: once, and neither for this machine nor for a probe', async (t) => {
    const NOBODY = 'a visitor came from an address that is no visitor'
    const service = await startService({ t, env: { SVC_BASE_URL: 'http://app.example.com' } })
    const agent = createUserAgent(service)
    const send = (headers: Record<string, string>) => agent.post('/auth/login', {}, headers)
    await send({ host: `localhost:${service.port}` })
    await send({ host: 'app.example.com', 'x-forwarded-for': '198.51.100.7' })
    await agent.get('/auth/health', { host: '10.1.2.3' })
    assert.deepEqual(warned(service, NOBODY), [])
    for (let round = 0; round < 3; round += 1) await send({ host: 'app.example.com' })
    await send({ host: 'app.example.com', 'x-forwarded-for': '127.0.0.1' })
    assert.deepEqual(
      warned(service, NOBODY).map(({ client, setting }) => [client, setting]),
      [['127.0.0.1', 'SVC_TRUST_PROXY']],
    )
  })

  test('forms of five browsers from one private address and no other: once, and not for one developer', async (t) => {
    const SHARED = 'the forms of several browsers all came from one address'
    const service = await startService({ t, env: { SVC_BASE_URL: 'http://app.example.com' } })
    const agent = createUserAgent(service)
    const send = (browser: number, client = '10.0.0.5', target = '/auth/login', host = 'app.example.com') =>
      agent.post(target, {}, { host, 'x-forwarded-for': client, 'user-agent': `Browser ${browser}` })
    const sendAll = async (...rest: string[]) => {
      for (let browser = 0; browser < 6; browser += 1) await send(browser, ...rest)
    }
    for (let round = 0; round < 3; round += 1) for (let browser = 0; browser < 4; browser += 1) await send(browser)
    for (let browser = 0; browser < 6; browser += 1)
      await agent.get('/auth/login', { host: 'app.example.com', 'user-agent': `Browser ${browser}` })
    await sendAll('10.0.0.5', '/auth/login', `localhost:${service.port}`)
    await sendAll('10.0.0.5', '/auth/api/v1/sessions/refresh')
    await sendAll('10.0.0.5', '/auth/check')
    await sendAll('203.0.113.7')
    for (let browser = 0; browser < 6; browser += 1) await send(browser, `10.0.0.${browser % 2}`)
    assert.deepEqual(warned(service, SHARED), [])
    await sendAll()
    await sendAll('10.0.0.6')
    assert.deepEqual(
      warned(service, SHARED).map(({ client, setting }) => [client, setting]),
      [['10.0.0.5', 'SVC_TRUST_PROXY']],
    )
  })

  test('the same with X-Forwarded-Proto: https or X-Forwarded-Host of a trusted proxy, not of others', async (t) => {
    const [byProto, byHost, byStranger] = await Promise.all([
      startService({ t }),
      startService({ t }),
      startService({ t, env: { SVC_TRUST_PROXY: 'none' } }),
    ])
    await loggedRequestWith(byProto, { 'x-forwarded-proto': 'http' })
    assert.deepEqual(warned(byProto, UNSET), [])
    await loggedRequestWith(byProto, { 'x-forwarded-proto': 'https' })
    assert.deepEqual(
      warned(byProto, UNSET).map((line) => line.forwarded_proto),
      ['https'],
    )
    await loggedRequestWith(byHost, { 'x-forwarded-host': 'app.example.com' })
    assert.deepEqual(
      warned(byHost, UNSET).map(({ host }) => host),
      ['app.example.com'],
    )
    await loggedRequestWith(byStranger, { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'app.example.com' })
    assert.deepEqual(warned(byStranger, UNSET), [])
  })

  test('no warning if SVC_BASE_URL is set, for any request', async (t) => {
    const service = await startService({ t, env: { SVC_BASE_URL: 'https://app.example.com' } })
    await loggedRequestWith(service, { host: 'other.example.com', 'x-forwarded-proto': 'https' })
    await loggedRequestWith(service, { host: 'other.example.com', 'x-forwarded-for': '203.0.113.7' })
    assert.deepEqual([...warned(service, UNSET), ...warned(service, PEER)], [])
  })

  test('X-Forwarded-For from an untrusted peer: once, with its address', async (t) => {
    const service = await startService({ t, env: { SVC_TRUST_PROXY: '192.0.2.1' } })
    await loggedRequestWith(service, {})
    assert.deepEqual(warned(service, PEER), [])
    for (let round = 0; round < 3; round++) await loggedRequestWith(service, { 'x-forwarded-for': '203.0.113.7' })
    const lines = warned(service, PEER)
    assert.deepEqual(
      lines.map(({ setting, peer }) => [setting, peer]),
      [['SVC_TRUST_PROXY', '127.0.0.1']],
    )
    assert.ok(!JSON.stringify(lines).includes('203.0.113.7'))
  })

  test('an invalid Host is reported shortened and on one line, and breaks nothing', async (t) => {
    const service = await startService({ t })
    const connection = await connectRaw(service, t)
    connection.write(`GET /auth/login HTTP/1.1\r\nHost: ${'x'.repeat(4000)}:y\r\nConnection: close\r\n\r\n`)
    assert.match(await connection.answer(), /^HTTP\/1\.1 200 /)
    await loggedRequestWith(service, {})
    const [line] = warned(service, UNSET)
    assert.equal(String(line?.host).length, 255)
  })
})
