// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type TestContext, describe, test } from 'node:test'
import { createLog } from '../../src/lib/log.ts'
import type { Database } from '../../src/storage/database.ts'
import { findAttempts, recordAttempt } from '../../src/webhooks/attempt-store.ts'
import { reopenFailed } from '../../src/webhooks/history.ts'
import { eventOutbox, type OutboxEvent } from '../../src/webhooks/outbox-store.ts'
import { createWebhooks } from '../../src/webhooks/webhooks.ts'
import { startWebhookReceiver, status } from '../support/network/webhook-receiver.ts'
import { freshDatabase } from './databases.ts'
import { closeEvent, insertEvent, newEvent, T0 } from './rows.ts'

const HOUR_MS = 3_600_000

const setUp = async (t: TestContext, maxAttempts: number) => {
  const receiver = await startWebhookReceiver({ t })
  const { db } = await freshDatabase(t)
  const complaints: string[] = []
  const clock = { nowMs: T0, now: () => clock.nowMs }
  const webhooks = createWebhooks({
    db,
    clock,
    log: createLog('error', { write: (line) => void complaints.push(line) }),
    settings: {
      url: receiver.url,
      secret: 'a secret of enough bytes',
      enabledEvents: ['user.created', 'user.deleted'],
      timeoutMs: 5000,
      maxAttempts,
    },
    retentionMs: HOUR_MS,
    recordEvent: async () => {},
  })
  const announced = async (userId: string): Promise<OutboxEvent> => {
    await db.inTransaction((transaction) => webhooks.announce(transaction, 'user.created', userId))
    const [event] = await webhooks.list(1)
    return event ?? assert.fail('the event is there')
  }
  const found = async ({ id }: OutboxEvent) => (await eventOutbox.find(db, id)) ?? assert.fail('the event is there')
  const history = async ({ id }: OutboxEvent) =>
    (await webhooks.attemptsOf(id)).map(({ number, endedAtMs, status, problem, outcome }) => [
      number,
      endedAtMs,
      status,
      problem,
      outcome,
    ])
  return { receiver, db, clock, complaints, webhooks, announced, found, history }
}

describe('the history of attempts', { concurrency: 2 }, () => {
  test('has each attempt with its end, number and duration, through retries and redeliveries', async (t) => {
    const { receiver, clock, complaints, webhooks, announced, found, history } = await setUp(t, 2)
    const event = await announced('ada')
    receiver.answerWith(status(503))
    await webhooks.deliverDue()
    clock.nowMs += 2000
    await webhooks.deliverDue()
    const failed = [
      [1, T0, 503, 'answered 503', 'retried'],
      [2, T0 + 2000, 503, 'answered 503', 'failed'],
    ]
    assert.deepEqual(await history(event), failed)
    assert.equal((await found(event)).attempts, 2)
    clock.nowMs += 1000
    await webhooks.redeliver(event.id)
    const reopened = await found(event)
    assert.deepEqual([reopened.attempts, reopened.attemptsBefore, reopened.problem], [0, 2, null])
    assert.deepEqual(await history(event), failed)
    receiver.answerWith(status(204))
    await webhooks.deliverDue()
    assert.deepEqual(await history(event), [...failed, [3, T0 + 3000, 204, null, 'delivered']])
    for (const { durationMs } of await webhooks.attemptsOf(event.id))
      assert.ok(durationMs !== null && Number.isInteger(durationMs) && durationMs >= 0)
    assert.deepEqual(complaints, [])
  })

  test('has an attempt that was interrupted, the last allowed one and one before it', async (t) => {
    const { clock, webhooks, db, announced, found, history } = await setUp(t, 2)
    const event = await announced('ada')
    await eventOutbox.claim(db, event, T0 + 9000)
    clock.nowMs += 10_000
    await webhooks.deliverDue()
    assert.deepEqual(await history(event), [
      [1, T0 + 9000, null, 'interrupted', 'interrupted'],
      [2, T0 + 10_000, 204, null, 'delivered'],
    ])
    await webhooks.redeliver(event.id)
    await eventOutbox.claim(db, await found(event), T0 + 20_000)
    await eventOutbox.claim(db, await found(event), T0 + 30_000)
    clock.nowMs = T0 + 40_000
    await webhooks.deliverDue()
    const closed = await found(event)
    assert.deepEqual([closed.problem, closed.attempts, closed.attemptsBefore], ['interrupted', 2, 2])
    assert.deepEqual((await history(event)).at(-1), [4, T0 + 30_000, null, 'interrupted', 'interrupted'])
  })

  test('is corrected by an attempt that ends after it counted as interrupted', async (t) => {
    const { clock, webhooks, db, announced, history } = await setUp(t, 2)
    const event = await announced('ada')
    await eventOutbox.claim(db, event, T0 + 9000)
    clock.nowMs += 10_000
    await webhooks.deliverDue()
    const late = {
      status: 200,
      problem: null,
      outcome: 'delivered',
      durationMs: 12_000,
      endedAtMs: T0 + 12_000,
    } as const
    await recordAttempt(db, { ...event, attempts: 1 }, late)
    assert.deepEqual((await history(event))[0], [1, T0 + 12_000, 200, null, 'delivered'])
  })

  test('is not written for an event that was deleted during the attempt, and expires with its event', async (t) => {
    const { clock, webhooks, db, announced, history } = await setUp(t, 1)
    const event = await announced('ada')
    await webhooks.deliverDue()
    assert.equal((await history(event)).length, 1)
    clock.nowMs += HOUR_MS + 1
    assert.equal(await webhooks.deleteExpired(clock.nowMs), 1)
    assert.deepEqual(await findAttempts(db, event.id), [])
    const late = { status: 200, problem: null, outcome: 'delivered', durationMs: 1, endedAtMs: T0 } as const
    await recordAttempt(db, { ...event, attempts: 1 }, late)
    assert.deepEqual(await findAttempts(db, event.id), [])
  })

  test('keeps the latest hundred attempts when an event is redelivered', async (t) => {
    const { webhooks, db, announced, found } = await setUp(t, 1)
    const event = await announced('ada')
    await db.run('UPDATE webhook_events SET attempts_before = 249, attempts = 1 WHERE id = ?', event.id)
    const outcome = { status: 500, problem: 'answered 500', outcome: 'failed', durationMs: 1, endedAtMs: T0 } as const
    for (let number = 1; number <= 250; number++)
      await recordAttempt(db, { ...event, attemptsBefore: 0, attempts: number }, outcome)
    await closeEvent(db, await found(event), { ...outcome, nowMs: T0 })
    await webhooks.redeliver(event.id)
    const numbers = (await webhooks.attemptsOf(event.id)).map(({ number }) => number)
    assert.deepEqual([numbers.length, numbers[0], numbers.at(-1)], [100, 151, 250])
  })

  test('is written in one transaction with the end of the attempt', async (t) => {
    const { webhooks, db, complaints, announced, found } = await setUp(t, 1)
    const event = await announced('ada')
    await db.run('ALTER TABLE webhook_attempts RENAME TO elsewhere')
    await webhooks.deliverDue()
    assert.equal((await found(event)).closedAtMs, null)
    assert.match(complaints.join(''), /webhook bookkeeping failed/)
  })
})

/** Seconds before each attempt, as in docs/webhooks.md. The last row applies to all further attempts. */
const documentedDelays = (): number[] => {
  const text = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8')
  return [...text.matchAll(/^\| \d+(?: and later)? \| (\d+) s \| .* \|$/gm)].map(([, seconds]) => Number(seconds))
}

test('retries follow the delays of docs/webhooks.md, each up to a quarter earlier or later', async (t) => {
  const { receiver, clock, webhooks, announced, found } = await setUp(t, 17)
  const delays = documentedDelays()
  assert.equal(delays.length, 13)
  receiver.answerWith(status(500))
  const event = await announced('ada')
  for (let attempt = 1; attempt <= 16; attempt++) {
    await webhooks.deliverDue()
    const { attempts, nextAttemptAtMs } = await found(event)
    assert.equal(attempts, attempt)
    const expected = (delays[attempt - 1] ?? delays.at(-1) ?? 0) * 1000
    const delay = nextAttemptAtMs - clock.nowMs
    assert.ok(delay >= expected * 0.75 && delay <= expected * 1.25, `after attempt ${attempt}: ${delay} of ${expected}`)
    clock.nowMs = nextAttemptAtMs
  }
})

/** An event that was closed at a given time, as failed or as delivered. */
const closedAt = async ({ db }: { db: Database }, id: string, nowMs: number, problem: string | null) => {
  const event = newEvent({ id, userId: `user of ${id}` })
  await insertEvent(db, event)
  await closeEvent(db, { id, attempts: 0 }, { status: null, problem, nowMs })
}

describe('redelivery of failed events', { concurrency: 2 }, () => {
  test('includes events that failed since a given time, oldest first, and no delivered or open ones', async (t) => {
    const place = await setUp(t, 1)
    const { db, webhooks, clock } = place
    await closedAt(place, 'b failed', T0 - 10, 'answered 500')
    await closedAt(place, 'a failed', T0, 'answered 500')
    await closedAt(place, 'c failed before', T0 - 11, 'answered 500')
    await closedAt(place, 'd delivered', T0, null)
    await insertEvent(db, newEvent({ id: 'e open', createdAtMs: T0 + HOUR_MS }))
    assert.deepEqual(await webhooks.redeliverFailed(T0 - 10), ['a failed', 'b failed'])
    const open = (await webhooks.list(10)).filter(({ closedAtMs }) => closedAtMs === null).map(({ id }) => id)
    assert.deepEqual(open.toSorted(), ['a failed', 'b failed', 'e open'])
    clock.nowMs += 1
    assert.deepEqual(await webhooks.redeliverFailed(0), ['c failed before'])
    assert.deepEqual(await webhooks.redeliverFailed(0), [])
  })

  test('handles more than one batch, and takes no event twice that fails again during the run', async (t) => {
    const place = await setUp(t, 1)
    const { db, clock, webhooks, receiver } = place
    const ids = Array.from({ length: 250 }, (_, index) => `event ${String(index).padStart(3, '0')}`)
    for (const id of ids) await closedAt(place, id, T0, 'answered 500')
    receiver.answerWith(status(500))
    const taken: string[] = []
    for await (const batch of reopenFailed({ db, clock, recordEvent: async () => {} }, 0)) {
      taken.push(...batch)
      clock.nowMs += 1
      await webhooks.deliverDue()
    }
    assert.deepEqual(taken, ids)
    assert.equal(receiver.deliveries.length, 250)
  })
})
