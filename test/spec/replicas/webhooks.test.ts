// Runs on PostgreSQL.
import assert from 'node:assert/strict'
import { type TestContext, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { currentUser, signedUp } from '../../support/client/accounts.ts'
import { openDatabase } from '../../support/database/database.ts'
import {
  type Delivery,
  type WebhookReceiver,
  silence,
  startWebhookReceiver,
  status,
} from '../../support/network/webhook-receiver.ts'
import type { Environment } from '../../support/service/command.ts'
import {
  at,
  eachRound,
  inTurn,
  type Replicas,
  startReplicaProcesses,
  startReplicas,
} from '../../support/service/replicas.ts'
import type { LogLine, Service } from '../../support/service/service.ts'
import { eventually } from '../../support/wait.ts'

const start = async <S extends Service>(
  t: TestContext,
  startBoth: (options: { env: Environment; t: TestContext }) => Promise<Replicas<S>>,
  timeout: string,
) => {
  const receiver = await startWebhookReceiver({ t })
  const env = {
    SVC_WEBHOOK_URL: receiver.url,
    SVC_WEBHOOK_SECRET: 'a secret of enough bytes',
    SVC_WEBHOOK_TIMEOUT: timeout,
  }
  return { receiver, replicas: await startBoth({ env, t }) }
}

const typesFor = ({ deliveries }: WebhookReceiver, userId: string) =>
  deliveries.filter(({ event }) => event.data.user_id === userId).map(({ event }) => event.type)

const isEnd =
  (userId: string) =>
  ({ event }: Delivery) =>
    event.type === 'user.deleted' && event.data.user_id === userId

/** The cleanups of sessions that a replica has logged. */
const toRun =
  (replica: number) =>
  ({ message, chore, time, deleted }: LogLine) =>
    message === 'cleaned up' && chore === 'sessions' ? [{ replica, time: String(time), deleted: Number(deleted) }] : []

describe('webhook events of two replicas', { concurrency: 2 }, () => {
  test('are delivered exactly once, in order for each user, from both replicas', async (t) => {
    const { receiver, replicas } = await start(t, startReplicas, '5s')
    receiver.answerWith((_, response) => void setTimeout(() => response.writeHead(204).end(), Math.random() * 20))
    const people: string[] = []
    await eachRound(12, 8, async (round) => {
      const [here, there] = inTurn(replicas, round)
      const { agent, person } = await signedUp(here)
      people.push((await currentUser(agent)).id)
      const deleted = await at(there, agent).post('/auth/account/delete', { password: person.password })
      assert.equal(deleted.status, 303, deleted.text)
    })
    await receiver.received(24)
    // A replica that would deliver an event twice has looked for events by now.
    await sleep(1500)
    assert.equal(receiver.deliveries.length, 24)
    for (const id of people) assert.deepEqual(typesFor(receiver, id), ['user.created', 'user.deleted'])
  })

  test('are delivered at most once, in order, when a replica dies (kill -9) in the middle of a delivery', async (t) => {
    // Long enough for every attempt to arrive, even on a busy machine.
    const { receiver, replicas } = await start(t, startReplicaProcesses, '2s')
    const [here, there] = replicas
    receiver.answerWith(silence)
    // More than both replicas deliver at once: some are in flight when it dies, and some were never attempted.
    const people = await Promise.all(Array.from({ length: 24 }, () => signedUp(here)))
    const ids = await Promise.all(people.map(async ({ agent }) => (await currentUser(agent)).id))
    await receiver.received(1)
    await here.kill()
    receiver.answerWith(status(204))
    await Promise.all(
      people.map(({ agent, person }) => at(there, agent).post('/auth/account/delete', { password: person.password })),
    )
    await Promise.all(ids.map((id) => receiver.receivedEvent(isEnd(id))))
    const database = await openDatabase(there, t)
    // One attempt only: a delivery that the dead replica had begun may or may not have arrived.
    const lost = await database.rows(`SELECT user_id FROM webhook_events WHERE problem = 'interrupted'`)
    for (const id of ids) {
      const [first, ...more] = typesFor(receiver, id)
      if (first === 'user.created') assert.deepEqual(more, ['user.deleted'])
      else assert.ok(more.length === 0 && lost.some(({ user_id }) => user_id === id), `${first} ${more.join(' ')}`)
    }
  })
})

describe('cleanups of two replicas', () => {
  test('each job runs on one replica: they do not alternate', async (t) => {
    const env = { SVC_CLEANUP_INTERVAL: '1s', SVC_SESSION_TTL: '200ms', SVC_ACCESS_TOKEN_TTL: '100ms' }
    const replicas = await startReplicas({ env, t })
    // At different times, so that each replica would find something to delete.
    await sleep(300)
    // In order: a replica that is killed at work keeps its lease as long as the job might take.
    await replicas[1].stop()
    await replicas[1].restart()
    const runs = () => replicas.flatMap((replica, index) => replica.logLines().flatMap(toRun(index)))
    let signups = 0
    while (runs().length < 5) {
      assert.ok(signups < 400, 'there is nobody who cleans up')
      await signedUp(replicas[signups % 2 ? 0 : 1])
      signups += 1
      await sleep(30)
    }
    const deleted = () => runs().reduce((sum, run) => sum + run.deleted, 0)
    await eventually('each session was deleted by one replica, once', () => deleted() === signups)
    const inOrder = runs().toSorted((a, b) => (a.time < b.time ? -1 : 1))
    const changes = inOrder.filter((run, index) => run.replica !== inOrder[Math.max(0, index - 1)]?.replica)
    // A file that waits for long loses its place to the other; without places, each would get its turn.
    assert.ok(changes.length <= 1, inOrder.map(({ replica }) => replica).join(' '))
    const database = await openDatabase(replicas[0], t)
    const leases = await database.rows(`SELECT name FROM installation WHERE name LIKE 'lease %' ORDER BY name`)
    assert.deepEqual(
      leases.map(({ name }) => name),
      [
        'lease audit events',
        'lease counters',
        'lease idempotent requests',
        'lease links',
        'lease mail',
        'lease pending signups',
        'lease provider sign-ins',
        'lease records of deleted users',
        'lease replaced sessions',
        'lease reserved emails',
        'lease revocations',
        'lease sessions',
        'lease signing keys',
        'lease used tokens',
        'lease webhook events',
      ],
    )
  })
})
