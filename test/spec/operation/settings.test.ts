// Runs on SQLite.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { type TestContext, describe, test } from 'node:test'
import { signedUp } from '../../support/client/accounts.ts'
import { assertSignedIn } from '../../support/client/assertions.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { testOnSqlite } from '../../support/database/database-choice.ts'
import { accessToken, claimsOf } from '../../support/service/access-tokens.ts'
import { type Environment, runSvc } from '../../support/service/command.ts'
import { startService } from '../../support/service/service.ts'
import { startServiceProcess } from '../../support/service/service-process.ts'
import { runCommand } from '../../support/service/warm-command.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import path from 'node:path'

const secret = randomBytes(32)
const serve = (t: TestContext, env: Environment, cwd = temporaryDirectory(t)) =>
  runCommand({ args: ['serve'], cwd, env: { SVC_PORT: '0', ...env } })
/** Commands that do more than read settings before they end. */
const serveProcess = (t: TestContext, env: Environment, cwd = temporaryDirectory(t)) =>
  runSvc({ args: ['serve'], cwd, env: { SVC_PORT: '0', ...env } })

/**
 * Checks that the service refuses to start with code 78 and names each variable on a separate line, without a stack.
 */
const assertRefused = async (t: TestContext, env: Environment) => {
  const { code, stdout, stderr } = await serve(t, env)
  const output = stdout + stderr
  assert.equal(code, 78, output)
  for (const variable of Object.keys(env)) {
    const lines = output.split('\n').filter((line) => line.includes(variable.replace(/_FILE$/, '')))
    assert.equal(lines.length, 1, `one line for ${variable}:\n${output}`)
  }
  assert.doesNotMatch(output, /\n\s+at |node:internal|\.ts:\d+/)
  return output
}

const durations = [
  'SVC_ACCESS_TOKEN_TTL',
  'SVC_SESSION_TTL',
  'SVC_SESSION_IDLE_TTL',
  'SVC_REFRESH_GRACE',
  'SVC_WEBHOOK_TIMEOUT',
]
const badDurations = [
  ['5', '1d', '5 s', '5s ', ' 5s'],
  ['-5s', '+5s', '0', '0s', '0.5ms'],
  ['five', '1h-5m', '5S', '1H', '1hour'],
  ['5s abc', '1,5s', '1e3s', '.s', 's'],
  ['١s', '5seconds', '1m30', '999999999999h', 'Infinity'],
  ['1us', '1ns', 'NaNs', '0x5s', '1 m 5 s'],
]

describe('§8.2 settings', { concurrency: 3 }, () => {
  test('all errors in the configuration are printed at once, one line each, without a stack; exit code 78', async (t) => {
    const output = await assertRefused(t, {
      SVC_PORT: '99999',
      SVC_BASE_URL: 'https://app.example.com/path',
      SVC_DATABASE_URL: 'mysql://x',
      SVC_AUDIENCES: 'a b',
      SVC_ACCESS_TOKEN_TTL: '10',
      SVC_SIGNUP: 'maybe',
      SVC_RATE_LIMIT: 'maybe',
      SVC_TRUST_PROXY: 'everybody',
      SVC_WEBHOOK_MAX_ATTEMPTS: '0',
      SVC_LOG_LEVEL: 'loud',
    })
    assert.match(output, /SVC_ACCESS_TOKEN_TTL.*\d+(?:ms|s|m|h)\b/, 'what a duration looks like is said')
    assert.match(output, /SVC_SIGNUP.*\bon\b.*\boff\b/, 'what a switch accepts is said')
  })

  for (const values of badDurations) {
    test(`durations are Go's, no day unit, no bare number, positive: ${JSON.stringify(values)} are refused`, async (t) => {
      await assertRefused(t, Object.fromEntries(durations.map((name, index) => [name, values[index]])))
    })
  }

  test('durations are at least 1 ms and a timeout never more than a timer can hold (2^31-1 ms)', async (t) => {
    await assertRefused(t, { SVC_WEBHOOK_TIMEOUT: '596h31m23.648s' })
    await assertRefused(t, { SVC_WEBHOOK_TIMEOUT: '0.999ms' })
    const hook = { SVC_WEBHOOK_URL: 'http://127.0.0.1:9/', SVC_WEBHOOK_SECRET: 'a secret of enough bytes' }
    await startService({ t, env: { ...hook, SVC_WEBHOOK_TIMEOUT: '596h31m23.647s' } })
    await startService({ t, env: { ...hook, SVC_WEBHOOK_TIMEOUT: '1ms' } })
  })

  test("durations are Go's: 1m30.5s, .5s, 720h and 1h0m are accepted and mean what they say", async (t) => {
    const env = { SVC_ACCESS_TOKEN_TTL: '1m30s', SVC_SESSION_TTL: '720h', SVC_SESSION_IDLE_TTL: '1h0m' }
    const more = { SVC_REFRESH_GRACE: '.5s', SVC_WEBHOOK_TIMEOUT: '1m30.5s' }
    const service = await startService({ t, env: { ...env, ...more } })
    const { agent } = await signedUp(service)
    const { exp = 0, iat = 0 } = claimsOf(accessToken(agent))
    assert.equal(exp - iat, 90)
  })

  const badBaseUrls = [
    'app.example.com',
    '/auth',
    'ftp://app.example.com',
    'https://app.example.com/',
    'https://app.example.com/path',
    'https://app.example.com?x=1',
    'https://app.example.com#x',
    'https://user@app.example.com',
    'https:app.example.com',
    'https:///app.example.com',
    'https://',
    'javascript:alert(1)',
  ]
  for (const value of badBaseUrls.filter((value) => !value.endsWith('.com/'))) {
    test(`SVC_BASE_URL: public origin of the application and the service, no path: ${value} is refused`, async (t) => {
      await assertRefused(t, { SVC_BASE_URL: value })
    })
  }

  test('other settings: an invalid port, host, level, switch or list of addresses is refused', async (t) => {
    await assertRefused(t, { SVC_PORT: '-1', SVC_SECRET: 'short', SVC_TRUST_PROXY: '10.0.0.0/33' })
    await assertRefused(t, { SVC_PORT: '80.5', SVC_SECRET: Buffer.alloc(31).toString('hex'), SVC_AUDIENCES: 'a,,b c' })
    await assertRefused(t, { SVC_PORT: 'http', SVC_SECRET: Buffer.alloc(31).toString('base64'), SVC_TRUST_PROXY: 'x' })
    await assertRefused(t, { SVC_LOGIN_WITH: 'username', SVC_AFTER_SIGNUP_URL: 'https://app.example.com/welcome' })
    await assertRefused(t, { SVC_WEBHOOK_MAX_ATTEMPTS: '1.5', SVC_LOG_LEVEL: 'INFO!', SVC_DATABASE_URL: 'svc.db' })
  })

  test('SVC_LOGIN_WITH=both needs usernames', async (t) => {
    const output = await assertRefused(t, { SVC_LOGIN_WITH: 'both', SVC_USERNAMES: 'off' })
    assert.match(output, /SVC_LOGIN_WITH=both needs usernames: set SVC_USERNAMES=on, or leave SVC_LOGIN_WITH at email/)
  })

  test('SVC_SECRET: at least 32 bytes as base64 or hex; sessions stay valid with the same secret in either spelling', async (t) => {
    const service = await startService({ t, env: { SVC_SECRET: secret.toString('hex') } })
    const { agent } = await signedUp(service)
    await service.restart({ env: { SVC_SECRET: secret.toString('base64') } })
    await assertSignedIn(agent)
    assert.equal((await agent.refresh()).status, 200)
    assert.ok(!existsSync(path.join(service.directory, 'data', 'svc.secret')), 'none is made')
  })

  testOnSqlite('SVC_SECRET is created at the first start with mode 0600 beside the SQLite file', async (t) => {
    const service = await startServiceProcess({ t })
    const file = path.join(service.directory, 'data', 'svc.secret')
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.ok(existsSync(path.join(service.directory, 'data', 'svc.db')))
  })

  test('any secret SVC_X may be in the file of SVC_X_FILE', async (t) => {
    const directory = temporaryDirectory(t)
    const file = path.join(directory, 'root secret')
    writeFileSync(file, `${secret.toString('base64')}\n`)
    const service = await startService({ t, cwd: directory, env: { SVC_SECRET_FILE: file } })
    const { agent } = await signedUp(service)
    await service.restart({ env: { SVC_SECRET: secret.toString('base64'), SVC_SECRET_FILE: undefined } })
    await assertSignedIn(agent)
  })

  test('a missing secret file is a configuration error that names it', async (t) => {
    const output = await assertRefused(t, { SVC_SECRET_FILE: '/nowhere/at/all' })
    assert.match(output, /SVC_SECRET_FILE/)
  })

  test('an empty variable counts as unset', async (t) => {
    const names = ['BASE_URL', 'HOST', 'DATABASE_URL', 'SECRET', 'AUDIENCES', 'SIGNUP', 'TRUST_PROXY', 'LOG_LEVEL']
    const empty = Object.fromEntries([...names.map((name) => `SVC_${name}`), ...durations].map((name) => [name, '']))
    const service = await startService({ t, env: empty })
    const { agent } = await signedUp(service)
    assert.equal(claimsOf(accessToken(agent)).iss, `http://localhost:${service.port}`)
  })

  test('a .env file in the working directory is read, and the environment takes precedence', async (t) => {
    const directory = temporaryDirectory(t)
    writeFileSync(path.join(directory, '.env'), 'SVC_AUDIENCES=from-file\n# a comment\nSVC_ACCESS_TOKEN_TTL="2m"\n')
    const service = await startServiceProcess({ t, cwd: directory, env: { SVC_ACCESS_TOKEN_TTL: '3m' } })
    const { agent } = await signedUp(service)
    const { aud, exp = 0, iat = 0 } = claimsOf(accessToken(agent))
    assert.deepEqual([aud, exp - iat], ['from-file', 180])
  })

  testOnSqlite('SVC_DATABASE_URL sqlite:PATH is the path of the database, and the secret is beside it', async (t) => {
    const directory = temporaryDirectory(t)
    const service = await startServiceProcess({
      t,
      cwd: directory,
      env: { SVC_DATABASE_URL: 'sqlite:deep/er/users.db' },
    })
    await signedUp(service)
    assert.ok(existsSync(path.join(directory, 'deep/er/users.db')))
    assert.ok(existsSync(path.join(directory, 'deep/er/svc.secret')))
    const other = await startService({
      t,
      env: { SVC_DATABASE_URL: `sqlite:${path.join(directory, 'absolute.db')}` },
    })
    await signedUp(other)
    assert.ok(existsSync(path.join(directory, 'absolute.db')))
  })

  const password = 'hunter2'
  const badDatabaseUrls = [
    [`postgres://svc:${password}@db.example.com`, /no database/],
    [`postgres://svc:${password}@a,b/svc`, /one host/],
    [`postgres://svc:${password}/x@db.example.com/svc`, /%2F/],
    [`postgres://svc:${password}@db.example.com/svc?sslmod=verify-full`, /"sslmod" is not supported.*sslmode/],
    [`postgres://svc:${password}@db.example.com/svc?sslmode=verify_full`, /disable.*verify-full/],
    [
      `postgres://svc:${password}@db.example.com/svc?sslmode=verify-full&sslrootcert=/nowhere/ca.pem`,
      /\/nowhere\/ca.pem/,
    ],
    [`postgres//svc:${password}@db.example.com/svc`, /sqlite:PATH.*postgres:\/\//],
  ] as const
  for (const [url, message] of badDatabaseUrls) {
    test(`SVC_DATABASE_URL: ${url} is refused with the accepted formats and without the password`, async (t) => {
      const env = { SVC_DATABASE_URL: url, SVC_SECRET: secret.toString('hex'), SVC_PORT: '99999' }
      const { code, stdout, stderr } = await serve(t, env)
      assert.equal(code, 78, stdout + stderr)
      const lines = stderr.split('\n').filter((line) => line.includes('SVC_DATABASE_URL'))
      assert.equal(lines.length, 1, stderr)
      assert.match(lines[0] ?? '', message)
      assert.match(stderr, /SVC_PORT/, 'with all other mistakes')
      assert.doesNotMatch(stdout + stderr, /hunter/)
    })
  }

  test('SVC_SECRET is required with PostgreSQL', async (t) => {
    const env = { SVC_DATABASE_URL: 'postgres://svc:hunter2@db.example.com/svc' }
    const { code, stderr } = await serve(t, env)
    assert.equal(code, 78)
    assert.equal(
      stderr,
      'svc: SVC_SECRET is missing: with PostgreSQL it must be set, to the same value in every process\n',
    )
  })

  test('svc config shows the URL of the database without its password, from SVC_DATABASE_URL_FILE too', async (t) => {
    const cwd = temporaryDirectory(t)
    const url = 'postgres://svc:hunter2@db.example.com/svc?sslmode=require'
    writeFileSync(path.join(cwd, 'url'), `${url}\n`)
    const given = { SVC_DATABASE_URL: url }
    for (const env of [given, { SVC_DATABASE_URL_FILE: path.join(cwd, 'url') }]) {
      for (const args of [['config'], ['config', '--json']]) {
        const result = await runCommand({ args, cwd, env: { SVC_SECRET: secret.toString('hex'), ...env } })
        assert.equal(result.code, 0, result.stderr)
        assert.match(result.stdout, /postgres:\/\/svc@db\.example\.com:5432\/svc\?sslmode=require/)
        assert.doesNotMatch(result.stdout + result.stderr, /hunter/)
      }
    }
  })

  test('svc config shows the origin, the name and the domain of passkeys that are in effect', async (t) => {
    const cwd = temporaryDirectory(t)
    const shown = async (env: Record<string, string>, name = 'SVC_WEBAUTHN_RP_ID') => {
      const { stdout } = await runCommand({ args: ['config', '--json'], cwd, env })
      const rows = JSON.parse(stdout) as { name: string; value: unknown; source: string }[]
      const { value, source } = rows.find((row) => row.name === name) ?? assert.fail()
      return [value, source]
    }
    const base = { SVC_BASE_URL: 'https://app.example.com' }
    assert.deepEqual(await shown(base), ['app.example.com', 'default'])
    assert.deepEqual(await shown({ ...base, SVC_WEBAUTHN_RP_ID: 'example.com' }), ['example.com', 'environment'])
    assert.deepEqual(await shown({ SVC_PORT: '9999' }, 'SVC_BASE_URL'), ['http://localhost:9999', 'default'])
    assert.deepEqual(await shown(base, 'SVC_APP_NAME'), ['app.example.com', 'default'])
  })

  test('PG* variables change nothing about the connection that SVC_DATABASE_URL describes', async (t) => {
    // In place of a PostgreSQL server: refuses every connection, and records its parameters.
    let received = ''
    const server = createServer((socket) => {
      socket.once('data', (bytes) => {
        received = bytes.toString('latin1')
        const refusal = 'SFATAL\0C28000\0Mno\0\0'
        socket.end(Buffer.concat([Buffer.from([69, 0, 0, 0, refusal.length + 4]), Buffer.from(refusal)]))
      })
    }).listen(0, '127.0.0.1')
    t.after(() => server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const { code, stderr } = await serveProcess(t, {
      SVC_DATABASE_URL: `postgres://ada@127.0.0.1:${port}/svc?sslmode=disable`,
      SVC_SECRET: secret.toString('hex'),
      PGUSER: 'eve',
      PGDATABASE: 'other',
      PGOPTIONS: '-c search_path=elsewhere',
      PGREPLICATION: 'database',
      PGAPPNAME: 'elsewhere',
      PGSSLMODE: 'require',
      PGSSLNEGOTIATION: 'direct',
      NODE_PG_FORCE_NATIVE: '1',
    })
    assert.equal(code, 1, stderr)
    // Protocol 3.0, section "StartupMessage": a length, the version, then names and values.
    const parameters = received.slice(8).split('\0').filter(Boolean)
    const pairs = parameters.flatMap((name, n) => (n % 2 === 0 ? [[name, parameters[n + 1]]] : []))
    const { user, database, application_name: name, options, replication } = Object.fromEntries(pairs)
    assert.deepEqual([user, database, name, options, replication], ['ada', 'svc', 'svc', undefined, undefined])
  })

  test('SVC_DATABASE_POOL and SVC_DATABASE_TIMEOUT limit the connections and queries to PostgreSQL', async (t) => {
    await assertRefused(t, { SVC_DATABASE_POOL: '0', SVC_DATABASE_TIMEOUT: '3' })
    await assertRefused(t, { SVC_DATABASE_POOL: '10.5', SVC_DATABASE_TIMEOUT: '0s' })
  })

  test('SVC_APP_NAME is on every page, as text; SVC_ACCENT_COLOR must be a colour', async (t) => {
    const env = { SVC_APP_NAME: 'Ärger & <b>Co</b>', SVC_ACCENT_COLOR: '#7a1fa2' }
    const service = await startService({ t, env })
    for (const path of ['/auth/login', '/auth/signup', '/auth/nothing']) {
      const { text } = await createUserAgent(service).get(path)
      assert.ok(text.includes('Ärger &amp; &lt;b&gt;Co&lt;/b&gt;'), path)
      assert.ok(!text.includes('<b>Co</b>'), path)
    }
    await assertRefused(t, { SVC_ACCENT_COLOR: 'red;} body{display:none', SVC_LOGO_URL: 'javascript:alert(1)' })
  })

  test('a wrong command line is reported before a wrong configuration; --version works with a wrong configuration', async (t) => {
    const cwd = temporaryDirectory(t)
    const { code, stdout } = await runCommand({ args: ['--version'], cwd, env: { SVC_PORT: 'x' } })
    assert.equal(code, 0)
    assert.match(stdout, /^\d+\.\d+\.\d+/)
  })

  testOnSqlite(
    'a database folder that cannot be created stops the start with a message, not with a stack',
    async (t) => {
      const cwd = temporaryDirectory(t)
      writeFileSync(path.join(cwd, 'data'), 'a file stands in the way')
      chmodSync(path.join(cwd, 'data'), 0o600)
      const { code, stdout, stderr } = await serveProcess(t, {}, cwd)
      assert.ok(code !== 0 && code !== null, String(code))
      assert.doesNotMatch(stdout + stderr, /\n\s+at |node:internal/)
      assert.match(stdout + stderr, /data/)
    },
  )

  test('a taken port stops the start with a message that names it, not with a stack', async (t) => {
    const service = await startService({ t })
    const { code, stdout, stderr } = await serveProcess(t, { SVC_PORT: String(service.port) })
    assert.ok(code !== 0 && code !== null, String(code))
    assert.match(stdout + stderr, new RegExp(String(service.port)))
    assert.doesNotMatch(stdout + stderr, /\n\s+at /)
  })
})
