// Runs on SQLite.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { ConfigError } from '../../../src/config/config.ts'
import { logIn, newAgent, newPerson, signedUp } from '../../support/client/accounts.ts'
import { type RunningDev, startDevHere } from '../../support/dev/dev.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const folderOf = ({ config }: RunningDev): string =>
  config.database.kind === 'sqlite' ? path.dirname(config.database.file) : assert.fail('no file')

describe('the environment', () => {
  test('of a service that people use is refused', async () => {
    for (const [env, named] of [
      [{ SVC_BASE_URL: 'https://example.com' }, 'SVC_BASE_URL'],
      [{ SVC_BASE_URL: 'http://localhost:8000' }, 'SVC_BASE_URL'],
      [{ NODE_ENV: 'production' }, 'NODE_ENV'],
      [{ SVC_SESSION_TTL: 'soon' }, 'SVC_SESSION_TTL'],
      [{ SVC_OAUTH_PROVIDERS: 'dev' }, 'SVC_OAUTH_PROVIDERS'],
      [{ SVC_OAUTH_PROVIDERS: 'corp' }, 'SVC_OAUTH_CORP_ISSUER'],
    ] as const) {
      await assert.rejects(startDevHere({ env }), (error) => {
        assert.ok(error instanceof ConfigError)
        return error.errors.some((line) => line.startsWith(named))
      })
    }
  })

  test('gives it the settings that it has not itself, and the others are named', async (t) => {
    const own = {
      SVC_HOST: '0.0.0.0',
      SVC_PORT: '1',
      SVC_HSTS: '8760h',
      SVC_COOKIE_PREFIX: 'on',
      SVC_WEBAUTHN_RP_ID: 'example.com',
      SVC_METRICS_PORT: '9090',
      SVC_DATABASE_URL: 'postgres://svc@db.example/svc',
      SVC_SECRET_FILE: '/nowhere/secret',
      SVC_SMTP_URL: 'smtp://mail.example.com',
      SVC_MAIL_FROM: 'accounts@example.com',
      SVC_WEBHOOK_URL: 'https://example.com/webhooks',
      SVC_WEBHOOK_SECRET: 'x'.repeat(32),
      SVC_API_KEY: 'svc_sk_x',
    }
    const taken = {
      SVC_APP_NAME: 'Notes',
      SVC_NAMES: 'required',
      SVC_PASSWORD_MIN_LENGTH: '40',
      SVC_EMAIL_DOMAINS: 'corp.example',
      SVC_SECOND_FACTOR: 'required',
      SVC_OAUTH_PROVIDERS: 'corp',
      SVC_OAUTH_CORP_ISSUER: 'https://corp.example',
      SVC_OAUTH_CORP_CLIENT_ID: 'a',
      SVC_OAUTH_CORP_CLIENT_SECRET: 'b',
      SVC_APPNAME: 'misspelt',
    }
    const dev = await startDevHere({ env: { ...own, ...taken, EMPTY: '', SVC_SECRET: '' }, t })
    assert.deepEqual(dev.notUsed.toSorted(), Object.keys(own).toSorted())
    assert.deepEqual(dev.warnings, ['SVC_APPNAME is not a setting of svc; did you mean SVC_APP_NAME?'])
    const page = (await dev.get('/auth/login')).text
    assert.ok(page.includes('Notes') && page.includes('Corp') && page.includes('Dev Provider'))
    assert.ok(page.indexOf('Corp') < page.indexOf('Dev Provider'))
    assert.deepEqual(
      dev.users.map(({ password }) => password),
      ['ada likes numbers', 'grace finds bugs'],
    )
    assert.equal((await dev.post('/auth/dev/sign-in', { email: 'new@other.example' })).status, 200)
  })

  test('may switch on the limits of tries, which are off here', async (t) => {
    for (const [env, isOn] of [
      [{}, false],
      [{ SVC_RATE_LIMIT: 'on' }, true],
    ] as const) {
      const dev = await startDevHere({ env, t })
      assert.deepEqual([dev.config.rateLimit, dev.warnings], [isOn, []])
    }
  })

  test('without passwords, its users sign in by the provider', async (t) => {
    const dev = await startDevHere({ env: { SVC_PASSWORDS: 'off' }, t })
    assert.deepEqual(
      dev.users.map(({ password }) => password),
      [undefined, undefined],
    )
    const answer = await dev.post('/auth/dev/sign-in', { email: 'ada@example.com' })
    assert.equal(answer.status, 200)
  })
})

describe('the data', () => {
  test('is gone at the end, unless a folder keeps it from one start to the next', async (t) => {
    const temporary = await startDevHere({ t })
    assert.deepEqual(readdirSync(folderOf(temporary)).includes('svc.db'), true)
    await temporary.stop()
    assert.equal(existsSync(folderOf(temporary)), false)

    const data = path.join(temporaryDirectory(t), 'a/b')
    const first = await startDevHere({ options: { data }, t })
    assert.equal(readFileSync(path.join(data, '.gitignore'), 'utf8'), '*\n')
    const { person } = await signedUp(first)
    const ada = newAgent(first)
    await logIn(ada, { ...person, email: 'ada@example.com', password: 'ada likes numbers' })
    const changed = { current_password: 'ada likes numbers', new_password: 'ada likes engines' }
    assert.equal((await ada.post('/auth/account/password', changed)).status, 303)
    await first.stop()
    const second = await startDevHere({ options: { data, port: 0 }, t })
    assert.equal((await logIn(newAgent(second), person)).status, 303)
    assert.deepEqual(
      second.users.map(({ password }) => password),
      [undefined, 'grace finds bugs'],
      'a changed password is not printed',
    )
    assert.notEqual(second.apiKey, first.apiKey)
    const statusWith = async (key: string) =>
      (await second.get('/auth/api/v2/users', { authorization: `Bearer ${key}` })).status
    assert.deepEqual([await statusWith(second.apiKey), await statusWith(first.apiKey)], [200, 401])
  })

  test('does not go into a folder that it did not make, or that another one uses', async (t) => {
    const folder = temporaryDirectory(t)
    mkdirSync(path.join(folder, 'data'))
    const empty = await startDevHere({ options: { data: path.join(folder, 'data') }, t })
    await assert.rejects(startOtherProcess(path.join(folder, 'data')), /is in use by another svc dev, process 1$/)
    await empty.stop()
    writeFileSync(path.join(folder, 'notes.txt'), 'mine')
    await assert.rejects(startDevHere({ options: { data: folder } }), {
      code: 'conflict',
      message: /^--data \S+ is not a folder of svc dev, and not empty: name one that svc dev has made/,
    })
    await assert.rejects(
      startDevHere({ options: { data: path.join(folder, 'notes.txt') } }),
      /cannot be used \(EEXIST\)/,
    )
    assert.deepEqual(readdirSync(folder).toSorted(), ['data', 'notes.txt'])
    assert.equal(readFileSync(path.join(folder, 'notes.txt'), 'utf8'), 'mine')
    assert.ok(!existsSync(path.join(folder, 'svc.db')))
  })
})

/** The mark of a folder names a process that runs: the first one of this machine. */
const startOtherProcess = async (data: string) => {
  writeFileSync(path.join(data, '.svc-dev'), '1')
  return startDevHere({ options: { data } })
}

describe('the address', () => {
  test('has a name of its own, with cookies of its own', async (t) => {
    const dev = await startDevHere({ options: { name: 'shop' }, t })
    assert.equal(dev.url, `http://shop.localhost:${dev.port}`)
    const agent = newAgent(dev)
    const origin = { origin: dev.url, 'sec-fetch-site': 'same-origin' }
    const person = { ...newPerson(), email: 'ada@example.com', password: 'ada likes numbers' }
    const answer = await agent.post('/auth/login', { ...person, return_to: '/' }, origin)
    assert.equal(answer.status, 303, answer.text)
    assert.ok(answer.setCookies.every(({ attributes }) => attributes.domain === undefined))
    assert.ok(
      (await newAgent(dev).get('/auth/login')).text.includes('passkey'),
      'browsers offer passkeys below localhost, too',
    )
  })

  test('that is taken is named, and another one is found', async (t) => {
    const dev = await startDevHere({ t })
    await assert.rejects(startDevHere({ options: { port: dev.port } }), {
      message: `Port ${dev.port} on 127.0.0.1 is taken by another program: --port 0 takes a free one.`,
    })
    const other = await startDevHere({ options: { port: 0 }, t })
    assert.notEqual(other.port, dev.port)
  })
})
