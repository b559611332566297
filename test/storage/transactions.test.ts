// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../src/lib/errors.ts'
import { type Database, UniqueViolation } from '../../src/storage/database.ts'
import { probeDatabase } from './databases.ts'

const { db, open } = await probeDatabase()
const other = await open()

const put = (queries: Pick<Database, 'run'>, id: string) =>
  queries.run('INSERT INTO probe (id, amount) VALUES (?, 0)', id)

const amountOf = async (queries: Pick<Database, 'get'>, id: string): Promise<number | undefined> =>
  (await queries.get<{ amount: number }>('SELECT amount FROM probe WHERE id = ?', id))?.amount

const countUp = (queries: Database, id: string) =>
  queries.inTransaction(async (transaction) => {
    const row = await transaction.get<{ amount: number }>('SELECT amount FROM probe WHERE id = ? FOR UPDATE', id)
    await transaction.run('UPDATE probe SET amount = ? WHERE id = ?', (row?.amount ?? 0) + 1, id)
  })

/** Resolves to what the promise was rejected with. */
const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => assert.fail('nothing was thrown'),
    (error: unknown) => error,
  )

describe('a transaction', () => {
  test('commits everything that its work did, and resolves to the result of the work', async () => {
    const result = await db.inTransaction(async (transaction) => {
      assert.equal(await put(transaction, 'whole-1'), 1)
      assert.equal(await put(transaction, 'whole-2'), 1)
      return { told: 'this' }
    })
    assert.deepEqual(result, { told: 'this' })
    for (const queries of [db, other]) {
      assert.equal(await amountOf(queries, 'whole-1'), 0)
      assert.equal(await amountOf(queries, 'whole-2'), 0)
    }
  })

  test('sees its own changes; another connection sees them only after the commit', async () => {
    await db.inTransaction(async (transaction) => {
      await put(transaction, 'unseen')
      assert.equal(await amountOf(transaction, 'unseen'), 0)
      assert.equal(await amountOf(other, 'unseen'), undefined)
    })
    assert.equal(await amountOf(other, 'unseen'), 0)
  })

  test('sees the changes that another connection committed before', async () => {
    await put(other, 'before')
    assert.equal(await db.inTransaction((transaction) => amountOf(transaction, 'before')), 0)
  })

  for (const [what, thrown] of [
    ['a refusal', new AppError('conflict', 'Taken.', { field: 'email', reason: 'email_taken' })],
    ['a bug', new TypeError('undefined is not a function')],
    ['a failure of another library', new Error('wrong tag')],
    ['what is no error at all', 'a text'],
  ] as const) {
    test(`leaves nothing when its work throws ${what}, and rejects with the same value`, async () => {
      const work = db.inTransaction(async (transaction) => {
        await put(transaction, 'thrown')
        throw thrown
      })
      assert.equal(await rejection(work), thrown)
      assert.equal(await amountOf(other, 'thrown'), undefined)
    })
  }

  test('leaves nothing when its work throws before its first statement', async () => {
    const thrown = new AppError('unauthorized', 'No.')
    assert.equal(await rejection(db.inTransaction(() => Promise.reject(thrown))), thrown)
    await put(db, 'still-works')
  })

  test('leaves nothing when one of its statements fails', async () => {
    await put(db, 'taken')
    const work = db.inTransaction(async (transaction) => {
      await put(transaction, 'with-taken')
      await put(transaction, 'taken')
    })
    assert.ok((await rejection(work)) instanceof UniqueViolation)
    assert.equal(await amountOf(other, 'with-taken'), undefined)
  })

  test('200 at once: each is atomic, and no increment is lost', async () => {
    await put(db, 'counter')
    await Promise.all(Array.from({ length: 200 }, (_, index) => countUp(index % 4 === 0 ? other : db, 'counter')))
    assert.equal(await amountOf(db, 'counter'), 200)
  })
})

describe('afterCommit', () => {
  test('runs once, in order, after the commit and before the transaction resolves', async () => {
    const order: string[] = []
    let seen: Promise<number | undefined> | undefined
    await db.inTransaction(async (transaction) => {
      await put(transaction, 'hook')
      transaction.afterCommit(() => {
        order.push('first')
        seen = amountOf(other, 'hook')
      })
      transaction.afterCommit(() => order.push('second'))
      await amountOf(transaction, 'hook')
      order.push('work')
    })
    order.push('resolved')
    assert.deepEqual(order, ['work', 'first', 'second', 'resolved'])
    assert.equal(await seen, 0)
  })

  test('does not run when nothing was committed', async () => {
    let hasRun = false
    const work = db.inTransaction(async (transaction) => {
      transaction.afterCommit(() => (hasRun = true))
      await put(transaction, 'not-committed')
      throw new AppError('conflict', 'No.')
    })
    await rejection(work)
    assert.equal(hasRun, false)
  })

  test('runs before any reader gets a cached row: no reader gets the old row after the commit', async () => {
    const rows = db.cachedRow<{ id: string; amount: number }, number>({
      select: 'SELECT id, amount FROM probe',
      key: 'probe.id',
      mapRow: ({ amount }) => amount,
    })
    await put(db, 'remembered')
    for (let round = 1; round <= 50; round++) {
      const over = new AbortController()
      const readers = Array.from({ length: 4 }, async () => {
        for (let last = 0; !over.signal.aborted; ) {
          const amount = (await rows.get('remembered')) ?? 0
          assert.ok(amount >= last, `${amount} after ${last}`)
          last = amount
          await setImmediate()
        }
      })
      await db.inTransaction(async (transaction) => {
        await transaction.run('UPDATE probe SET amount = ? WHERE id = ?', round, 'remembered')
        transaction.afterCommit(() => rows.forget('remembered'))
      })
      const next = rows.get('remembered')
      over.abort()
      assert.equal(await next, round)
      await Promise.all(readers)
    }
  })
})

describe('a single statement', () => {
  test('runs its hook with the number of changed rows before it resolves, also when that is 0', async () => {
    await put(db, 'single')
    const order: unknown[] = []
    const hooked = db.autocommit((changes) => order.push(changes))
    for (const id of ['single', 'nobody']) {
      assert.equal(await hooked.run('UPDATE probe SET amount = 1 WHERE id = ?', id), id === 'single' ? 1 : 0)
      order.push('resolved')
    }
    assert.deepEqual(order, [1, 'resolved', 0, 'resolved'])
  })

  test('does not run its hook when it fails', async () => {
    await put(db, 'single-taken')
    let hasRun = false
    const error = await rejection(
      put(
        db.autocommit(() => (hasRun = true)),
        'single-taken',
      ),
    )
    assert.ok(error instanceof UniqueViolation)
    assert.equal(hasRun, false)
  })

  test('fails alone: others of the same moment are committed, and their hooks run', async () => {
    await put(db, 'moment-taken')
    const hooked: number[] = []
    const writing = ['moment-1', 'moment-taken', 'moment-2', 'moment-taken', 'moment-3'].map((id) =>
      put(
        db.autocommit((changes) => hooked.push(changes)),
        id,
      ),
    )
    const wrong = db.run('INSERT INTO probe (id, amount) VALUES (?, ?)', 'moment-4', {} as unknown as string)
    const outcomes = await Promise.allSettled([...writing, wrong])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled', 'rejected'],
    )
    for (const index of [1, 3]) {
      const outcome = outcomes[index]
      assert.ok(outcome?.status === 'rejected' && outcome.reason instanceof UniqueViolation)
    }
    assert.deepEqual(hooked, [1, 1, 1])
    for (const id of ['moment-1', 'moment-2', 'moment-3']) assert.equal(await amountOf(other, id), 0)
    assert.equal(await amountOf(other, 'moment-4'), undefined)
  })

  test('a reader sees nothing of it that is not committed', async () => {
    for (let round = 0; round < 50; round++) {
      const id = `dirty-${round}`
      const writing = Promise.all([put(db, id), put(db, `${id}-beside`)])
      let seen: number | undefined
      while (seen === undefined) {
        seen = await amountOf(db, id)
        if (seen !== undefined) assert.equal(await amountOf(other, id), 0)
        await setImmediate()
      }
      await writing
    }
  })

  test('an acknowledged write is seen by every other connection', async () => {
    for (let round = 0; round < 100; round++) {
      await put(round % 2 ? db : other, `seen-${round}`)
      assert.equal(await amountOf(round % 2 ? other : db, `seen-${round}`), 0)
    }
  })
})
