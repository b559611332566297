// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { mailEnv, openOutbox, sample } from '../../support/mail/outbox.ts'
import { createAuthority } from '../../support/network/certificates.ts'
import { freePort } from '../../support/network/free-port.ts'
import { startScriptedSmtpServer } from '../../support/network/scripted-smtp-server.ts'
import { startSmtpServer } from '../../support/network/smtp-server.ts'
import type { Environment } from '../../support/service/command.ts'
import { runCommandOf, runJsonCommandOf } from '../../support/service/operator-commands.ts'
import { startService } from '../../support/service/service.ts'
import { runCommand } from '../../support/service/warm-command.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const PASSWORD = 'hunter2'
const to = 'ada@example.com'
const directory = temporaryDirectory()
const from = 'svc@example.com'
const mailTest = (url: string, args: string[] = [], env: Environment = {}) =>
  runCommand({
    args: ['mail', 'test', to, ...args],
    cwd: directory,
    env: { SVC_SMTP_URL: url, SVC_MAIL_FROM: from, ...env },
  })

describe('svc mail test', () => {
  test('connects, authenticates and sends', async (t) => {
    const server = await startSmtpServer({ t, user: 'ada', password: PASSWORD })
    const { code, stdout, stderr } = await mailTest(server.url, [], { SVC_APP_NAME: 'Example' })
    assert.equal(code, 0, stderr)
    assert.equal(stdout, `smtp://…@127.0.0.1:${server.port} has taken a test message for ${to}.\n`)
    const mail = await server.receivedFor(to)
    assert.equal(mail.user, 'ada')
    assert.equal(mail.subject, 'Test message from Example')
  })

  test('says in words what is wrong: exit 1', async (t) => {
    const login = `ada:${PASSWORD}@`
    const certificate = createAuthority('Nobody').issue('localhost', 'localhost')
    const secure = await startSmtpServer({ t, tls: 'smtps', certificate })
    const protectedServer = await startSmtpServer({ t, user: 'ada', password: 'another' })
    const strict = await startScriptedSmtpServer({ EHLO: '250 AUTH PLAIN', MAIL: `550 <${from}> is not yours` }, t)
    const picky = await startScriptedSmtpServer({ EHLO: '250 AUTH PLAIN', RCPT: '550 no' }, t)
    const silent = await startScriptedSmtpServer({ greeting: 'silence' }, t)
    const tap = new URL('../../support/network/host-name-tap.ts', import.meta.url).href
    const elsewhere = { SVC_BASE_URL: 'https://app.example.com', NODE_OPTIONS: `--import=${tap}` }
    const cases: [url: string, words: RegExp, env?: Environment][] = [
      [
        'smtp://mail.invalid',
        /the name of mail\.invalid:587 was not found .* Check the host in SVC_SMTP_URL/,
        elsewhere,
      ],
      [`smtp://127.0.0.1:${await freePort()}`, /refused the connection: nothing listens there/],
      [`smtps://localhost:${secure.port}`, /the certificate of localhost:\d+ is not accepted/],
      [`smtp://${login}127.0.0.1:${protectedServer.port}`, /did not accept the user and password: 535 .* app password/],
      [`smtp://${login}127.0.0.1:${strict.port}`, /refused the sender \(SVC_MAIL_FROM\): 550 <…> is not yours/],
      [`smtp://${login}127.0.0.1:${picky.port}`, /refused the recipient: 550 no/],
      [
        `smtp://127.0.0.1:${silent.port}`,
        /no greeting from 127\.0\.0\.1:\d+ within 0\.3 s/,
        { SVC_MAIL_TIMEOUT: '300ms' },
      ],
    ]
    for (const [url, words, env] of cases) {
      const { code, stdout, stderr } = await mailTest(url, [], env)
      assert.equal(code, 1, stderr)
      assert.match(stderr, words)
      assert.equal(stdout, '')
      assert.ok(!stderr.includes(PASSWORD))
      assert.doesNotMatch(stderr, /\n\s+at /)
    }
  })

  test('as JSON, with the step that failed', async (t) => {
    const server = await startSmtpServer({ t })
    const good = await mailTest(server.url, ['--json'])
    assert.deepEqual(JSON.parse(good.stdout), {
      server: server.url,
      to,
      sent: true,
      step: null,
      code: null,
      problem: null,
    })
    server.failAt('data', 554)
    const refused = await mailTest(server.url, ['--json'])
    assert.equal(refused.code, 1)
    const { step, code, sent } = JSON.parse(refused.stdout) as Record<string, unknown>
    assert.deepEqual([step, code, sent], ['message', 554, false])
  })

  test('without mail or a recipient that is an address, it says so', async () => {
    const off = await runCommand({ args: ['mail', 'test', to], cwd: directory, env: {} })
    assert.equal(off.code, 1)
    assert.match(off.stderr, /SVC_SMTP_URL/)
    for (const args of [
      ['mail', 'test'],
      ['mail', 'test', 'ada'],
      ['mail', 'test', 'ada@example.com\r\nRCPT TO:<x>'],
    ]) {
      assert.equal((await runCommand({ args, cwd: directory, env: {} })).code, 2)
    }
  })
})

type Listed = {
  id: string
  purpose: string
  to: string | null
  state: string
  attempts: number
  problem: string | null
}

describe('svc mail list and resend', () => {
  test('list messages without their content, and send one again', async (t) => {
    const smtp = await startSmtpServer({ t })
    const service = await startService({ t, env: mailEnv(smtp) })
    const outbox = await openOutbox(service, t)
    smtp.failAt('rcpt', 550)
    const recipient = await outbox.write({ message: sample('reset') })
    await outbox.settled('failed')
    const list = () => runJsonCommandOf<Listed[]>(service, ['mail', 'list'])
    const [failed, ...others] = await list()
    assert.deepEqual(others, [])
    assert.deepEqual([failed?.purpose, failed?.to, failed?.state, failed?.attempts], ['reset', recipient, 'failed', 1])
    assert.match(String(failed?.problem), /refused the recipient: 550/)
    const failedAlone = () => runJsonCommandOf<Listed[]>(service, ['mail', 'list', '--failed'])
    assert.deepEqual(await failedAlone(), [failed])
    const table = await runCommandOf(service, ['mail', 'list'])
    assert.ok(table.includes(String(failed?.id)))
    assert.doesNotMatch(table + JSON.stringify(failed), /token|https?:/)

    smtp.mend()
    await runCommandOf(service, ['mail', 'resend', String(failed?.id)])
    const mail = await smtp.receivedFor(recipient)
    assert.deepEqual(mail.headers('message-id'), [`<${String(failed?.id)}@app.example.com>`])
    await outbox.settled('sent')
    assert.deepEqual(await failedAlone(), [])
    // What was sent may have been lost behind the server.
    await runCommandOf(service, ['mail', 'resend', String(failed?.id)])
    await smtp.receivedFor(recipient, 2)
  })

  test('refuse what cannot be sent again', async (t) => {
    const smtp = await startSmtpServer({ t })
    const service = await startService({ t, env: mailEnv(smtp) })
    const outbox = await openOutbox(service, t)
    await outbox.write({ linkId: 'gone' })
    await outbox.settled('dropped')
    const [row] = await outbox.rows()
    const dropped = await service.cli(['mail', 'resend', String(row?.id)])
    assert.equal(dropped.code, 1)
    assert.match(dropped.stderr, /cannot be sent again: its recipient and content were forgotten/)
    const unknown = await service.cli(['mail', 'resend', 'nothing'])
    assert.equal(unknown.code, 1)
    assert.match(unknown.stderr, /There is no message nothing/)
    const off = await service.cli(['mail', 'resend', String(row?.id)], { env: { SVC_SMTP_URL: '' } })
    assert.match(off.stderr, /SVC_SMTP_URL/)
    assert.deepEqual(smtp.mails, [])
  })
})
