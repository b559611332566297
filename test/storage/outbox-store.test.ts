// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Database } from '../../src/storage/database.ts'
import { eventOutbox, type OutboxEvent, reopenEvent } from '../../src/webhooks/outbox-store.ts'
import { freshDatabase } from './databases.ts'
import { closeEvent, insertEvent, type NewEvent, newEvent, T0 } from './rows.ts'

const { db, open } = await freshDatabase()
const other = await open()

const added = async (queries: Database, given: Partial<NewEvent> = {}): Promise<OutboxEvent> => {
  const event = newEvent(given)
  assert.equal(await insertEvent(queries, event), 1)
  return (await eventOutbox.find(queries, event.id)) ?? assert.fail('the event is there')
}

const due = async (queries: Database, nowMs: number, limit = 100): Promise<string[]> =>
  (await eventOutbox.findDue(queries, nowMs, limit)).map(({ id }) => id)

const delivered = (nowMs: number) => ({ status: 204, problem: null, nowMs })

describe('an event', () => {
  test('is found as it was inserted, without attempts', async () => {
    const body = '{"id":"é😀\\u0000"}'
    const event = newEvent({ body, createdAtMs: T0 + 3 })
    await insertEvent(db, event)
    assert.deepEqual(await eventOutbox.find(db, event.id), {
      ...event,
      attempts: 0,
      attemptsBefore: 0,
      nextAttemptAtMs: T0 + 3,
      status: null,
      problem: null,
      deliveredAtMs: null,
      closedAtMs: null,
    })
    assert.equal(await eventOutbox.find(db, 'none'), undefined)
  })

  test('is taken by exactly one of many dispatchers that found it, over all connections', async () => {
    for (let round = 0; round < 20; round++) {
      const event = await added(db)
      const takers = Array.from({ length: 20 }, (_, index) =>
        eventOutbox.claim(index % 2 ? db : other, event, T0 + 1000 + index),
      )
      const changes = await Promise.all(takers)
      assert.deepEqual(changes.filter(Boolean), [1])
      const { attempts, nextAttemptAtMs } = (await eventOutbox.find(db, event.id)) ?? assert.fail()
      assert.deepEqual([attempts, nextAttemptAtMs], [1, T0 + 1000 + changes.indexOf(1)])
      assert.equal(await eventOutbox.claim(db, event, T0 + 5000), 0, 'as it was, it is not there any more')
    }
  })

  test('that is closed cannot be taken', async () => {
    const event = await added(db)
    await closeEvent(db, event, delivered(T0 + 1))
    assert.equal(await eventOutbox.claim(db, event, T0 + 1000), 0)
  })

  test('is closed as delivered or as failed, and reopened as if it were new', async () => {
    const event = await added(db)
    assert.equal(await closeEvent(db, event, delivered(T0 + 7)), 1)
    const closed = { ...event, status: 204, deliveredAtMs: T0 + 7, closedAtMs: T0 + 7 }
    assert.deepEqual(await eventOutbox.find(db, event.id), closed)
    assert.equal(await closeEvent(db, event, { status: null, problem: 'ECONNREFUSED', nowMs: T0 + 8 }), 0)
    assert.equal(await reopenEvent(db, event.id, T0 + 9), 1)
    assert.equal(await closeEvent(db, event, { status: null, problem: 'ECONNREFUSED', nowMs: T0 + 8 }), 1)
    const givenUp = { ...event, nextAttemptAtMs: T0 + 9, problem: 'ECONNREFUSED', closedAtMs: T0 + 8 }
    assert.deepEqual(await eventOutbox.find(db, event.id), givenUp)
    assert.equal(await reopenEvent(db, event.id, T0 + 9), 1)
    assert.deepEqual(await eventOutbox.find(db, event.id), { ...event, nextAttemptAtMs: T0 + 9 })
    assert.equal(await reopenEvent(db, 'none', T0 + 9), 0)
  })

  test('is not changed by the process of an earlier attempt', async () => {
    const event = await added(db)
    await eventOutbox.claim(db, event, T0 + 1000)
    const [first, second] = [1, 2].map((attempts) => ({ ...event, attempts, nextAttemptAtMs: T0 + 1000 }))
    assert.ok(first && second)
    await eventOutbox.claim(db, first, T0 + 2000)
    const late = { status: null, problem: 'timeout' }
    assert.equal(await closeEvent(db, first, { ...late, nowMs: T0 + 1500 }), 0)
    await db.inTransaction((transaction) => eventOutbox.postpone(transaction, first, late, T0 + 9000))
    assert.deepEqual(await eventOutbox.find(db, event.id), { ...second, nextAttemptAtMs: T0 + 2000 })
    assert.equal(await closeEvent(db, second, delivered(T0 + 1600)), 1)
  })

  test('is postponed together with the later events of its user, and no others', async () => {
    const userId = newEvent().userId
    const [before, event, behind] = [
      await added(db, { id: 'put off 1', userId }),
      await added(db, { id: 'put off 2', userId }),
      await added(db, { id: 'put off 3', userId }),
    ]
    const bystander = await added(db)
    await closeEvent(db, before, delivered(T0 + 1))
    const failed = { status: 503, problem: 'answered 503' }
    await db.inTransaction((transaction) => eventOutbox.postpone(transaction, event, failed, T0 + 4000))
    const found = await Promise.all([before, event, behind, bystander].map(({ id }) => eventOutbox.find(db, id)))
    assert.deepEqual(
      found.map((each) => [each?.nextAttemptAtMs, each?.status, each?.problem]),
      [
        [T0, 204, null],
        [T0 + 4000, 503, 'answered 503'],
        [T0 + 4000, null, null],
        [T0, null, null],
      ],
    )
  })
})

describe('events that are due', () => {
  test('are the first open event of each user, by time and then by id; none before its time', async (t) => {
    const { db } = await freshDatabase(t)
    const [ada, bob, eve] = ['ada', 'bob', 'eve']
    await added(db, { id: 'b', userId: ada, createdAtMs: T0 + 5 })
    await added(db, { id: 'c', userId: ada, createdAtMs: T0 + 1 })
    await added(db, { id: 'B', userId: bob, createdAtMs: T0 + 5 })
    await added(db, { id: '_', userId: eve, createdAtMs: T0 + 5 })
    await added(db, { id: '-', userId: 'late', createdAtMs: T0 + 6 })
    await added(db, { id: 'z', userId: 'early', createdAtMs: T0 + 4 })
    assert.deepEqual(await due(db, T0 + 5), ['z', 'B', '_', 'b'])
    assert.deepEqual(await due(db, T0 + 5, 2), ['z', 'B'])
    assert.deepEqual(await due(db, T0 + 3), [], 'c waits behind b')
    assert.deepEqual(await due(db, T0 + 6), ['z', 'B', '_', 'b', '-'])
  })

  test('include the next event of a user once the one before is closed, but not while that is taken', async (t) => {
    const { db } = await freshDatabase(t)
    const first = await added(db, { id: 'a', userId: 'ada' })
    const second = await added(db, { id: 'b', userId: 'ada' })
    assert.equal(await eventOutbox.claim(db, first, T0 + 1000), 1)
    assert.deepEqual(await due(db, T0 + 1), [])
    assert.deepEqual(await due(db, T0 + 1000), ['a'], 'the process that took it is dead')
    await closeEvent(db, { ...first, attempts: 1 }, { status: null, problem: 'interrupted', nowMs: T0 + 1000 })
    assert.deepEqual(await due(db, T0 + 1000), [second.id])
    await reopenEvent(db, first.id, T0 + 1001)
    assert.deepEqual(await due(db, T0 + 1001), ['a'])
  })
})

describe('the outbox', () => {
  test('reports how many events are open, and for how long the first has been due', async (t) => {
    const { db } = await freshDatabase(t)
    assert.deepEqual(await eventOutbox.findLoad(db, T0), { open: 0, overdueMs: 0 })
    const first = await added(db, { createdAtMs: T0 + 10 })
    await added(db, { createdAtMs: T0 + 20 })
    assert.deepEqual(await eventOutbox.findLoad(db, T0 + 5), { open: 2, overdueMs: 0 })
    assert.deepEqual(await eventOutbox.findLoad(db, T0 + 2 ** 32), { open: 2, overdueMs: 2 ** 32 - 10 })
    await closeEvent(db, first, delivered(T0 + 30))
    assert.deepEqual(await eventOutbox.findLoad(db, T0 + 30), { open: 1, overdueMs: 10 })
  })

  test('lists the latest events, the newest first', async (t) => {
    const { db } = await freshDatabase(t)
    const ids = ['0', 'A', 'Z', '_', 'a', 'b']
    for (const id of ids.toSorted(() => 1)) await added(db, { id })
    const listed = async (limit: number) => (await eventOutbox.findLatest(db, limit)).map(({ id }) => id)
    assert.deepEqual(await listed(100), ids.toReversed())
    assert.deepEqual(await listed(2), ['b', 'a'])
  })

  test('deletes events that were closed before a given time, the oldest first, and no open ones', async (t) => {
    const { db } = await freshDatabase(t)
    for (const [index, id] of ['a', 'b', 'c', 'd', 'e'].entries()) {
      const event = await added(db, { id, createdAtMs: T0 - 1000 })
      if (id !== 'e') await closeEvent(db, event, delivered(T0 - index))
    }
    const left = async () => (await eventOutbox.findLatest(db, 100)).map(({ id }) => id)
    assert.equal(await eventOutbox.deleteClosedBefore(db, T0, 2), 2)
    assert.deepEqual(await left(), ['e', 'b', 'a'])
    assert.equal(await eventOutbox.deleteClosedBefore(db, T0, 100), 1)
    assert.deepEqual(await left(), ['e', 'a'], 'closed at that time is not before it')
    assert.equal(await eventOutbox.deleteClosedBefore(db, T0, 100), 0)
  })
})
