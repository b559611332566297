// Runs once.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import { newAgent, newPerson, type Person, signedUp, signUp } from '../support/client/accounts.ts'
import { assertCanLogIn } from '../support/client/assertions.ts'
import { createUserAgent } from '../support/client/user-agent.ts'
import { startTcpProxy } from '../support/network/tcp-proxy.ts'
import { startWebhookReceiver } from '../support/network/webhook-receiver.ts'
import { type Postgres, startPostgres } from '../support/postgres/postgres.ts'
import { type Service, startService } from '../support/service/service.ts'
import { eventually } from '../support/wait.ts'

/** A service that sends webhooks. */
const startWithWebhooks = async (t: TestContext, { url, ...env }: { url: string } & Record<string, string>) => {
  const receiver = await startWebhookReceiver({ t })
  const service = await startService({
    t,
    env: {
      SVC_DATABASE_URL: url,
      SVC_DATABASE_TIMEOUT: '20s',
      SVC_SECRET: randomBytes(32).toString('base64'),
      SVC_WEBHOOK_URL: receiver.url,
      SVC_WEBHOOK_SECRET: randomBytes(32).toString('base64'),
      ...env,
    },
  })
  return { service, receiver }
}

const isReady = async (service: Service) => (await createUserAgent(service).get('/auth/ready')).status === 200

/** Runs six signups in parallel until `interrupt`, and resolves to those that were acknowledged. */
const signUpUntil = async (service: Service, enough: number, interrupt: () => Promise<unknown>): Promise<Person[]> => {
  const acknowledged: Person[] = []
  const reached = Promise.withResolvers<void>()
  const attempts = Array.from({ length: 6 }, async () => {
    const person = newPerson()
    const answer = await signUp(newAgent(service), person)
    if (answer.status === 303) acknowledged.push(person)
    else assert.equal(answer.status, 503, answer.text)
    if (acknowledged.length === enough) reached.resolve()
  })
  await Promise.race([reached.promise, Promise.all(attempts)])
  await interrupt()
  await Promise.all(attempts)
  return acknowledged
}

const COUNTS = `SELECT email, (SELECT COUNT(*) FROM webhook_events AS event
  WHERE event.user_id = users.id AND event.type = 'user.created') AS events FROM users`

/** Checks that every account has exactly one event, and every event an account. */
const assertOneEventEach = async (postgres: Postgres, url: string): Promise<string[]> => {
  const users = await postgres.query<{ email: string; events: number }>(url, COUNTS)
  assert.deepEqual(
    users.filter(({ events }) => events !== 1),
    [],
  )
  const orphans = 'SELECT id FROM webhook_events WHERE user_id NOT IN (SELECT id FROM users)'
  assert.deepEqual(await postgres.query(url, orphans), [])
  return users.map(({ email }) => email)
}

describe('PostgreSQL under signups', () => {
  test('6 immediate stops: no acknowledged user is lost, and each has one event', async (t) => {
    const postgres = await startPostgres({ t })
    const url = await postgres.createDatabase()
    const { service, receiver } = await startWithWebhooks(t, { url })
    const acknowledged: Person[] = []
    for (let round = 0; round < 6; round++) {
      acknowledged.push(...(await signUpUntil(service, 1 + (round % 4), () => postgres.stop('immediate'))))
      await postgres.start()
      await eventually('ready again', () => isReady(service))
    }
    assert.ok(acknowledged.length >= 6, String(acknowledged.length))
    const stored = new Set(await assertOneEventEach(postgres, url))
    const lost = acknowledged.filter(({ email }) => !stored.has(email))
    assert.deepEqual(lost, [])
    for (const person of acknowledged.slice(0, 10)) await assertCanLogIn(service, person)
    assert.ok(receiver.deliveries.length > 0)
    assert.equal(new Set(receiver.deliveries.map(({ event }) => event.id)).size, receiver.deliveries.length)
  })

  test('frozen, with connections ended in the middle: accounts that are created late have their event too', async (t) => {
    const postgres = await startPostgres({ t })
    const url = await postgres.createDatabase()
    const { service } = await startWithWebhooks(t, { url, SVC_DATABASE_TIMEOUT: '500ms' })
    const others = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()
      AND datname = current_database()`
    const acknowledged: Person[] = []
    for (let round = 0; round < 6; round++) {
      const isFreeze = round % 2 === 0
      const interrupt = isFreeze ? postgres.freeze : () => postgres.query(url, others)
      acknowledged.push(...(await signUpUntil(service, 1 + (round % 3), interrupt)))
      postgres.thaw()
      await eventually('ready again', () => isReady(service))
    }
    const stored = new Set(await assertOneEventEach(postgres, url))
    const lost = acknowledged.filter(({ email }) => !stored.has(email))
    assert.deepEqual(lost, [])
  })

  test('a transaction that the server does not begin leaves no trace', async (t) => {
    const postgres = await startPostgres({ t })
    const url = new URL(await postgres.createDatabase())
    const proxy = await startTcpProxy({ port: postgres.port, t })
    const direct = url.href
    url.port = String(proxy.port)
    const { service } = await startWithWebhooks(t, { url: url.href })
    await signedUp(service)
    // Stands for anything that makes this statement fail, such as a cancellation.
    proxy.onSent((piece) => {
      const start = piece.indexOf('BEGIN')
      if (start >= 0) piece.write('BEGUN', start, 'latin1')
    })
    assert.ok((await signUp(newAgent(service), newPerson())).status >= 500)
    proxy.onSent(undefined)
    assert.equal((await assertOneEventEach(postgres, direct)).length, 1)
    await signedUp(service)
  })
})
