// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { type TestContext, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog } from '../../src/lib/log.ts'
import type { Database } from '../../src/storage/database.ts'
import { createWebhooks, type Webhooks } from '../../src/webhooks/webhooks.ts'
import { type WebhookReceiver, startWebhookReceiver, status } from '../support/network/webhook-receiver.ts'
import { freshDatabase } from './databases.ts'
import { T0 } from './rows.ts'

const setUp = async (t: TestContext, maxAttempts: number) => {
  const receiver = await startWebhookReceiver({ t })
  const { db, open } = await freshDatabase(t)
  const complaints: string[] = []
  const clock = { nowMs: T0, now: () => clock.nowMs }
  const webhooksOn = (queries: Database) =>
    createWebhooks({
      db: queries,
      clock,
      log: createLog('error', { write: (line) => void complaints.push(line) }),
      settings: {
        url: receiver.url,
        secret: 'a secret of enough bytes',
        enabledEvents: ['user.created', 'user.deleted'],
        timeoutMs: 5000,
        maxAttempts,
      },
      retentionMs: 1000,
      recordEvent: async () => {},
    })
  return { receiver, db, clock, complaints, webhooks: webhooksOn(db), others: webhooksOn(await open()) }
}

const TYPES = ['user.created', 'user.deleted'] as const

type Emptying = Pick<Webhooks, 'deliverDue'>

/** Lets the dispatchers deliver until `count` events have arrived, each once. */
const emptied = async (receiver: WebhookReceiver, outboxes: Emptying[], count: number) => {
  for (let tries = 0; receiver.deliveries.length < count && tries < 100; tries++)
    await Promise.all(outboxes.map((outbox) => outbox.deliverDue()))
  assert.equal(receiver.deliveries.length, count)
  assert.equal(new Set(receiver.deliveries.map(({ event }) => event.id)).size, count)
}

const assertInOrder = ({ deliveries }: WebhookReceiver, people: string[]) => {
  for (const user of people) {
    const own = deliveries.filter(({ event }) => event.data.user_id === user)
    assert.deepEqual(
      own.map(({ event }) => event.type),
      TYPES,
    )
  }
}

describe('the outbox', () => {
  test('records a failed attempt, and retries when the next attempt is due', async (t) => {
    const { receiver, db, clock, complaints, webhooks } = await setUp(t, 3)
    await db.inTransaction((transaction) => webhooks.announce(transaction, 'user.created', 'ada'))
    receiver.answerWith(status(503))
    await webhooks.deliverDue()
    assert.deepEqual(complaints, [])
    const [event] = await webhooks.list(1)
    assert.deepEqual([event?.attempts, event?.status, event?.problem], [1, 503, 'answered 503'])
    assert.equal(event?.closedAtMs, null)
    receiver.answerWith(status(204))
    await webhooks.deliverDue()
    assert.equal(receiver.deliveries.length, 1, 'not before its time')
    clock.nowMs += 2000
    await webhooks.deliverDue()
    assert.equal(receiver.deliveries.length, 2)
    const [retried] = await webhooks.list(1)
    assert.deepEqual([retried?.attempts, retried?.status, retried?.problem], [2, 204, null])
    assert.equal(retried?.deliveredAtMs, clock.nowMs)
    assert.deepEqual(complaints, [])
  })

  test('is emptied by two dispatchers at once: each of 60 events arrives once, in order for each user', async (t) => {
    const { receiver, db, complaints, webhooks, others } = await setUp(t, 1)
    const people = Array.from({ length: 30 }, (_, index) => `user ${index}`)
    for (const type of TYPES) {
      for (const user of people) await db.inTransaction((transaction) => webhooks.announce(transaction, type, user))
      await sleep(5)
    }
    await emptied(receiver, [webhooks, others], 60)
    assertInOrder(receiver, people)
    assert.deepEqual(complaints, [])
  })

  test('delivers the events of each user in order, also within one millisecond', async (t) => {
    const { receiver, db, webhooks } = await setUp(t, 1)
    const people = Array.from({ length: 30 }, (_, index) => `user ${index}`)
    for (const user of people) {
      await db.inTransaction(async (transaction) => {
        for (const type of TYPES) await webhooks.announce(transaction, type, user)
      })
    }
    await emptied(receiver, [webhooks], 60)
    assertInOrder(receiver, people)
  })

  test('deletes events past their retention in batches', async (t) => {
    const { db, clock, webhooks } = await setUp(t, 1)
    await db.inTransaction(async (transaction) => {
      for (let index = 0; index < 1100; index++) await webhooks.announce(transaction, 'user.created', `user ${index}`)
    })
    await db.run('UPDATE webhook_events SET closed_at = ? WHERE user_id <> ?', T0, 'user 7')
    assert.equal(await webhooks.deleteExpired(clock.nowMs), 0)
    clock.nowMs += 1001
    assert.equal(await webhooks.deleteExpired(clock.nowMs), 1099)
    assert.equal((await webhooks.list(10)).length, 1)
  })
})
