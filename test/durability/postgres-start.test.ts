// Runs once.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { newAgent, newPerson, signedUp, signUp } from '../support/client/accounts.ts'
import { startTcpProxy } from '../support/network/tcp-proxy.ts'
import { startWebhookReceiver } from '../support/network/webhook-receiver.ts'
import { startPostgres } from '../support/postgres/postgres.ts'
import { preparePostgresFailures } from '../support/postgres/postgres-failures.ts'
import { runSvc } from '../support/service/command.ts'
import { startServiceProcess } from '../support/service/service-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { eventually } from '../support/wait.ts'

const postgres = await startPostgres()
const troubles = await preparePostgresFailures(postgres)
const url = troubles.url(postgres.port)
const SVC_SECRET = randomBytes(32).toString('base64')

/** Runs a command that must fail, and resolves to its output. */
const failing = async (args: string[], SVC_DATABASE_URL: string): Promise<string> => {
  const env = { SVC_DATABASE_URL, SVC_SECRET, SVC_PORT: '0' }
  const { code, stdout, stderr } = await runSvc({ args, cwd: temporaryDirectory(), env })
  assert.equal(code, 1, stderr)
  assert.equal(stdout, '')
  assert.doesNotMatch(stderr, /open-sesame|wrong-password|^\s+at /m)
  return stderr
}

const withUrl = (change: (url: URL) => void): string => {
  const changed = new URL(url)
  change(changed)
  return changed.href
}

describe('with PostgreSQL', { concurrency: 4 }, () => {
  test('a service that starts before the database waits for it, logs that once, and serves when it is up', async (t) => {
    const proxy = await startTcpProxy({ port: postgres.port, t })
    proxy.reset()
    const starting = startServiceProcess({ t, env: { SVC_DATABASE_URL: troubles.url(proxy.port), SVC_SECRET } })
    await eventually('asked several times', () => proxy.connections() > 6)
    proxy.mend()
    const service = await starting
    const waits = service.logLines().filter(({ message }) => message === 'waiting for the database')
    assert.equal(waits.length, 1)
    await signedUp(service)
  })

  test('a start with a wrong password, or a database that does not exist, fails at once and says what to do', async () => {
    const wrong = await failing(
      ['serve'],
      withUrl((it) => (it.password = 'wrong-password')),
    )
    assert.match(wrong, /postgres:\/\/svc_test@127\.0\.0\.1:\d+\/.*SVC_DATABASE_URL.*check user and password/)
    const missing = await failing(
      ['serve'],
      withUrl((it) => (it.pathname = '/nowhere')),
    )
    assert.match(missing, /127\.0\.0\.1:\d+\/nowhere.*does not exist: create it/)
  })

  test('a command without a reachable database fails with the reason', async (t) => {
    const proxy = await startTcpProxy({ port: postgres.port, t })
    proxy.reset()
    const message = await failing(['users', 'list'], troubles.url(proxy.port))
    assert.match(message, /^svc: The database postgres:\/\/\S+ .*check host and port/)
    proxy.swallow()
    assert.match(
      await failing(['users', 'list'], `${troubles.url(proxy.port)}?connect_timeout=1`),
      /check host and port/,
    )
  })

  test('a command that loses the database half-way ends', async (t) => {
    const proxy = await startTcpProxy({ port: postgres.port, t })
    proxy.onSent((piece) => {
      if (piece.includes('FROM migrations')) proxy.swallow()
    })
    assert.match(await failing(['users', 'list'], troubles.url(proxy.port)), /The database cannot be reached/)
  })

  test('SIGTERM while the database is frozen, with everything under way: every request is answered, exit 0', async (t) => {
    const own = await startPostgres({ t })
    const receiver = await startWebhookReceiver({ t })
    const service = await startServiceProcess({
      t,
      env: {
        SVC_DATABASE_URL: await own.createDatabase(),
        SVC_SECRET,
        SVC_WEBHOOK_URL: receiver.url,
        SVC_WEBHOOK_SECRET: randomBytes(32).toString('base64'),
        SVC_CLEANUP_INTERVAL: '50ms',
      },
    })
    const { agent } = await signedUp(service)
    await own.freeze()
    const asked = [agent.get('/auth/api/v1/user'), agent.refresh(), signUp(newAgent(service), newPerson())]
    await sleep(300)
    assert.equal(await service.stop(), 0)
    for (const { status, setCookies } of await Promise.all(asked)) {
      assert.equal(status, 503)
      assert.deepEqual(setCookies, [])
    }
  })
})
