// Runs once.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import tls from 'node:tls'
import { readSmtpUrl } from '../../src/config/mail-parsers.ts'
import { createSmtpClient } from '../../src/mail/smtp/smtp-client.ts'
import { SmtpError } from '../../src/mail/smtp/smtp-error.ts'
import { createAuthority } from '../support/network/certificates.ts'
import { freePort } from '../support/network/free-port.ts'
import { startScriptedSmtpServer } from '../support/network/scripted-smtp-server.ts'
import { startSmtpServer } from '../support/network/smtp-server.ts'
import { eventually } from '../support/wait.ts'
// smtp.corp.example is this machine, and yet no loopback name: TLS is required there.
import '../support/network/host-name-tap.ts'

const source = Buffer.from('From: svc@example.com\r\nTo: ada@example.com\r\nSubject: hello\r\n\r\nHello\r\n')
const message = { from: 'svc@example.com', to: 'ada@example.com', source }

const clientOf = (url: string, t: TestContext, timeoutMs = 30_000) => {
  const server = readSmtpUrl(url)
  assert.ok(server, url)
  const client = createSmtpClient({ server, clientName: 'app.example', timeoutMs })
  t.after(client.close)
  return client
}

/** The failure of one attempt. */
const failureOf = async (url: string, t: TestContext, timeoutMs?: number): Promise<SmtpError> => {
  const error: unknown = await clientOf(url, t, timeoutMs)
    .send(message)
    .catch((thrown: unknown) => thrown)
  assert.ok(error instanceof SmtpError, String(error))
  return error
}

const authority = createAuthority('Mail Test Authority')
const trusted = authority.issue('smtp.corp.example', 'smtp.corp.example')
tls.setDefaultCACertificates([...tls.getCACertificates('default'), authority.root])

describe('a message is handed over', () => {
  test('over plain SMTP on this machine', async (t) => {
    const server = await startSmtpServer({ t })
    await clientOf(server.url, t).send(message)
    const mail = await server.receivedFor(message.to)
    assert.equal(mail.sender, message.from)
    assert.equal(mail.isEncrypted, false)
  })

  test('after STARTTLS, with a user and a password of any characters', async (t) => {
    const [user, password] = ['ada@example.com', 'a b:/@?#%ä']
    const server = await startSmtpServer({ t, tls: 'starttls', certificate: trusted, user, password })
    const login = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`
    await clientOf(`smtp://${login}@smtp.corp.example:${server.port}`, t).send(message)
    const mail = await server.receivedFor(message.to)
    assert.equal(mail.isEncrypted, true)
    assert.equal(mail.user, user)
  })

  test('over smtps', async (t) => {
    const server = await startSmtpServer({ t, tls: 'smtps', certificate: trusted })
    await clientOf(`smtps://smtp.corp.example:${server.port}`, t).send(message)
    assert.equal((await server.receivedFor(message.to)).isEncrypted, true)
  })

  test('on this machine with the TLS that is offered, whatever its certificate', async (t) => {
    const [user, password] = ['ada', 'secret']
    const certificate = createAuthority('Nobody').issue('other.example')
    const server = await startSmtpServer({ t, tls: 'starttls', certificate, user, password })
    await clientOf(server.url, t).send(message)
    assert.equal((await server.receivedFor(message.to)).isEncrypted, true)
  })

  test('several over one connection, and over a new one once the server has ended it', async (t) => {
    const server = await startSmtpServer({ t })
    const client = clientOf(server.url, t)
    await client.send(message)
    await client.send(message)
    await server.stop()
    await server.start()
    await client.send(message)
    const mails = await server.received(3)
    assert.deepEqual(
      mails.map(({ connection }) => connection),
      [1, 1, 2],
    )
  })

  test('and the socket is gone after the goodbye', async (t) => {
    const server = await startSmtpServer({ t })
    const client = clientOf(server.url, t)
    await client.send(message)
    await client.close()
    await eventually('no connection is open', () => server.connections().open === 0, 5)
  })

  test('a host outside gets nothing without TLS, but for ?tls=off', async (t) => {
    const server = await startScriptedSmtpServer({ EHLO: '250 mail.example', STARTTLS: '502 what?' }, t)
    const error = await failureOf(`smtp://smtp.corp.example:${server.port}`, t)
    assert.equal(error.step, 'tls')
    assert.match(error.message, /offers no TLS/)
    assert.deepEqual(server.lines, ['EHLO app.example', 'STARTTLS'])
    await clientOf(`smtp://smtp.corp.example:${server.port}?tls=off`, t).send(message)
    assert.ok(server.lines.includes('MAIL FROM:<svc@example.com>'))
  })
})

describe('a failure names its step', () => {
  const refusals = [
    ['greeting', { greeting: '554 not you' }, 554],
    ['greeting', { greeting: '421 not now' }, 421],
    ['greeting', { EHLO: '550 not you' }, 550],
    ['greeting', { EHLO: '421 not now' }, 421],
    ['tls', { STARTTLS: '454 not now' }, 454],
    ['authentication', { AUTH: '535 wrong' }, 535],
    ['authentication', { AUTH: '454 not now' }, 454],
    ['sender', { MAIL: '550 not you' }, 550],
    ['sender', { MAIL: '451 not now' }, 451],
    ['recipient', { RCPT: '550 unknown' }, 550],
    ['recipient', { RCPT: '450 greylisted' }, 450],
    ['message', { DATA: '554 no' }, 554],
    ['message', { DATA: '451 not now' }, 451],
    ['message', { content: '550 spam' }, 550],
    ['message', { content: '452 full' }, 452],
  ] as const
  for (const [step, script, code] of refusals) {
    test(`${JSON.stringify(script)} is a refusal at step ${step}`, async (t) => {
      const withoutTls = 'STARTTLS' in script ? {} : { EHLO: '250-mail.example\r\n250 AUTH PLAIN' }
      const server = await startScriptedSmtpServer({ ...withoutTls, HELO: '550 no', ...script }, t)
      const error = await failureOf(`smtp://ada:secret@127.0.0.1:${server.port}`, t)
      assert.deepEqual([error.step, error.code, error.isPermanent], [step, code, code >= 500], error.message)
      assert.ok(!error.message.includes('secret'))
      await eventually('the socket is destroyed', () => server.open() === 0, 5)
    })
  }

  test('a name that nobody knows', async (t) => {
    const error = await failureOf('smtp://mail.invalid:587', t)
    assert.deepEqual([error.step, error.isPermanent], ['name', false])
    assert.match(error.message, /the name of mail\.invalid:587 was not found/)
  })

  test('a port on which nothing listens', async (t) => {
    const error = await failureOf(`smtp://127.0.0.1:${await freePort()}`, t)
    assert.deepEqual([error.step, error.isPermanent], ['connection', false])
    assert.match(error.message, /refused the connection/)
  })

  test('a certificate that nobody signed', async (t) => {
    const certificate = createAuthority('Nobody').issue('smtp.corp.example', 'smtp.corp.example')
    for (const kind of ['starttls', 'smtps'] as const) {
      const server = await startSmtpServer({ t, tls: kind, certificate })
      const scheme = kind === 'smtps' ? 'smtps' : 'smtp'
      const error = await failureOf(`${scheme}://smtp.corp.example:${server.port}`, t)
      assert.deepEqual([error.step, error.isPermanent], ['certificate', false], error.message)
      assert.deepEqual(server.mails, [])
    }
  })

  test('a certificate of another name', async (t) => {
    const certificate = authority.issue('other.example', 'other.example')
    const server = await startSmtpServer({ t, tls: 'smtps', certificate })
    const error = await failureOf(`smtps://smtp.corp.example:${server.port}`, t)
    assert.equal(error.step, 'certificate', error.message)
  })

  test('a server that knows no newer TLS than 1.1', async (t) => {
    const old = { ...trusted, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' } as const
    const server = tls.createServer(old).on('tlsClientError', () => undefined)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => server.close())
    const { port } = server.address() as AddressInfo
    const error = await failureOf(`smtps://smtp.corp.example:${port}`, t)
    assert.deepEqual([error.step, error.isPermanent], ['tls', false], error.message)
    // The server itself is able to, with a client that still is.
    const client = tls.connect({ ...old, port, host: '127.0.0.1', rejectUnauthorized: false })
    await once(client, 'secureConnect')
    assert.equal(client.getProtocol(), 'TLSv1.1')
    client.destroy()
  })

  test('smtps to a port that speaks plain SMTP', async (t) => {
    const server = await startScriptedSmtpServer({}, t)
    const error = await failureOf(`smtps://smtp.corp.example:${server.port}`, t)
    assert.deepEqual([error.step, error.isPermanent], ['tls', false], error.message)
  })

  test('a server that does not speak SMTP, or stops to', async (t) => {
    const answers = [
      ['greeting', 'greeting', 'HTTP/1.1 400 Bad Request'],
      ['EHLO', 'greeting', 'what?'],
      ['AUTH', 'authentication', 'what?'],
      ['MAIL', 'message', 'what?'],
      ['content', 'message', 'what?'],
    ] as const
    for (const [turn, step, answer] of answers) {
      const server = await startScriptedSmtpServer({ EHLO: '250 AUTH PLAIN', HELO: 'what?', [turn]: answer }, t)
      const error = await failureOf(`smtp://ada:secret@127.0.0.1:${server.port}`, t)
      assert.deepEqual([error.step, error.isPermanent], [step, false], `${turn}: ${error.message}`)
      assert.match(error.message, /gave an answer that is not SMTP: /)
    }
  })

  test('a connection that breaks', async (t) => {
    for (const turn of ['greeting', 'EHLO', 'AUTH', 'MAIL', 'content'] as const) {
      const server = await startScriptedSmtpServer({ EHLO: '250 AUTH PLAIN', [turn]: 'break' }, t)
      const error = await failureOf(`smtp://ada:secret@127.0.0.1:${server.port}`, t)
      assert.equal(error.isPermanent, false)
    }
  })
})

describe('the time limit bounds the whole attempt', () => {
  for (const fault of ['silence', 'drip']) {
    for (const turn of ['greeting', 'EHLO', 'STARTTLS', 'AUTH', 'MAIL', 'RCPT', 'DATA', 'content'] as const) {
      test(`${fault} at ${turn}`, async (t) => {
        const EHLO = turn === 'STARTTLS' ? '250 STARTTLS' : '250 AUTH PLAIN'
        const server = await startScriptedSmtpServer({ EHLO, [turn]: fault }, t)
        const error = await failureOf(`smtp://ada:secret@127.0.0.1:${server.port}`, t, 200)
        assert.match(error.message, /within 0\.2 s \(SVC_MAIL_TIMEOUT\)/)
        assert.equal(error.isPermanent, false)
        await eventually('the socket is destroyed', () => server.open() === 0, 5)
      })
    }
  }

  test('an attempt that is aborted ends at once', async (t) => {
    const server = await startScriptedSmtpServer({ greeting: 'silence' }, t)
    const abort = new AbortController()
    const sending = clientOf(`smtp://127.0.0.1:${server.port}`, t).send(message, abort.signal)
    abort.abort()
    await assert.rejects(sending, /cut off/)
  })
})
