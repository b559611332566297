// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { type TestContext, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { logIn, logOut, newAgent, newPerson, signedUp, signUp } from '../../support/client/accounts.ts'
import {
  assertCanLogIn,
  assertErrorPage,
  assertJsonError,
  assertPage,
  assertSignedIn,
} from '../../support/client/assertions.ts'
import { type Answer, createUserAgent, urlEncoded } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { testOnSqlite } from '../../support/database/database-choice.ts'
import { emptyDatabaseSettings } from '../../support/database/folder-database.ts'
import { connectRaw } from '../../support/network/raw-connection.ts'
import { startWebhookReceiver } from '../../support/network/webhook-receiver.ts'
import { runJsonCommandOf } from '../../support/service/operator-commands.ts'
import { loggedLine } from '../../support/service/request-log.ts'
import { startService } from '../../support/service/service.ts'
import { type ServiceProcess, startServiceProcess } from '../../support/service/service-process.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const assertUnavailable = (answer: Answer) => {
  assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/)
  assert.deepEqual(answer.cleared, [], 'clears no cookie')
}

/** A login with half of its body sent: the request is in flight until `finish`. */
const halfLogin = async (service: ServiceProcess, t: TestContext) => {
  const { person } = await signedUp(service)
  const visitor = createUserAgent(service)
  await visitor.get('/auth/login')
  const csrf_token = visitor.cookies.get('svc_csrf') ?? ''
  const body = urlEncoded({ email: person.email, password: person.password, csrf_token })
  const connection = await connectRaw(service, t)
  connection.write(
    `POST /auth/login HTTP/1.1\r\nHost: localhost:${service.port}\r\nCookie: svc_csrf=${csrf_token}\r\n` +
      `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n` +
      `Expect: 100-continue\r\n\r\n${body.slice(0, 10)}`,
  )
  await connection.answer(/^HTTP\/1\.1 100 /)
  return { answer: connection.answer, finish: () => connection.write(body.slice(10)) }
}

describe('operation', { concurrency: 3 }, () => {
  test('the database being locked is 503 unavailable with Retry-After, never 401, and clears no cookie', async (t) => {
    const service = await startService({ t, env: { SVC_DATABASE_TIMEOUT: '3s' } })
    const { agent, person } = await signedUp(service)
    const database = await openDatabase(service, t)
    const release = await database.lock()
    const [refresh, login, signup, user] = await Promise.all([
      agent.refresh(),
      logIn(newAgent(service), person),
      signUp(newAgent(service), newPerson()),
      agent.get('/auth/api/v1/user'),
    ])
    assertJsonError(refresh, 503, 'unavailable')
    assertErrorPage(login, 503)
    assertErrorPage(signup, 503)
    for (const answer of [refresh, login, signup]) assertUnavailable(answer)
    assert.equal(user.status, 200, 'reading goes on')
    const logout = await logOut(agent.copy())
    assertErrorPage(logout, 503)
    assertUnavailable(logout)
    await release()
    await assertSignedIn(agent)
    assert.equal((await agent.refresh()).status, 200, 'the refresh token has not been used up')
    await assertCanLogIn(service, person)
  })

  test('a request waits for a lock that is held for a moment', async (t) => {
    const service = await startService({ t })
    const { agent } = await signedUp(service)
    const database = await openDatabase(service, t)
    const release = await database.lock()
    const refresh = agent.refresh()
    await sleep(60)
    await release()
    assert.equal((await refresh).status, 200)
  })

  test('a user whose session cannot be refreshed because the database is locked sees 503, not the login form', async (t) => {
    const service = await startService({ t, env: { SVC_DATABASE_TIMEOUT: '3s' } })
    const { agent } = await signedUp(service)
    const token = agent.cookies.get('svc_access') ?? ''
    agent.cookies.delete('svc_access')
    const database = await openDatabase(service, t)
    const release = await database.lock()
    const answer = await agent.get('/auth/login?return_to=%2Fshop')
    assertErrorPage(answer, 503)
    assertUnavailable(answer)
    await release()
    assert.equal((await agent.get('/auth/login?return_to=%2Fshop')).status, 303)
    agent.cookies.set('svc_access', token)
    await assertSignedIn(agent)
  })

  test('a storm of logins: when the queue is full 503 with Retry-After, no wrong result, and afterwards normal service', async (t) => {
    const service = await startService({ t, fullHashes: true, env: { SVC_HASH_QUEUE: '40' } })
    const { agent, person } = await signedUp(service)
    const visitors = Array.from({ length: 200 }, () => newAgent(service))
    const answers = await Promise.all(
      visitors.map((visitor) => logIn(visitor, { ...person, password: 'not the password' })),
    )
    const busy = answers.filter(({ status }) => status === 503)
    assert.ok(busy.length > 0 && busy.length < answers.length, `${busy.length} of ${answers.length}`)
    for (const answer of busy) {
      assertPage(answer, 503)
      assertUnavailable(answer)
    }
    assert.ok(answers.every(({ status }) => status === 503 || status === 401))
    await assertSignedIn(agent)
    await assertCanLogIn(service, person)
  })

  test('GET /auth/health (process up) and GET /auth/ready (database answers, migrations done, not draining)', async (t) => {
    const service = await startService({ t })
    const probe = createUserAgent(service)
    assert.equal((await probe.get('/auth/health')).status, 200)
    assert.equal((await probe.get('/auth/ready')).status, 200)
  })

  test('SIGTERM: not ready at once (with the reason), requests in flight finish, exit 0', async (t) => {
    const service = await startServiceProcess({ t })
    const half = await halfLogin(service, t)
    const probe = await connectRaw(service, t)
    const ask = `GET /auth/ready HTTP/1.1\r\nHost: localhost:${service.port}\r\n\r\n`
    probe.write(ask)
    assert.match(await probe.answer(/\r\n\r\n/), /^HTTP\/1\.1 200/)
    const ended = service.ended()
    service.signal('SIGTERM')
    await loggedLine(service, ({ message }) => message === 'stopping')
    probe.write(ask)
    const ready = await probe.answer(/HTTP\/1\.1 503[^]*\r\n\r\n./)
    assert.match(ready, /drain|stop|shut/i)
    half.finish()
    const login = await half.answer(/HTTP\/1\.1 [2-5][^]*\r\n\r\n/)
    assert.match(login, /HTTP\/1\.1 303/)
    assert.match(login, /Set-Cookie: svc_access=/i)
    assert.equal(await ended, 0)
  })

  test('SIGTERM without requests in flight: exit 0, with idle connections open', async (t) => {
    const service = await startServiceProcess({ t })
    const { agent } = await signedUp(service)
    await assertSignedIn(agent)
    assert.equal(await service.stop(), 0)
  })

  test('SIGINT stops like SIGTERM', async (t) => {
    const service = await startServiceProcess({ t })
    const ended = service.ended()
    service.signal('SIGINT')
    assert.equal(await ended, 0)
  })

  test('Ctrl+C that arrives twice, from the terminal and from npm, interrupts no request', async (t) => {
    const service = await startServiceProcess({ t })
    const half = await halfLogin(service, t)
    const ended = service.ended()
    service.signal('SIGINT')
    await loggedLine(service, ({ message }) => message === 'stopping')
    service.signal('SIGINT')
    half.finish()
    assert.match(await half.answer(/HTTP\/1\.1 [2-5][^]*\r\n\r\n/), /HTTP\/1\.1 303/)
    assert.equal(await ended, 0)
  })

  test('Ctrl+C again, later, ends the service at once', async (t) => {
    const service = await startServiceProcess({ t })
    await halfLogin(service, t)
    const ended = service.ended()
    service.signal('SIGINT')
    await loggedLine(service, ({ message }) => message === 'stopping')
    await sleep(600)
    service.signal('SIGINT')
    assert.equal(await ended, 1)
    assert.ok(!service.logLines().some(({ message }) => message === 'stopped'), 'no request was waited for')
  })

  test('SIGTERM: deliveries that have begun are finished', async (t) => {
    const receiver = await startWebhookReceiver({ t })
    const held = Promise.withResolvers<void>()
    receiver.answerWith((_, response) => void held.promise.then(() => response.writeHead(204).end()))
    const env = { SVC_WEBHOOK_URL: receiver.url, SVC_WEBHOOK_SECRET: 'a secret of enough bytes' }
    const service = await startServiceProcess({ t, env })
    await signedUp(service)
    await receiver.received(1)
    const ended = service.ended()
    service.signal('SIGTERM')
    await loggedLine(service, ({ message }) => message === 'stopping')
    held.resolve()
    assert.equal(await ended, 0)
    const events = await runJsonCommandOf<Record<string, unknown>[]>(service, ['webhooks', 'list'])
    assert.match(JSON.stringify(events), /delivered|succeeded/)
  })

  test('SIGTERM: exit 0 within 10 s, even if a client never finishes and a receiver never answers', async (t) => {
    const receiver = await startWebhookReceiver({ t })
    receiver.answerWith(() => {})
    const env = { SVC_WEBHOOK_URL: receiver.url, SVC_WEBHOOK_SECRET: 'a secret of enough bytes' }
    const service = await startServiceProcess({ t, env: { ...env, SVC_WEBHOOK_TIMEOUT: '10m' } })
    await halfLogin(service, t)
    await receiver.received(1)
    const ended = service.ended()
    service.signal('SIGTERM')
    assert.equal(await Promise.race([ended, sleep(30_000, 'still running', { ref: false })]), 0)
  })

  test('two services that start at once on one new database both serve', async (t) => {
    const cwd = temporaryDirectory(t)
    const env = await emptyDatabaseSettings(cwd, t)
    const both = await Promise.all([1, 2].map(() => startServiceProcess({ t, cwd, env })))
    const [one, other] = both
    assert.ok(one && other)
    const { agent, person } = await signedUp(one)
    await assertCanLogIn(other, person)
    const elsewhere = await createUserAgent(other).get('/auth/api/v1/user', {
      cookie: agent.cookies.header('/auth/') ?? '',
    })
    // Each has its own base URL as issuer; the sessions are shared.
    assert.ok([200, 401].includes(elsewhere.status))
  })

  test('logout, deletion and password change take effect at once in another process on the same database', async (t) => {
    const env = { SVC_BASE_URL: 'https://app.example.com' }
    const one = await startServiceProcess({ t, env })
    const other = await startServiceProcess({ t, env, cwd: one.directory })
    const { person } = await signedUp(one)
    for (let trial = 0; trial < 50; trial++) {
      const agent = createUserAgent(one)
      await logIn(agent, person)
      const there = createUserAgent(other, agent.cookies.copy())
      await assertSignedIn(there)
      await logOut(agent)
      assertJsonError(await there.get('/auth/api/v1/user'), 401, 'unauthorized')
    }
  })

  testOnSqlite('a database that cannot grow is 503, never 401, clears no cookie, and reads still work', async (t) => {
    const service = await startServiceProcess({ t })
    const { agent, person } = await signedUp(service)
    await service.stop()
    const limited = await startServiceProcess({
      t,
      cwd: service.directory,
      env: { SVC_PORT: String(service.port) },
      fileSizeLimitKiB: 1024,
    })
    let refused: Answer | undefined
    for (let tries = 0; tries < 400 && refused === undefined; tries += 4) {
      const answers = await Promise.all([1, 2, 3, 4].map(() => signUp(newAgent(limited), newPerson())))
      refused = answers.find(({ status }) => status !== 303)
    }
    assert.ok(refused, 'the limit was reached')
    assertErrorPage(refused, 503)
    const refresh = await agent.refresh()
    if (refresh.status !== 200) assertJsonError(refresh, 503, 'unavailable')
    assert.deepEqual(refresh.cleared, [])
    await assertSignedIn(agent)
    await limited.kill()
    await service.restart()
    await assertSignedIn(agent)
    await assertCanLogIn(service, person)
  })
})
