// Runs on SQLite.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { type TestContext, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { currentUser, newPerson, signedUp } from '../../support/client/accounts.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabaseFile } from '../../support/database/database-file.ts'
import { startWebhookReceiver, status } from '../../support/network/webhook-receiver.ts'
import { runSvc } from '../../support/service/command.ts'
import { startService } from '../../support/service/service.ts'
import { startServiceProcess } from '../../support/service/service-process.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { eventually, within } from '../../support/wait.ts'

const HOUR = 3_600_000

const settings = (url: string) => ({ SVC_WEBHOOK_URL: url, SVC_WEBHOOK_SECRET: 'a secret of enough bytes' })

/** Leaves the connection open in another protocol, like a WebSocket server. */
const switchProtocols = (response: ServerResponse) =>
  response.socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')

/** A folder with a database in which `count` events wait, each of another user. */
const folderWithOpenEvents = async (t: TestContext, url: string, count: number): Promise<string> => {
  const cwd = temporaryDirectory(t)
  const { email, password } = newPerson()
  const made = await runSvc({ args: ['users', 'create', email], cwd, env: settings(url), input: password })
  assert.equal(made.code, 0, made.stderr)
  const database = openDatabaseFile({ directory: cwd }, t)
  for (let copy = 1; copy < count; copy++) {
    database.run(
      `INSERT INTO webhook_events (id, type, user_id, created_at, body, attempts, next_attempt_at)
       SELECT ?, type, ?, created_at, body, attempts, next_attempt_at FROM webhook_events LIMIT 1`,
      randomUUID(),
      randomUUID(),
    )
  }
  database.close()
  return cwd
}

describe('webhooks when a part fails', { concurrency: 2 }, () => {
  test('a receiver that answers 101 Switching Protocols does not occupy a delivery without limit, nor block the stop', async (t) => {
    const receiver = await startWebhookReceiver({ t })
    receiver.answerWith((_, response) => void switchProtocols(response))
    const service = await startServiceProcess({ t, env: settings(receiver.url) })
    const people = Array.from({ length: 9 }, newPerson)
    await Promise.all(people.map((person) => signedUp(service, person)))
    await receiver.received(9)
    receiver.answerWith((_, response) => void response.writeHead(204).end())
    const { agent } = await signedUp(service)
    const { id } = await currentUser(agent)
    const isTheirs = ({ event }: { event: { data: { user_id: string } } }) => event.data.user_id === id
    await receiver.receivedEvent(isTheirs)
    const database = openDatabaseFile(service, t)
    const left = 'SELECT status FROM webhook_events WHERE closed_at IS NULL'
    await eventually('every event is closed', () => database.rows(left).length === 0)
    const statuses = database.rows('SELECT status FROM webhook_events ORDER BY status').map(({ status }) => status)
    assert.deepEqual(statuses, [...Array.from({ length: 9 }, () => 101), 204])
    database.close()
    assert.equal(await service.stop(), 0)
  })

  test('events whose attempts cannot be recorded (the disk is full) block nothing else', async (t) => {
    const receiver = await startWebhookReceiver({ t })
    const cwd = await folderWithOpenEvents(t, receiver.url, 60)
    // The shared memory file takes 32 KiB; a few commits later the log of the database reaches the limit.
    const service = await startServiceProcess({ t, cwd, env: settings(receiver.url), fileSizeLimitKiB: 64 })
    const probe = createUserAgent(service)
    await eventually('bookkeeping fails', () => service.logs().includes('webhook bookkeeping failed'))
    for (let round = 0; round < 20; round++) {
      const health = await within(60, 'GET /auth/health', probe.get('/auth/health'))
      assert.equal(health.status, 200)
      await sleep(50)
    }
    assert.ok(receiver.deliveries.length < 60, 'some events are still due')
    assert.equal(await service.stop(), 0)
  })

  test('closed events are deleted after SVC_WEBHOOK_RETENTION, open ones stay', async (t) => {
    const receiver = await startWebhookReceiver({ t })
    const clock = turnedClock()
    const retried = { SVC_WEBHOOK_MAX_ATTEMPTS: '100', SVC_WEBHOOK_RETENTION: '1h', SVC_CLEANUP_INTERVAL: '300ms' }
    const service = await startService({ t, clock, env: { ...settings(receiver.url), ...retried } })
    const database = openDatabaseFile(service, t)
    const users = () => database.rows('SELECT user_id FROM webhook_events').map(({ user_id }) => user_id)
    await signedUp(service)
    await receiver.received(1)
    receiver.answerWith(status(503))
    const { id } = await currentUser((await signedUp(service)).agent)
    await receiver.received(2)
    receiver.answerWith(({ event }, response) => void response.writeHead(event.data.user_id === id ? 503 : 204).end())
    await clock.turnTo(2 * HOUR)
    await eventually('the closed event is gone', () => users().length === 1)
    assert.deepEqual(users(), [id])
    // Long after the time of the open event, too: another cleanup leaves it where it is.
    await signedUp(service)
    assert.equal(users().length, 2)
    await eventually(
      'it is delivered',
      () => database.rows('SELECT 1 FROM webhook_events WHERE closed_at > 0').length > 0,
    )
    await clock.turnTo(4 * HOUR)
    await eventually('the next closed event is gone', () => users().length === 1)
    assert.deepEqual(users(), [id])
  })
})
